/* share_testing.h - networks, and an oracle that knows nothing of lines and blocks: it goes through
 * every number of the file's order and asks each dimension's axis. */
#ifndef TSRI_SHARE_TESTING_H
#define TSRI_SHARE_TESTING_H

#include "testing.h"

#include "base/rng.h"
#include "net/order.h"
#include "net/store.h"
#include "subnet/cut.h"
#include "subnet/draw.h"
#include "subnet/put.h"
#include "subnet/take.h"

typedef struct test_net {
    const char *model;
    tsri_shape input;
    tsri_filter_order filters;
} test_net;

/* Every model but grelu and its twin, no axis of which can be cut. */
static const test_net test_nets[] = {
    {"model: {name: mlp, hidden: [12]}", {5, 1, 1}, TSRI_OIHW},
    {"model: {name: mlp, hidden: [9, 16, 7], bias: false}", {5, 1, 1}, TSRI_OIHW},
    {"model: {name: mlp, hidden: [10, 8], norm: batch}", {2, 3, 3}, TSRI_HWIO},
    {"model: {name: preresnet18, width: 3}", {3, 8, 8}, TSRI_OIHW},
    {"model: {name: preresnet18, width: 3}", {3, 8, 8}, TSRI_HWIO},
    {"model: {name: resnet18, width: 3}", {3, 8, 8}, TSRI_HWIO},
    {"model: {name: vgg11, width: 3}", {3, 32, 32}, TSRI_HWIO},
    {"model: {name: vgg11, width: 3}", {3, 32, 32}, TSRI_OIHW},
    {"model: {name: wideresnet, depth: 10, factor: 1}", {1, 8, 8}, TSRI_HWIO},
    {"model: {name: cnn1, width: 6}", {1, 6, 6}, TSRI_HWIO},
    {"model: {name: shallow, width: 13}", {5, 1, 1}, TSRI_OIHW},
    {"model: {name: preresnet34, width: 3}", {3, 8, 8}, TSRI_HWIO},
    {"model: {name: resnet34, width: 3}", {3, 8, 8}, TSRI_OIHW},
    {"model: {name: relu_deep, hidden: [8, 10]}", {5, 1, 1}, TSRI_OIHW},
    {"model: {name: rnn, width: 11, layers: 2, train: all}", {5, 4, 1}, TSRI_OIHW},
    {"model: {name: preresnet18, width: 3}", {3, 8, 8}, TSRI_OHWI}, /* of GPUs: not computed here */
};
enum { TEST_NETS = sizeof test_nets / sizeof *test_nets };

/* More residual networks, whose streams tickets cut too. */
static const test_net stream_nets[] = {
    {"model: {name: resnet50, width: 2, stem: imagenet}", {3, 20, 20}, TSRI_HWIO},
    {"model: {name: wide_resnet50_2, width: 2}", {3, 8, 8}, TSRI_HWIO},
    {"model: {name: wideresnet, depth: 16, factor: 2}", {1, 8, 8}, TSRI_OIHW},
    {"model: {name: preresnet18, width: 3, stem: imagenet}", {3, 20, 20}, TSRI_HWIO},
};
enum { STREAM_NETS = sizeof stream_nets / sizeof *stream_nets };

static inline void make_net(tsri_net **net, const test_net *t)
{
    tsr_config *config = NULL;
    assert_ok(tsri_config_parse(&config, t->model, (int64_t)strlen(t->model), "test"));
    assert_ok(tsri_net_create(net, config, t->input, 3, t->filters));
    tsr_config_destroy(config);
}

static inline void fill_random(float *w, int64_t n, int64_t seed)
{
    tsri_rng rng = tsri_rng_stream((uint64_t)seed, TSRI_FOR_TEST, 0, 0, 0);
    for (int64_t i = 0; i < n; i++)
        w[i] = (float)tsri_rng_normal(&rng);
}

/* A store of numbers that are all different: parameters and momentum. */
static inline void make_store(tsri_store *s, const tsri_net *net, int64_t seed)
{
    assert_ok(tsri_store_init(s, net, &tsri_backend_cpu, true));
    fill_random(touch(s->w), net->total, seed);
    fill_random(touch(s->v), net->trained, seed + 1000);
}

/* Where number i (file order) of a parameter of `net` is in the share's store; -1 = not in it. */
static inline int64_t oracle_place(const tsri_net *net, const tsri_net *small,
                                   const tsri_share *share, int64_t param, int64_t i)
{
    const tsri_param *p = &net->param[param], *q = &small->param[param];
    int64_t at[TSRI_PARAM_DIMS], j = 0;
    for (int d = p->dims - 1; d >= 0; d--) {
        at[d] = i % p->shape[d];
        i /= p->shape[d];
    }
    for (int d = 0; d < p->dims; d++) {
        int64_t unit = at[d] / p->inner[d], rest = at[d] % p->inner[d], found = -1;
        const tsri_pick *pick = p->axis[d] < 0 ? NULL : &share->pick[p->axis[d]];
        if (!pick || !pick->index)
            found = unit;
        for (int64_t k = 0; found < 0 && k < pick->count; k++)
            if (pick->index[k] == unit)
                found = k;
        if (found < 0)
            return -1;
        j = j * q->shape[d] + found * p->inner[d] + rest;
    }
    return q->offset + tsri_order_place(q, j);
}

static inline int64_t oracle_whole(const tsri_net *net, int64_t param, int64_t i)
{
    return net->param[param].offset + tsri_order_place(&net->param[param], i);
}

/* Number (unit, rest) of a parameter in the order of files. */
static inline double number_of(const tsri_store *s, int64_t i, int64_t unit, int64_t rest)
{
    const tsri_param *p = &s->net->param[i];
    const float *w = touch(tsri_store_at(s, s->w, i));
    return (double)w[tsri_order_place(p, unit * (p->count / p->shape[0]) + rest)];
}

#endif
