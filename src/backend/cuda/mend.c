/* mend.c - a recorded step without the zeros of single counters.
 *
 * Many engines of cuDNN hand out their tiles by a counter, which they set to 0 before each run, by a
 * memset of four bytes. Recorded, that is a node of the graph which another engine of the chip does:
 * the chain stands still for 7 us on an H200, a hundred times as long as the memset takes, and 26
 * times a step of PreActResNet-18. So such a counter lies in a slot of its own (cuda.h), where
 * nobody else writes; its memset is taken out of the graph, and one kernel in front of everything
 * sets all counters of the step at once.
 *
 * Only what is set once in a recording may be set in front of it: others keep their memset.
 */
#include "backend/cuda/cuda.h"

#include "base/alloc.h"

tsr_status tsri_cuda_zeros_begin(tsri_cuda_zeros **zeros, cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    cudaGraph_t graph = NULL;
    TSR_TRY(tsri_cuda_status(cudaMalloc((void **)zeros, sizeof **zeros), "a recording's counters"));
    TSR_TRY(tsri_cuda_status(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                             "beginning to record a step"));
    cudaError_t error = tsri_cuda_zero(stream, *zeros);
    if (error != cudaSuccess && cudaStreamEndCapture(stream, &graph) == cudaSuccess)
        (void)cudaGraphDestroy(graph);
    TSR_TRY(tsri_cuda_status(error, "a recording's counters"));
done:
    return st;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

typedef struct nodes {
    cudaGraphNode_t *at;
    size_t count;
} nodes;

static tsr_status all_of(nodes *n, cudaGraph_t graph)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_cuda_status(cudaGraphGetNodes(graph, NULL, &n->count), "reading a recording"));
    TSR_TRY(tsri_alloc(&n->at, (int64_t)n->count, sizeof(cudaGraphNode_t)));
    TSR_TRY(tsri_cuda_status(cudaGraphGetNodes(graph, n->at, &n->count), "reading a recording"));
done:
    return st;
}

/* The counter that a node sets to 0, if that is what it does. */
static unsigned *counter_of(cudaGraphNode_t node)
{
    enum cudaGraphNodeType type;
    struct cudaMemsetParams set;
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeMemset ||
        cudaGraphMemsetNodeGetParams(node, &set) != cudaSuccess)
        return NULL;
    bool single = set.value == 0 && set.height == 1 &&
                  set.width * set.elementSize == sizeof(unsigned) && tsri_cuda_in_slot(set.dst);
    return single ? set.dst : NULL;
}

static int times(const nodes *n, const unsigned *counter)
{
    int count = 0;
    for (size_t i = 0; i < n->count; i++)
        count += counter_of(n->at[i]) == counter;
    return count;
}

/* What waited for it waits for what it waited for. */
static tsr_status take_out(cudaGraph_t graph, cudaGraphNode_t node)
{
    tsr_status st = TSR_OK;
    enum { MOST = 64 };
    cudaGraphNode_t before[MOST], after[MOST];
    cudaGraphEdgeData edge[MOST];
    size_t befores = MOST, afters = MOST;
    TSR_TRY(tsri_cuda_status(cudaGraphNodeGetDependencies(node, before, edge, &befores),
                             "reading a recording"));
    TSR_TRY(tsri_cuda_status(cudaGraphNodeGetDependentNodes(node, after, edge, &afters),
                             "reading a recording"));
    for (size_t i = 0; i < befores; i++)
        for (size_t k = 0; k < afters; k++)
            TSR_TRY(
                tsri_cuda_status(cudaGraphAddDependencies(graph, &before[i], &after[k], NULL, 1),
                                 "mending a recording"));
    TSR_TRY(tsri_cuda_status(cudaGraphDestroyNode(node), "mending a recording"));
done:
    return st;
}

/* The kernel that sets counters is the one everything else follows; without counters it goes. */
static tsr_status take_out_first(cudaGraph_t graph)
{
    tsr_status st = TSR_OK;
    cudaGraphNode_t first = NULL;
    size_t count = 1;
    TSR_TRY(tsri_cuda_status(cudaGraphGetRootNodes(graph, &first, &count), "reading a recording"));
    if (count == 1)
        TSR_TRY(take_out(graph, first));
done:
    return st;
}

tsr_status tsri_cuda_zeros_end(tsri_cuda_zeros *zeros, cudaGraph_t graph, cudaStream_t stream)
{
    tsr_status st = TSR_OK;
    tsri_cuda_zeros *found = NULL;
    nodes n = {0};
    bool *alone = NULL;
    TSR_TRY(tsri_alloc(&found, 1, sizeof *found));
    TSR_TRY(all_of(&n, graph));
    TSR_TRY(tsri_alloc(&alone, (int64_t)n.count, sizeof *alone));
    for (size_t i = 0; i < n.count && found->count < TSRI_CUDA_ZEROS; i++) {
        unsigned *counter = counter_of(n.at[i]);
        alone[i] = counter && times(&n, counter) == 1;
        if (alone[i])
            found->at[found->count++] = counter;
    }
    for (size_t i = 0; i < n.count && found->count > 0; i++)
        if (alone[i])
            TSR_TRY(take_out(graph, n.at[i]));
    if (found->count == 0 && n.count > 1)
        TSR_TRY(take_out_first(graph));
    TSR_TRY(tsri_cuda_status(
        cudaMemcpyAsync(zeros, found, sizeof *found, cudaMemcpyHostToDevice, stream),
        "a recording's counters"));
    TSR_TRY(tsri_cuda_status(cudaStreamSynchronize(stream), "a recording's counters"));
done:
    tsri_free(alone);
    tsri_free(n.at);
    tsri_free(found);
    return st;
}
