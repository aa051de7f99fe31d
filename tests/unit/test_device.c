/* What a backend does beside its layers, against ref: losses, updates, vectors, batches, shares, and the
 * layers that test_kernels.c has no cases for: sequences and gates. The backend is cpu, or the one
 * that backend_testing.h says. */
#include "backend_testing.h"

#include "base/rng.h"

#include <math.h>

static float *normals(int64_t n, int64_t stream)
{
    float *p = NULL;
    tsri_rng rng = tsri_rng_stream(3, TSRI_FOR_TEST, stream, 0, 0);
    assert_ok(tsri_alloc(&p, n, sizeof *p));
    for (int64_t i = 0; i < n; i++)
        p[i] = (float)tsri_rng_normal(&rng);
    return p;
}

static int64_t floats(int64_t n)
{
    return n * (int64_t)sizeof(float);
}

static void assert_near(const char *what, const float *got, const float *want, int64_t n,
                        double tolerance)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= tolerance * (1 + fabs((double)want[i]))))
            fail_msg("%s[%lld] = %.9g, ref has %.9g", what, (long long)i, (double)got[i],
                     (double)want[i]);
}

static tsri_pool *pool;

static tsri_device on(const tsri_backend *backend)
{
    return tsri_device_on(backend, pool);
}

/* ---- Losses -------------------------------------------------------------------------------- */

typedef struct loss_case {
    int64_t n, valid, k, positions, first;
    bool targets, lengths, soft, weights, value_only;
} loss_case;

typedef struct judged {
    tsri_tally tally;
    float *dx;
} judged;

static judged judge(const loss_case *c, const tsri_loss_kind *kind, const tsri_backend *backend)
{
    int64_t outputs = c->k * c->positions, count = c->n * outputs;
    float *x = normals(count, 1), *target = normals(count, 2);
    int32_t label[64], length[64];
    double weight[64], mean = 1.25;
    judged j = {.dx = normals(count, 3)};
    for (int64_t i = 0; i < 64; i++) {
        label[i] = (int32_t)(i * 7 % c->k);
        length[i] = (int32_t)(c->first + 1 + i % (c->positions - c->first));
        weight[i] = 0.5 + 0.125 * (double)i;
    }
    for (int64_t i = 0; kind->margin && i < count; i++)
        target[i] = target[i] > 0 ? 1.0F : -1.0F;
    tsri_mem *mem[] = {lend(backend, x, floats(count)),      lend(backend, target, floats(count)),
                       lend(backend, label, sizeof label),   lend(backend, length, sizeof length),
                       lend(backend, weight, sizeof weight), lend(backend, &mean, sizeof mean),
                       lend(backend, j.dx, floats(count)),   lend(backend, NULL, sizeof j.tally)};
    tsri_loss loss = {.kind = kind,
                      .n = c->n,
                      .valid = c->valid,
                      .outputs = outputs,
                      .positions = c->positions,
                      .first = c->first,
                      .x = tsri_mem_bind(mem[0]),
                      .target = c->targets ? tsri_mem_bind(mem[1]) : NULL,
                      .label = c->targets ? NULL : tsri_mem_bind(mem[2]),
                      .length = c->lengths ? tsri_mem_bind(mem[3]) : NULL,
                      .smoothing = c->soft ? 0.1 : 0,
                      .weight = c->weights ? tsri_mem_bind(mem[4]) : NULL,
                      .weight_mean = c->weights ? tsri_mem_bind(mem[5]) : NULL,
                      .dx = c->value_only ? NULL : tsri_mem_bind(mem[6]),
                      .tally = mem[7]};
    assert_ok(tsri_device_loss(on(backend), &loss));
    take_back(j.dx, backend, mem[6], floats(count));
    take_back(&j.tally, backend, mem[7], sizeof j.tally);
    for (int i = 0; i < 6; i++)
        backend->heap->drop(mem[i]);
    tsri_free(x);
    tsri_free(target);
    return j;
}

/* Sums are in double, in another order: some ulps of them. A gradient is rounded to float once, of
 * doubles that differ in their last bits (another exp): one ulp of a float at most. */
