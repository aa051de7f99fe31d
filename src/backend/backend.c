/* backend.c - finding a backend by name, and a kernel in a backend. */
#include "backend/backend.h"

#include "backend/borrow.h"

#include <math.h>
#include <string.h>

const char *tsri_kind_name(tsri_kind kind)
{
    static const char *const name[] = {
#define X(kind_, text) [TSRI_##kind_] = text,
        TSRI_KIND_LIST(X)
#undef X
    };
    return name[kind];
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
    case TSRI_NORM:
        return 2 * made;
    case TSRI_MAXPOOL:
    case TSRI_AVGPOOL:
        return made * (double)(op->size * op->size);
    case TSRI_GLOBALPOOL:
        return read;
    case TSRI_RELU:
    case TSRI_GATE:
    case TSRI_ADD:
        return made;
    case TSRI_FLATTEN:
    case TSRI_LAST:
    case TSRI_TURN:
        return 0;
    }
    return 0;
}

static const tsri_backend *offered; /* the last one */

void tsri_backend_offer(const tsri_backend *backend)
{
    offered = backend;
}

const tsri_backend *tsri_backend_find(const char *name)
{
    static const tsri_backend *const all[] = {&tsri_backend_cpu, &tsri_backend_ref};
    if (offered && strcmp(offered->name, name) == 0)
        return offered;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

tsr_status tsri_op_setup(tsri_op *op, const tsri_backend *backend)
{
    for (const tsri_kernel *const *k = backend->kernels; *k; k++)
        if ((*k)->kind == op->kind && (!(*k)->applicable || (*k)->applicable(op))) {
            op->kernel = *k;
            return op->kernel->setup ? op->kernel->setup(op) : TSR_OK;
        }
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
