/* emulated_stream.h - a stream of the emulation, as its libraries see it. */
#ifndef TSRI_EMULATED_STREAM_H
#define TSRI_EMULATED_STREAM_H

#include "cuda_runtime_api.h"

#include <functional>
#include <vector>

struct emulated_stream {
    void (*put)(cudaStream_t stream, std::function<void()> work);
    std::vector<std::function<void()>> waiting; /* of a second stream of a recording */
    size_t gone;                                /* of these, what the first has waited for */
};

#endif
