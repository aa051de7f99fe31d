/* plan_parts.h - the inside of a plan, for the files that make and run it.
 *
 *     plan_steps.c    which layers become which ops: what is fused into what
 *     plan_gates.c    which values have gates, and which gradients are needed
 *     plan_memory.c   where every buffer lies, by its lifetime
 *     plan.c          making, running, looking
 */
#ifndef TSRI_PLAN_PARTS_H
#define TSRI_PLAN_PARTS_H

#include "net/arena.h"
#include "net/plan.h"

typedef struct tsri_planned {
    tsri_op op;
    const tsri_layer *layer;
    int in;         /* the value its x is; of a conv after a virtual norm, the norm's input */
    int dx;         /* the value its dx is the gradient of: `in`, or the virtual norm's output */
    int out;        /* the value its y is: that of the last layer fused into it */
    int add;        /* the value added to it, or -1 */
    bool owns_dadd; /* the gradient of `add` has memory of its own */
    int norm;       /* the step of the virtual norm in front of it, or -1 */
    int fed;        /* the step of the norm whose statistics it makes, or -1 */
    int source;     /* the recurrence that made what it reads, or -1 */
    bool idle;      /* nothing before it is trained: no backward */
    bool for_gates; /* only gates read what it makes: no forward when they are given */
    double seconds_forward, seconds_backward;
} tsri_planned;

struct tsri_plan {
    const tsri_net *net;
    tsri_store *store;
    tsri_device device;
    int64_t batch;
    bool training, timed;
    bool dry;       /* laid out, but without memory: to be measured */
    bool frozen;    /* training, but norms use running statistics */
    bool gradients; /* of parameters are wanted */
    bool narrow;    /* values lie as bf16, but what comes in and what goes out */
    bool steady;    /* weights stay as they are: they are packed when the plan is made */
    const struct tsri_plan *packer; /* whose packed weights are used, or NULL: its own */

    tsri_planned *step; /* [count] in the order of forward */
    int64_t count;
    tsri_op **packed; /* [packs] those that have packed weights */
    int64_t packs;
    bool *wants;       /* [values] has a gradient: something trained stands before it */
    tsri_gates *gates; /* [gated] of the values that have some */
    int64_t gated;
    bool gates_given; /* in the next forward */
    int *alias; /* [values] whose gradient's memory a value's gradient shares; itself if none */

    tsri_mem *arena;
    int64_t arena_bytes, unshared_bytes, input_bytes;
    int64_t arena_room;             /* bytes that it has: more than arena_bytes in a renewed plan */
    tsri_mem *entry, *entry_grad;   /* of a part of a network: net->entry, and its gradient */
    tsri_mem *output, *output_grad; /* of the last step */
    tsri_mem *input;                /* x as the device reads it, or NULL when it reads the host's */
    tsri_layout layout;             /* of the input */
    const int32_t *length;          /* [batch] of sequences, or NULL */
    tsri_mem *tally;                /* tsri_tally of the last loss */
};

/* Fills in plan->step and plan->alias; kernels are chosen and set up. */
tsr_status tsri_plan_steps(tsri_plan *plan);

/* plan->wants, before the steps are made. */
tsr_status tsri_plan_wants(tsri_plan *plan);

/* Gives the steps their gates and says which are idle, before kernels are set up. */
tsr_status tsri_plan_gates(tsri_plan *plan);
void tsri_plan_gates_free(tsri_plan *plan);
int64_t tsri_plan_gates_bytes(const tsri_plan *plan); /* after kernels are set up */

/* Lays out the arena and binds every op's buffers. */
tsr_status tsri_plan_memory(tsri_plan *plan);

#endif
