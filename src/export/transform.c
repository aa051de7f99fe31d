/* transform.c - what lies between raw numbers and the network, as nodes: what training did to inputs
 * and targets (data/scaling.h), so that programs that run the file need not.
 *
 *     missing cells        x = fill where x is NaN                       tables
 *     columns or channels  x = (x - shift) scale                         the shift first, as ours
 *     unit, patch          x = length x / |x|                            of a sample, or a position
 *     real targets         y = y / scale + shift, or exp(y)
 *
 * Sequences then are turned from [N, T, C], as they come, to [T, N, C].
 */
#include "export/writer.h"

#include "base/text.h"
#include "data/normalisation.h"

#include <float.h>
#include <string.h>

/* ---- Steps ---------------------------------------------------------------------------------- */

/* The value that the next step reads; each step renames it. */
typedef struct chain {
    tsri_writer *w;
    const char *now;
    int dims;                       /* of the raw input */
    int64_t shape[TSRI_GRAPH_DIMS]; /* the batch is 1: shapes of constants that go over it */
} chain;

/* now = op(now, other) */
static tsr_status step(chain *c, const char *op, const char *other)
{
    tsr_status st = TSR_OK;
    const char *next;
    TSR_TRY(tsri_graph_text(c->w->graph, &next, "%s.%s", c->now, op));
    TSR_TRY(tsri_graph_simple(c->w->graph, NULL, op, next, other ? 2 : 1, c->now, other));
    c->now = next;
done:
    return st;
}

static tsr_status constant(chain *c, const char *name, int dims, const int64_t *shape,
                           const float *values)
{
    tsr_status st = TSR_OK;
    float *to;
    int64_t count = 1;
    TSR_TRY(tsri_graph_floats(c->w->graph, &to, name, dims, shape));
    for (int d = 0; d < dims; d++)
        count *= shape[d];
    memcpy(to, values, (size_t)count * sizeof *to);
done:
    return st;
}

/* now = fill where now is NaN. */
static tsr_status fill(chain *c, const tsri_scaling *s)
{
    tsr_status st = TSR_OK;
    tsri_graph *g = c->w->graph;
    TSR_TRY(constant(c, "input.fill", c->dims, c->shape, s->fill));
    TSR_TRY(tsri_graph_simple(g, NULL, "IsNaN", "input.missing", 1, c->now));
    TSR_TRY(tsri_graph_simple(g, NULL, "Where", "input.filled", 3, "input.missing", "input.fill",
                              c->now));
    c->now = "input.filled";
done:
    return st;
}

/* now = (now - shift) scale, by channel or by number. */
static tsr_status scale(chain *c, const tsri_scaling *s, int64_t numbers)
{
    tsr_status st = TSR_OK;
    int64_t shape[TSRI_GRAPH_DIMS] = {1, 1, 1, 1};
    if (s->groups == numbers)
        memcpy(shape, c->shape, sizeof shape);
    else
        shape[c->dims == 3 ? 2 : 1] = s->groups;
    TSR_TRY(constant(c, "input.shift", c->dims, shape, s->shift));
    TSR_TRY(constant(c, "input.scale", c->dims, shape, s->scale));
    TSR_TRY(step(c, "Sub", "input.shift"));
    TSR_TRY(step(c, "Mul", "input.scale"));
done:
    return st;
}

/* *to = the reduction of `from` over a sample (of sequences: over a position). */
static tsr_status reduce(chain *c, const char *op, const char *from, const char *to)
{
    tsr_status st = TSR_OK;
    const int64_t axes[] = {1, 2, 3};
    tsri_node *n;
    TSR_TRY(tsri_graph_simple(c->w->graph, &n, op, to, 1, from));
    tsri_node_ints(n, "axes", c->dims == 3 ? axes + 1 : axes, c->dims == 3 ? 1 : c->dims - 1);
done:
    return st;
}

/* now = length now / |now|; 0 stays 0. Divided by the largest number first: squares of floats may
 * be beyond floats. */
static tsr_status unit(chain *c, float length)
{
    tsr_status st = TSR_OK;
    const float least = FLT_MIN, one = 1;
    tsri_graph *g = c->w->graph;
    TSR_TRY(constant(c, "input.least", 0, NULL, &least));
    TSR_TRY(constant(c, "input.one", 0, NULL, &one));
    TSR_TRY(constant(c, "input.length", 0, NULL, &length));
    TSR_TRY(tsri_graph_simple(g, NULL, "Abs", "input.sizes", 1, c->now));
    TSR_TRY(reduce(c, "ReduceMax", "input.sizes", "input.largest"));
    TSR_TRY(tsri_graph_simple(g, NULL, "Max", "input.divisor", 2, "input.largest", "input.least"));
    TSR_TRY(step(c, "Div", "input.divisor"));
    TSR_TRY(reduce(c, "ReduceL2", c->now, "input.norm")); /* at least 1, or 0 */
    TSR_TRY(tsri_graph_simple(g, NULL, "Max", "input.norms", 2, "input.norm", "input.one"));
    TSR_TRY(step(c, "Div", "input.norms"));
    if (length != 1)
        TSR_TRY(step(c, "Mul", "input.length"));
done:
    return st;
}

