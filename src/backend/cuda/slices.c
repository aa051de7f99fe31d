/* slices.c - shares of a parameter taken and put on the device.
 *
 * The host says which lines and pieces (backend/slices.h) in one table, which goes along with the
 * kernel: of a take, the line of the whole for each line of the share, then the piece for each piece;
 * of a put, a row for each owner, then for each owner its line and its piece for those of the whole,
 * -1 where it has none.
 */
#include "backend/cuda/cuda.h"
#include "base/alloc.h"

/* The table on the device, until the stream has passed. */
static tsr_status send(int64_t **there, const int64_t *table, int64_t count, cudaStream_t s)
{
    tsr_status st = TSR_OK;
    size_t bytes = (size_t)count * sizeof *table;
    TSR_TRY(tsri_cuda_status(cudaMallocAsync((void **)there, bytes, s), "a share"));
    TSR_TRY(tsri_cuda_status(cudaMemcpyAsync(*there, table, bytes, cudaMemcpyHostToDevice, s),
                             "a share"));
done:
    return st;
}

static tsr_status take(tsri_mem *to, const tsri_mem *from, const tsri_slices *s,
                       const tsri_pick *pick, tsri_device device)
{
    tsr_status st = TSR_OK;
    int64_t lines = tsri_slices_lines(s, pick), pieces = tsri_slices_pieces(s, pick);
    int64_t *table = NULL, *there = NULL;
    cudaStream_t queue = tsri_cuda_stream(device.stream);
    if (lines * pieces * s->grain == 0)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&table, lines + pieces, sizeof *table));
    for (int64_t j = 0; j < lines; j++)
        table[j] = tsri_slices_from(s, pick, j);
    for (int64_t p = 0; p < pieces; p++)
        table[lines + p] = s->axis < 0 ? p : pick[s->axis].index[p];
    TSR_TRY(send(&there, table, lines + pieces, queue));
    TSR_TRY(tsri_cuda_status(tsri_cuda_take(queue, tsri_mem_bind(to), tsri_mem_bind(from), there,
                                            lines, pieces, s->size, s->grain),
                             "taking a share"));
done:
    if (there)
        (void)cudaFreeAsync(there, queue);
    tsri_free(table);
    return st;
}

/* What an owner has of the whole's lines and pieces. */
static void note_owner(int64_t *line, int64_t *piece, const tsri_slices *s, const tsri_pick *pick)
{
    for (int64_t k = 0; k < s->lines; k++)
        line[k] = tsri_slices_find(s, pick, k);
    for (int64_t k = 0; k < s->size; k++)
        piece[k] = s->axis < 0 ? k : -1;
    for (int64_t p = 0; s->axis >= 0 && p < pick[s->axis].count; p++)
        piece[pick[s->axis].index[p]] = p;
}

static tsr_status put(tsri_mem *whole, const tsri_slices *s, const tsri_slices_owner *owner,
                      int64_t count, tsri_device device)
{
    tsr_status st = TSR_OK;
    int64_t rows = count * TSRI_CUDA_OWNER, each = s->lines + s->size;
    int64_t *table = NULL, *there = NULL;
    cudaStream_t queue = tsri_cuda_stream(device.stream);
    if (count == 0 || s->lines * s->size * s->grain == 0)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&table, rows + count * each, sizeof *table));
    for (int64_t o = 0; o < count; o++) {
        int64_t *line = table + rows + o * each;
        table[o * TSRI_CUDA_OWNER] = (int64_t)(uintptr_t)owner[o].numbers;
        table[o * TSRI_CUDA_OWNER + 1] = tsri_slices_pieces(s, owner[o].pick);
        note_owner(line, line + s->lines, s, owner[o].pick);
    }
    TSR_TRY(send(&there, table, rows + count * each, queue));
    TSR_TRY(tsri_cuda_status(
        tsri_cuda_put(queue, tsri_mem_bind(whole), there, count, s->lines, s->size, s->grain),
        "putting shares back"));
done:
    if (there)
        (void)cudaFreeAsync(there, queue);
    tsri_free(table);
    return st;
}

const tsri_slices_ops tsri_cuda_slices = {.take = take, .put = put};
