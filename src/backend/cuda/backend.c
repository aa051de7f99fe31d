/* backend.c - the module's table, and the library's services under the names that its code uses. */
#include "backend/cuda/cuda.h"
#include "backend/module.h"
#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const tsri_services *library;

static void accept(const tsri_services *services)
{
    library = services;
}

/* The module's own: it is loaded without the library's symbols. */
tsr_status tsr_fail(tsr_status status, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    /* clang-tidy 14 loses track of va_list when a file is compiled twice, as for the emulation. */
    (void)vsnprintf(text, sizeof text, fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(args);
    return library->fail(status, "%s", text);
}

void tsri_cuda_tell(tsr_log_level level, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args); /* NOLINT(clang-analyzer-valist.Uninitialized) */
    va_end(args);
    library->log(level, "%s", text);
}

tsr_status tsri_alloc(void *out, int64_t count, size_t size)
{
    return library->alloc(out, count, size);
}

void tsri_free(void *memory)
{
    library->release(memory);
}

int64_t tsri_slices_lines(const tsri_slices *s, const tsri_pick *pick)
{
    return library->slices_lines(s, pick);
}

int64_t tsri_slices_pieces(const tsri_slices *s, const tsri_pick *pick)
{
    return library->slices_pieces(s, pick);
}

int64_t tsri_slices_from(const tsri_slices *s, const tsri_pick *pick, int64_t j)
{
    return library->slices_from(s, pick, j);
}

int64_t tsri_slices_find(const tsri_slices *s, const tsri_pick *pick, int64_t k)
{
    return library->slices_find(s, pick, k);
}

int tsri_cuda_loss_number(const tsri_loss_kind *kind)
{
    static const char *const name[] = {
#define X(id) #id,
        TSRI_CUDA_LOSSES(X)
#undef X
    };
    for (int i = 0; i < (int)(sizeof name / sizeof *name); i++)
        if (strcmp(name[i], kind->name) == 0)
            return i;
    return -1;
}

/* ---- The table ----------------------------------------------------------------------------- */

static const tsri_kernel *const kernels[] = {&tsri_cuda_linear_bf16,      &tsri_cuda_linear,
                                             &tsri_cuda_conv_patches,     &tsri_cuda_conv_dnn,
                                             &tsri_cuda_conv_floats,      &tsri_cuda_conv_kernel,
                                             &tsri_cuda_norm_narrow,      &tsri_cuda_norm_kernel,
                                             &tsri_cuda_relu_narrow,      &tsri_cuda_relu_kernel,
                                             &tsri_cuda_add_narrow,       &tsri_cuda_add_kernel,
                                             &tsri_cuda_maxpool_floats,   &tsri_cuda_maxpool_kernel,
                                             &tsri_cuda_avgpool_floats,   &tsri_cuda_avgpool_kernel,
                                             &tsri_cuda_global_narrow,    &tsri_cuda_global_kernel,
                                             &tsri_cuda_flatten_floats,   &tsri_cuda_flatten_kernel,
                                             &tsri_cuda_gate_kernel,      &tsri_cuda_recurrent_bf16,
                                             &tsri_cuda_recurrent_kernel, &tsri_cuda_last_kernel,
                                             &tsri_cuda_turn_kernel,      NULL};

enum {
    NARROW = 1 << TSRI_LINEAR | 1 << TSRI_CONV | 1 << TSRI_NORM | 1 << TSRI_RELU | 1 << TSRI_ADD |
             1 << TSRI_MAXPOOL | 1 << TSRI_AVGPOOL | 1 << TSRI_GLOBALPOOL | 1 << TSRI_FLATTEN,
    LINGERS = 3 /* a block's worth of gradients: its weights' are then out of the way */
};

static const tsri_backend cuda = {.name = "cuda",
                                  .real_bytes = sizeof(float),
                                  .heap = &tsri_cuda_heap,
                                  .can = {.channels_last = true,
                                          .filters = TSRI_OHWI,
                                          .counts = true,
                                          .narrow = NARROW,
                                          .feeds = true,
                                          .lingers = LINGERS},
                                  .pack = tsri_cuda_pack_weights,
                                  .kernels = kernels,
                                  .loss = tsri_cuda_loss_batch,
                                  .update = tsri_cuda_update_vector,
                                  .adam = tsri_cuda_adam_vector,
                                  .vectors = &tsri_cuda_vectors,
                                  .slices = &tsri_cuda_slices,
                                  .input = tsri_cuda_input,
                                  .count = tsri_cuda_count_batch,
                                  .draw = tsri_cuda_draw_batch,
                                  .tape = &tsri_cuda_tape,
                                  .queues = &tsri_cuda_queues,
                                  .wait = tsri_cuda_wait,
                                  .tangents = &tsri_cuda_tangents,
                                  .start = tsri_cuda_start,
                                  .vendor = tsri_cuda_vendor,
                                  .chip = tsri_cuda_chip};

__attribute__((visibility("default"))) extern const tsri_module tsri_this_module;
const tsri_module tsri_this_module = {TSRI_MODULE_HEADER, .accept = accept, .backend = &cuda};