static void losses_agree(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    static const loss_case cases[] = {
        {1, 1, 1, 1, 0, false, false, false, false, false},
        {5, 5, 3, 1, 0, false, false, false, false, false},
        {5, 4, 3, 1, 0, true, false, false, false, false},
        {64, 50, 10, 1, 0, false, false, false, false, false},
        {64, 50, 10, 1, 0, false, false, false, false, true},
        {64, 64, 10, 1, 0, false, false, true, false, false},
        {64, 64, 10, 1, 0, false, false, true, true, false},
        {20, 19, 4, 6, 2, false, true, false, false, false},
        {20, 20, 4, 6, 0, true, true, false, false, false},
        {20, 20, 1, 6, 3, false, false, false, false, false},
    };
    for (int l = 0; tsri_loss_kinds[l]; l++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const loss_case *c = &cases[i];
            const tsri_loss_kind *kind = tsri_loss_kinds[l];
            if ((kind->classes && c->targets) || (!kind->softens && (c->soft || c->weights)))
                continue;
            judged want = judge(c, kind, &tsri_backend_ref), got = judge(c, kind, backend);
            if (fabs(got.tally.sum - want.tally.sum) > 1e-13 * (1 + fabs(want.tally.sum)))
                fail_msg("%s, case %zu: %.17g, ref has %.17g", kind->name, i, got.tally.sum,
                         want.tally.sum);
            assert_int_equal(got.tally.hits, want.tally.hits);
            assert_near(kind->name, got.dx, want.dx, c->n * c->k * c->positions, 1.2e-7);
            tsri_free(want.dx);
            tsri_free(got.dx);
        }
}

/* A module has formulas of its own: a loss without one is refused, not taken for another. */
static void unknown_losses_are_refused(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    tsri_loss_kind kind = tsri_loss_mse;
    tsri_loss loss = {.kind = &kind};
    kind.name = "unheard_of";
    if (backend != &tsri_backend_cpu) /* which reads the row */
        assert_fails(tsri_device_loss(on(backend), &loss), TSR_USAGE,
                     "loss unheard_of is not there yet");
}

/* ---- Vectors ------------------------------------------------------------------------------- */

typedef struct vectors {
    int64_t n;
    float *w, *v, *s, *g;
} vectors;

typedef void (*vector_work)(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n,
                            int variant);

static vectors work_on(int64_t n, const tsri_backend *backend, vector_work work, int variant)
{
    vectors v = {n, normals(n, 4), normals(n, 5), normals(n, 6), normals(n, 7)};
    float *host[] = {v.w, v.v, v.s, v.g};
    tsri_mem *mem[4];
    for (int64_t i = 0; i < n; i++)
        v.s[i] = fabsf(v.s[i]);
    for (int i = 0; i < 4; i++)
        mem[i] = lend(backend, host[i], floats(n));
    work(backend, mem, n, variant);
    for (int i = 0; i < 4; i++)
        take_back(host[i], backend, mem[i], floats(n));
    return v;
}

static void vectors_free(vectors *v)
{
    tsri_free(v->w);
    tsri_free(v->v);
    tsri_free(v->s);
    tsri_free(v->g);
}

static void sgd(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n, int variant)
{
    const tsri_dials dials = {.rate = 0.1};
    tsri_mem *there = lend(backend, &dials, sizeof dials);
    tsri_update u = {.count = n,
                     .w = mem[0],
                     .v = mem[1],
                     .dw = mem[3],
                     .dials = there,
                     .momentum = 0.9,
                     .decay = 5e-4,
                     .nesterov = variant};
    assert_ok(tsri_device_update(on(backend), &u));
    take_back(NULL, backend, there, sizeof dials);
}