/* ---- In ------------------------------------------------------------------------------------- */

/* How inputs were normalised: as the file says, which older ones do not. */
static tsr_status normalised(const tsri_normalisation **how, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    const char *name =
        m->schema.normalize ? m->schema.normalize : tsri_config_text(m->config, "data.normalize");
    *how = tsri_normalisation_named(name);
    TSR_CHECK(strcmp(name, "auto") != 0, TSR_USAGE,
              "%s was written by an older version and does not say how its inputs were scaled: "
              "leave --transform out and scale them before the network",
              m->path);
done:
    return st;
}

static tsr_status scale_input(chain *c, const tsr_model *m)
{
    tsr_status st = TSR_OK;
    const tsri_scaling *s = &m->scaling;
    int64_t numbers = c->dims == 3 ? m->input.c : tsri_shape_count(m->input);
    const tsri_normalisation *how = NULL;
    TSR_TRY(normalised(&how, m));
    TSR_CHECK(s->columns == 0 || c->dims != 3, TSR_USAGE,
              "%s: missing numbers of sequences are filled in position by position, which has no "
              "form in ONNX: leave --transform out and fill them in before the network",
              m->path);
    if (s->columns > 0)
        TSR_TRY(fill(c, s));
    if (s->groups > 0)
        TSR_TRY(scale(c, s, numbers));
    if (how->each_row)
        TSR_TRY(unit(c, how->wanted_length ? (float)tsri_model_wants(m->config).length : 1));
done:
    return st;
}

static tsr_status add_ports(tsri_writer *w, const tsr_model *m, bool on)
{
    tsr_status st = TSR_OK;
    tsri_shape s = m->input;
    tsri_port p = {.name = "input",
                   .about = on ? "raw numbers, as the training data had them (pixels: 0 .. 255)"
                               : "numbers as the network sees them, scaled as in training",
                   .element = TSRI_ELEMENT_FLOAT,
                   .dims = w->dims[0],
                   .shape = {0, s.c, s.h, s.w},
                   .size_name = {"batch"}};
    tsri_port lengths = {.name = TSRI_LENGTHS,
                         .about = "positions of each sequence; what lies after them is not read",
                         .element = TSRI_ELEMENT_INT32,
                         .dims = 1,
                         .size_name = {"batch"}};
    if (w->sequences) {
        p.shape[1] = 0;
        p.size_name[1] = "positions";
        p.shape[2] = s.c;
    }
    TSR_TRY(tsri_graph_port(w->graph, true, &p));
    if (w->sequences)
        TSR_TRY(tsri_graph_port(w->graph, true, &lengths));
done:
    return st;
}

tsr_status tsri_transform_input(tsri_writer *w, const tsr_model *m, bool on)
{
    tsr_status st = TSR_OK;
    tsri_shape s = m->input;
    chain c = {.w = w, .now = "input", .dims = w->dims[0], .shape = {1, s.c, s.h, s.w}};
    if (c.dims == 3)
        memcpy(c.shape, (int64_t[]){1, 1, s.c}, 3 * sizeof *c.shape);
    TSR_TRY(add_ports(w, m, on));
    if (on)
        TSR_TRY(scale_input(&c, m));
    if (w->sequences) {
        tsri_node *n;
        TSR_TRY(tsri_graph_simple(w->graph, &n, "Transpose", "input.turned", 1, c.now));
        tsri_node_ints(n, "perm", (int64_t[]){1, 0, 2}, 3);
        c.now = "input.turned";
    }
    w->value[0] = c.now;
done:
    return st;
}

/* ---- Out ------------------------------------------------------------------------------------ */

bool tsri_transforms_output(const tsr_model *m)
{
    const tsri_scaling *s = &m->scaling;
    return m->classes == 0 && (s->target_log || s->target_shift != 0 || s->target_scale != 1);
}

tsr_status tsri_transform_output(tsri_writer *w, const tsr_model *m, const char *value)
{
    tsr_status st = TSR_OK;
    const tsri_scaling *s = &m->scaling;
    chain c = {.w = w, .now = value};
    TSR_TRY(constant(&c, "target.scale", 0, NULL, &s->target_scale));
    TSR_TRY(constant(&c, "target.shift", 0, NULL, &s->target_shift));
    TSR_TRY(step(&c, "Div", "target.scale"));
    TSR_TRY(tsri_graph_simple(w->graph, NULL, "Add", s->target_log ? "target.log" : "output", 2,
                              c.now, "target.shift"));
    if (s->target_log)
        TSR_TRY(tsri_graph_simple(w->graph, NULL, "Exp", "output", 1, "target.log"));
done:
    return st;
}
