/* emulated_stream.h - a stream of the emulation, as its libraries see it. */
#ifndef TSRI_EMULATED_STREAM_H
#define TSRI_EMULATED_STREAM_H

#include "cuda_runtime_api.h"

#include <functional>
#include <vector>

/* A piece of work, and a node of the graph that it is recorded in. */
struct emulated_node {
    std::function<void()> work;
    void *zeroed; /* of a memset: what it sets */
    size_t bytes;
};

struct emulated_stream {
    void (*put)(cudaStream_t stream, emulated_node work);
    std::vector<emulated_node> waiting; /* of a second stream of a recording */
    size_t gone;                        /* of these, what the first has waited for */
    int gpu;                            /* that it was made on */
};

#endif