static void adam(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n, int variant)
{
    const tsri_optim rule = {.momentum = 0.9,
                             .beta2 = 0.999,
                             .epsilon = 1e-8,
                             .decay = 0.1,
                             .adam = true,
                             .decoupled = variant};
    const tsri_dials dials = tsri_optim_dials(&rule, 0.01, 3);
    tsri_mem *there = lend(backend, &dials, sizeof dials);
    tsri_adam a = {.count = n, .w = mem[0], .v = mem[1], .s = mem[2], .dw = mem[3], .dials = there};
    assert_ok(tsri_device_adam(on(backend), &a));
    take_back(NULL, backend, there, sizeof dials);
}

static void average(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n, int variant)
{
    assert_ok(tsri_device_blend(on(backend), mem[0], mem[1], n, variant ? 1 : 0.3));
}

static void collect(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n, int variant)
{
    tsri_device device = on(backend);
    assert_ok(tsri_device_gather(device, mem[0], mem[3], n, true, variant, 0.5F));
    assert_ok(tsri_device_gather(device, mem[0], mem[1], n, false, !variant, 0.25F));
}

/* Variant 0 is long enough to be clipped, variant 1 is not. */
static void clip(const tsri_backend *backend, tsri_mem *const mem[4], int64_t n, int variant)
{
    assert_ok(tsri_device_clip(on(backend), mem[3], n, variant ? 1e6 : 0.5));
}

/* Number by number, and nothing is contracted: the bits of ref. Of a clipped gradient the length is
 * summed in another order, in double, and rounded to one float that scales all. */
static void vectors_agree(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    static const vector_work works[] = {sgd, adam, average, collect, clip};
    static const int64_t sizes[] = {0, 1, 17, 16384, 50001};
    for (size_t k = 0; k < sizeof works / sizeof *works; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int variant = 0; variant < 2; variant++) {
                vectors want = work_on(sizes[s], &tsri_backend_ref, works[k], variant);
                vectors got = work_on(sizes[s], backend, works[k], variant);
                double tolerance = works[k] == clip ? 1.2e-7 : 0;
                assert_near("w", got.w, want.w, want.n, tolerance);
                assert_near("v", got.v, want.v, want.n, tolerance);
                assert_near("s", got.s, want.s, want.n, tolerance);
                assert_near("g", got.g, want.g, want.n, tolerance);
                vectors_free(&want);
                vectors_free(&got);
            }
}

/* What is not finite stays so: the run tells. */
static void clip_leaves_what_diverged(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    float g[] = {1, INFINITY, 3};
    tsri_mem *mem = lend(backend, g, sizeof g);
    assert_ok(tsri_device_clip(on(backend), mem, 3, 0.5));
    take_back(g, backend, mem, sizeof g);
    assert_true(g[0] == 1 && isinf(g[1]) && g[2] == 3);
}

/* ---- Batches ------------------------------------------------------------------------------- */

static void batches_come_in(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    static const tsri_shape shapes[] = {{1, 1, 1}, {3, 5, 7}, {7, 1, 1}, {4, 6, 1}};
    static const tsri_layout layouts[] = {TSRI_AS_GIVEN, TSRI_CHANNELS_LAST, TSRI_POSITIONS_FIRST};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++)
            for (int64_t n = 0; n < 4; n++) {
                int64_t count = n * tsri_shape_count(shapes[s]);
                float *x = normals(count, 8), *want = normals(count, 9), *got = normals(count, 9);
                tsri_mem *mem = lend(backend, NULL, floats(count));
                assert_ok(tsri_device_input(on(backend), mem, x, n, shapes[s], layouts[l]));
                take_back(got, backend, mem, floats(count));
                assert_ok(tsri_input_float(as_mem(want), x, n, shapes[s], layouts[l],
                                           on(&tsri_backend_ref)));
                assert_memory_equal(got, want, (size_t)floats(count));
                tsri_free(x);
                tsri_free(want);
                tsri_free(got);
            }
}

