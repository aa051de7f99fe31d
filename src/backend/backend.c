/* backend.c - finding a backend by name, and a kernel in a backend. */
#include "backend/module.h"

#include "backend/borrow.h"

#include <math.h>
#include <string.h>

const tsri_kind_row *tsri_kind_of(tsri_kind kind)
{
    static const tsri_kind_row row[] = {
#define X(kind_, text, ...) [TSRI_##kind_] = {.name = text, __VA_ARGS__},
        TSRI_KIND_LIST(X)
#undef X
    };
    return &row[kind];
}

const char *tsri_kind_name(tsri_kind kind)
{
    return tsri_kind_of(kind)->name;
}

double tsri_op_flops(const tsri_op *op)
{
    double made = (double)op->n * (double)tsri_shape_count(op->out);
    double read = (double)op->n * (double)tsri_shape_count(op->in);
    switch (op->kind) {
    case TSRI_LINEAR:
        return 2 * made * (double)(op->positions ? op->in.c : tsri_shape_count(op->in));
    case TSRI_RECURRENT:
        return 2 * made * (double)op->in.c;
    case TSRI_CONV:
        return 2 * made * (double)(op->in.c * op->size * op->size);
    case TSRI_MAXPOOL:
    case TSRI_AVGPOOL:
        return made * (double)(op->size * op->size);
    case TSRI_GLOBALPOOL:
        return read;
    default:
        return made * tsri_kind_of(op->kind)->operations;
    }
}

static const tsri_backend *offered; /* the last one */

void tsri_backend_offer(const tsri_backend *backend)
{
    offered = backend;
}

tsr_status tsri_backend_find(const tsri_backend **out, const char *name)
{
    static const tsri_backend *const all[] = {
#define X(id) &tsri_backend_##id,
        TSRI_BACKEND_NAMES(X)
#undef X
    };
    *out = offered && strcmp(offered->name, name) == 0 ? offered
           : tsri_backend_is_auto(name)                ? tsri_backend_auto(NULL)
                                                       : NULL;
    for (size_t i = 0; !*out && i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            *out = all[i];
    return *out ? TSR_OK : tsri_module_load(out, name);
}

static const tsri_kernel *kernel_for(const tsri_op *op, const tsri_backend *backend)
{
    for (const tsri_kernel *const *k = backend->kernels; *k; k++)
        if ((*k)->kind == op->kind && (!(*k)->applicable || (*k)->applicable(op)))
            return *k;
    return NULL;
}

/* The reference has a kernel of every kind, for the same memory and the same type of numbers. */
static bool reference_will_do(const tsri_op *op, const tsri_backend *backend)
{
    const tsri_backend *ref = &tsri_backend_ref;
    return tsri_kind_of(op->kind)->pointwise && backend->heap == ref->heap &&
           backend->real_bytes == ref->real_bytes;
}

tsr_status tsri_op_setup(tsri_op *op, const tsri_backend *backend)
{
    op->kernel = kernel_for(op, backend);
    if (!op->kernel && reference_will_do(op, backend))
        op->kernel = kernel_for(op, &tsri_backend_ref);
    if (op->kernel)
        return op->kernel->setup ? op->kernel->setup(op) : TSR_OK;
    return tsri_op_borrow(op, backend);
}

void tsri_op_teardown(tsri_op *op)
{
    if (op->kernel && op->kernel->teardown)
        op->kernel->teardown(op);
    op->kernel = NULL;
}

const char *tsri_backend_vendor(const tsri_backend *backend)
{
    return backend->vendor ? backend->vendor() : backend->name;
}

const char *tsri_backend_chip(const tsri_backend *backend)
{
    return backend->chip ? backend->chip() : NULL;
}