/* Batches of resident samples, as bytes or numbers, moved or not. */
static void draw_on(float *x, const tsri_backend *backend, tsri_shape s, tsri_layout layout,
                    bool bytes, bool moves)
{
    enum { SAMPLES = 9, ROWS = 5 };
    static const int64_t index[ROWS] = {3, 0, 8, -1, 3};
    static const tsri_move move[ROWS] = {{0, 0, 0}, {1, -2, 1}, {-3, 1, 0}, {9, 9, 1}, {2, 0, 1}};
    int64_t dim = tsri_shape_count(s), count = SAMPLES * dim;
    float *numbers = normals(count, 30), *per = normals(3 * s.c, 31);
    uint8_t *pixels = NULL;
    assert_ok(tsri_alloc(&pixels, count, 1));
    for (int64_t i = 0; i < count; i++)
        pixels[i] = (uint8_t)(i * 37);
    tsri_mem *mem[] = {
        lend(backend, numbers, floats(count)),     lend(backend, pixels, count),
        lend(backend, per, floats(s.c)),           lend(backend, per + s.c, floats(s.c)),
        lend(backend, per + 2 * s.c, floats(s.c)), lend(backend, index, sizeof index),
        lend(backend, move, sizeof move),          lend(backend, NULL, floats(ROWS * dim))};
    tsri_resident r = {.heap = backend->heap,
                       .n = SAMPLES,
                       .shape = s,
                       .dim = dim,
                       .bytes = bytes ? mem[1] : NULL,
                       .numbers = bytes ? NULL : mem[0],
                       .shift = mem[2],
                       .scale = mem[3],
                       .black = mem[4]};
    tsri_drawing d = {.from = &r,
                      .count = ROWS,
                      .index = mem[5],
                      .move = moves ? mem[6] : NULL,
                      .layout = layout,
                      .x = mem[7]};
    if (backend->draw) {
        assert_ok(tsri_device_draw(on(backend), &d));
    } else { /* of this machine's processors, which read the host's batches: the definition */
        (void)touch(d.x);
        assert_ok(tsri_draw_here(&d, on(backend)));
    }
    take_back(x, backend, mem[7], floats(ROWS * dim));
    for (int i = 0; i < 7; i++)
        backend->heap->drop(mem[i]);
    tsri_free(numbers);
    tsri_free(per);
    tsri_free(pixels);
}

static void batches_are_drawn(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    static const tsri_shape shapes[] = {{3, 5, 7}, {1, 4, 4}, {4, 6, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int way = 0; way < 7; way++) { /* bytes, moves, channels last; the last: sequences */
            int64_t count = 5 * tsri_shape_count(shapes[s]);
            float *want = normals(count, 32), *got = normals(count, 33);
            tsri_layout layout = way == 6  ? TSRI_POSITIONS_FIRST
                                 : way & 4 ? TSRI_CHANNELS_LAST
                                           : TSRI_AS_GIVEN;
            bool bytes = way & 1, moves = way < 6 && way & 2;
            draw_on(want, &tsri_backend_ref, shapes[s], layout, bytes, moves);
            draw_on(got, backend, shapes[s], layout, bytes, moves);
            assert_memory_equal(got, want, (size_t)floats(count));
            tsri_free(want);
            tsri_free(got);
        }
}

static void batches_are_counted(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    float count = 41;
    tsri_mem *mem = lend(backend, &count, sizeof count);
    assert_ok(tsri_device_count(on(backend), mem));
    take_back(&count, backend, mem, sizeof count);
    assert_true(count == 42);
}

static void memory_is_zero_and_copied(void **state)
{
    (void)state;
    const tsri_heap *heap = tested_backend()->heap;
    tsri_mem *a = NULL, *b = NULL;
    char bytes[300], none[300] = {0};
    assert_ok(heap->take(&a, 300));
    assert_ok(heap->take(&b, 300));
    assert_true((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
    assert_ok(heap->out(bytes, a, 300));
    assert_memory_equal(bytes, none, 300);
    for (int i = 0; i < 300; i++)
        bytes[i] = (char)i;
    assert_ok(heap->in(a, bytes, 300));
    assert_ok(heap->within(b, a, 300));
    assert_ok(heap->zero(a, 299));
    assert_ok(heap->out(none, b, 300));
    assert_memory_equal(none, bytes, 300);
    assert_ok(heap->out(none, a, 300));
    assert_true(none[298] == 0 && none[299] == bytes[299]);
    heap->drop(a);
    heap->drop(b);
    heap->drop(NULL);
}

/* ---- Sequences and gates ------------------------------------------------------------------- */

typedef struct op_run {
    int64_t in, out; /* numbers */
    float *y, *dx, *dw;
} op_run;

/* Forward and backward of `like`, which lacks its buffers. */
static op_run run_op(const tsri_op *like, const tsri_backend *backend, const int32_t *length,
                     bool gated)
{
    int64_t in = like->n * tsri_shape_count(like->in), out = like->n * tsri_shape_count(like->out);
    int64_t c = like->in.c;
    float *x = normals(in, 10), *dy = normals(out, 11), *w = normals(c * c, 12);
    float *add = normals(in, 13);
    op_run r = {in, out, normals(out, 14), normals(in, 15), normals(c * c, 16)};
    tsri_gates gates = {.n = like->n, .units = c, .words = (c + 63) / 64};
    int64_t words = gates.n * gates.words * (int64_t)sizeof(uint64_t);
    tsri_mem *mem[] = {lend(backend, x, floats(in)),
                       lend(backend, r.y, floats(out)),
                       lend(backend, dy, floats(out)),
                       lend(backend, r.dx, floats(in)),
                       lend(backend, w, floats(c * c)),
                       lend(backend, r.dw, floats(c * c)),
                       lend(backend, length, like->n * (int64_t)sizeof *length),
                       lend(backend, add, floats(in)),
                       NULL};
    tsri_op op = *like;
    op.x = tsri_mem_bind(mem[0]);
    op.y = tsri_mem_bind(mem[1]);
    op.dy = tsri_mem_bind(mem[2]);
    op.dx = tsri_mem_bind(mem[3]);
    op.w = tsri_mem_bind(mem[4]);
    op.dw = tsri_mem_bind(mem[5]);
    op.length = length ? tsri_mem_bind(mem[6]) : NULL;
    op.add = gated ? tsri_mem_bind(mem[7]) : NULL;
    if (gated) {
        assert_ok(backend->heap->take(&mem[8], words));
        gates.mem = mem[8];
        gates.word = tsri_mem_bind(mem[8]);
        op.gates = &gates;
    }
    op.pool = pool;
    tsri_device device = on(backend);
    assert_ok(tsri_op_setup(&op, backend));
    tsri_mem *saved = lend(backend, NULL, op.saved_bytes);
    tsri_mem *scratch = lend(backend, NULL, op.scratch_bytes);
    op.saved = tsri_mem_bind(saved);
    op.scratch = tsri_mem_bind(scratch);
    tsri_mem *packed = lend(backend, NULL, op.packed_bytes);
    op.packed = tsri_mem_bind(packed);
    if (op.packed_bytes > 0)
        assert_ok(tsri_device_pack(device, (tsri_op *const[]){&op}, 1));
    assert_ok(tsri_op_forward(&op, device));
    for (int again = 0; again < 2; again++) /* the same each time: nothing is left of the first */
        assert_ok(tsri_op_backward(&op, device));
    assert_ok(tsri_device_wait(device));
    tsri_op_teardown(&op);
    if (gates.forget)
        gates.forget(gates.inspected);
    take_back(r.y, backend, mem[1], floats(out));
    take_back(r.dx, backend, mem[3], floats(in));
    take_back(r.dw, backend, mem[5], floats(c * c));
    tsri_mem *rest[] = {mem[0], mem[2], mem[4], mem[6], mem[7], mem[8], saved, scratch, packed};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        backend->heap->drop(rest[i]);
    tsri_free(x);
    tsri_free(dy);
    tsri_free(w);
    tsri_free(add);
    return r;
}

static void op_run_free(op_run *r)
{
    tsri_free(r->y);
    tsri_free(r->dx);
    tsri_free(r->dw);
}

/* Of T steps through products of c terms, scaled so that numbers stay about 1: each rounds c terms,
 * and all that came before is carried on. */
static void compare_op(const tsri_op *op, const int32_t *length, bool gated, double tolerance)
{
    const tsri_backend *backend = tested_backend();
    op_run want = run_op(op, &tsri_backend_ref, length, gated);
    op_run got = run_op(op, backend, length, gated);
    assert_near("y", got.y, want.y, want.out, tolerance);
    assert_near("dx", got.dx, want.dx, want.in, tolerance);
    if (op->kind == TSRI_RECURRENT)
        assert_near("dw", got.dw, want.dw, op->in.c * op->in.c, tolerance);
    op_run_free(&want);
    op_run_free(&got);
}

static void sequences_agree(void **state)
{
    (void)state;
    static const int32_t lengths[] = {3, 1, 7, 5, 6, 2, 7, 4, 1};
    static const struct {
        int64_t n, c, t;
    } sizes[] = {{1, 1, 1}, {9, 5, 7}, {9, 70, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int with = 0; with < 2; with++) {
            int64_t c = sizes[i].c, t = sizes[i].t;
            const int32_t *length = with && t > 1 ? lengths : NULL;
            tsri_op op = {.kind = TSRI_RECURRENT,
                          .n = sizes[i].n,
                          .in = {c, t, 1},
                          .out = {c, t, 1},
                          .training = true,
                          .relu = true,
                          .need_dx = true,
                          .scale = 1 / sqrt((double)c)};
            compare_op(&op, length, false, 6e-8 * 2 * (double)((c + 1) * (t + sizes[i].n)));
            op.relu = false;
            op.scale = 0;
            op.kind = TSRI_LAST;
            op.out = (tsri_shape){c, 1, 1};
            for (int add = 0; add < 2; add++) {
                op.dx_add = add;
                op.kind = TSRI_LAST;
                op.out = (tsri_shape){c, 1, 1};
                compare_op(&op, length, false, 0);
                op.kind = TSRI_TURN;
                op.out = op.in;
                compare_op(&op, length, false, 0);
            }
        }
}

/* Sums of floats in another order round some states to the other neighbour: 2^-9 of a number about 1,
 * in up to eight of the terms of each sum, carried on. (cuda: 1, 4 and 16 blocks that wait for each other,
 * more samples than run at once, and one that is too wide.) */
static void sequences_agree_in_bf16(void **state)
{
    (void)state;
    static const int32_t lengths[] = {3, 1, 2, 5, 6, 2, 7, 4, 1};
    static const struct {
        int64_t n, c, t;
    } sizes[] = {{1, 1, 1}, {9, 5, 7}, {3, 64, 4}, {9, 230, 7}, {9, 1024, 3}, {2, 1030, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int with = 0; with < 2; with++) {
            int64_t c = sizes[i].c, t = sizes[i].t;
            tsri_op op = {.kind = TSRI_RECURRENT,
                          .n = sizes[i].n,
                          .in = {c, t, 1},
                          .out = {c, t, 1},
                          .training = true,
                          .bf16 = true,
                          .relu = true,
                          .need_dx = true,
                          .scale = 1 / sqrt((double)c)};
            compare_op(&op, with && t > 1 ? lengths : NULL, false,
                       8.0 / 512 / sqrt((double)c) * (double)t);
        }
}

static void gates_agree(void **state)
{
    (void)state;
    static const int64_t units[] = {1, 63, 64, 65, 200};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int add = 0; add < 2; add++) {
            tsri_op op = {.kind = TSRI_GATE,
                          .n = 6,
                          .in = {units[i], 1, 1},
                          .out = {units[i], 1, 1},
                          .training = true,
                          .need_dx = true,
                          .dx_add = add};
            compare_op(&op, NULL, true, 0);
        }
}

/* ---- Shares -------------------------------------------------------------------------------- */

enum { TAPS = 4, INS = 6, OUTS = 70, OWNERS = 3 };

/* Units of an axis that owner o has: every third from o on, and of the first owner all even ones. */
static tsri_pick pick_units(int64_t size, int64_t o)
{
    tsri_pick p = {0};
    assert_ok(tsri_alloc(&p.index, size, sizeof *p.index));
    assert_ok(tsri_alloc(&p.place, size, sizeof *p.place));
    for (int64_t u = 0; u < size; u++) {
        bool has = u % 5 != 4 && (u % 3 == o || (o == 0 && u % 2 == 0));
        p.place[u] = has ? (int32_t)p.count : -1;
        if (has)
            p.index[p.count++] = u;
    }
    return p;
}

/* What is taken for each owner, changed, and put back; `axes`: 1 = inputs are cut, 2 = outputs. */
static void trade(float *whole, float *taken, int axes, const tsri_backend *backend)
{
    tsri_slices s = {.outers = 2,
                     .outer = {{-1, TAPS}, {axes & 1 ? 0 : -1, INS}},
                     .lines = TAPS * INS,
                     .axis = axes & 2 ? 1 : -1,
                     .size = axes & 2 ? OUTS : 1,
                     .grain = axes & 2 ? 1 : OUTS};
    int64_t count = TAPS * INS * OUTS;
    tsri_mem *all = lend(backend, whole, floats(count)), *part[OWNERS];
    tsri_pick pick[OWNERS][2];
    tsri_slices_owner owner[OWNERS];
    for (int o = 0; o < OWNERS; o++) {
        pick[o][0] = pick_units(INS, o);
        pick[o][1] = pick_units(OUTS, o);
        part[o] = lend(backend, taken + o * count, floats(count));
        owner[o] = (tsri_slices_owner){pick[o], part[o]};
        assert_ok(tsri_device_take(on(backend), part[o], all, &s, pick[o]));
        assert_ok(backend->heap->out(taken + o * count, part[o], floats(count)));
        for (int64_t i = 0; i < count; i++)
            taken[o * count + i] += (float)(o + 1) * 0.1F;
        assert_ok(backend->heap->in(part[o], taken + o * count, floats(count)));
    }
    assert_ok(tsri_device_put(on(backend), all, &s, owner, OWNERS));
    take_back(whole, backend, all, floats(count));
    for (int o = 0; o < OWNERS; o++) {
        take_back(NULL, backend, part[o], 0);
        for (int a = 0; a < 2; a++) {
            tsri_free(pick[o][a].index);
            tsri_free(pick[o][a].place);
        }
    }
}

/* Copies, and means in double in the owners' order: the same bits everywhere. */
static void shares_agree(void **state)
{
    (void)state;
    const tsri_backend *backend = tested_backend();
    int64_t count = TAPS * INS * OUTS;
    for (int axes = 0; axes < 4; axes++) {
        float *want = normals(count, 20), *got = normals(count, 20);
        float *want_parts = normals(OWNERS * count, 21), *got_parts = normals(OWNERS * count, 21);
        trade(want, want_parts, axes, &tsri_backend_ref);
        trade(got, got_parts, axes, backend);
        assert_memory_equal(got, want, (size_t)floats(count));
        assert_memory_equal(got_parts, want_parts, (size_t)floats(OWNERS * count));
        tsri_free(want);
        tsri_free(got);
        tsri_free(want_parts);
        tsri_free(got_parts);
    }
}

static int make_pool(void **state)
{
    (void)state;
    return (int)tsri_pool_create(&pool, 2);
}

static int drop_pool(void **state)
{
    (void)state;
    tsri_pool_destroy(pool);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_agree),        cmocka_unit_test(unknown_losses_are_refused),
        cmocka_unit_test(vectors_agree),       cmocka_unit_test(clip_leaves_what_diverged),
        cmocka_unit_test(batches_come_in),     cmocka_unit_test(batches_are_drawn),
        cmocka_unit_test(batches_are_counted), cmocka_unit_test(memory_is_zero_and_copied),
        cmocka_unit_test(sequences_agree),     cmocka_unit_test(sequences_agree_in_bf16),
        cmocka_unit_test(gates_agree),         cmocka_unit_test(shares_agree)};
    filter_tests();
    return nothing_left(cmocka_run_group_tests(tests, make_pool, drop_pool));
}
