/* The deep ReLU paper's measurements against definitions written out: distances of all pairs, over
 * several blocks of samples; the adversary of Theorem 5.1 (vii) against all vectors of a grid; and
 * certificates with every allocation failing once. Rows are compared by
 * tests/cli/certify_deep_relu.sh.
 */
#include "testing.h"

#include "base/alloc.h"
#include "scheme/scheme.h"
#include "theory/deep_relu.h"
#include "train/describe.h"

#include <math.h>

typedef struct fixture {
    tsri_run run;
    tsri_run_view view;
    tsr_config *config;
    tsri_deep_net net;
} fixture;

static void start(fixture *f, const char *text)
{
    tsr_run_options o = tsr_run_options_default();
    f->config = NULL;
    assert_ok(tsri_config_parse(&f->config, text, (int64_t)strlen(text), "test"));
    assert_ok(tsri_run_init(&f->run, f->config, &o));
    assert_ok(f->run.settings.scheme->setup(&f->run));
    f->view = tsri_run_view_of(&f->run);
    assert_ok(tsri_run_view_open(&f->view));
    assert_ok(tsri_deep_net_init(&f->net, &f->view, f->view.seen.w));
}

static void end(fixture *f)
{
    tsri_deep_net_fini(&f->net);
    tsri_run_view_close(&f->view);
    tsri_run_fini(&f->run);
    tsr_config_destroy(f->config);
}

/* ---- All pairs ------------------------------------------------------------------------------ */

/* The least distance of rows of level l among samples 0, step, 2 step, ..., one sample at a time.
 */
static double plain_least(fixture *f, int64_t l, int64_t step, int64_t count, int64_t pair[2])
{
    int64_t k = l == 0 ? f->net.d : f->net.layer[l - 1].m;
    double least = INFINITY;
    tsri_deep_block b;
    float *x = NULL;
    assert_ok(tsri_deep_block_init(&b, &f->net, 1));
    assert_ok(tsri_alloc(&x, count * k, sizeof *x));
    for (int64_t i = 0; i < count; i++) {
        assert_ok(tsri_deep_load(&b, &f->view, &f->net, i * step, 1, 1));
        memcpy(x + i * k, b.x[l], (size_t)k * sizeof *x);
    }
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = i + 1; j < count; j++) {
            double sum = 0;
            for (int64_t c = 0; c < k; c++)
                sum += pow((double)x[i * k + c] - (double)x[j * k + c], 2);
            if (sqrt(sum) < least) {
                least = sqrt(sum);
                pair[0] = i * step;
                pair[1] = j * step;
            }
        }
    tsri_deep_block_fini(&b);
    tsri_free(x);
    return least;
}

/* 64 rows are a block here: three blocks, the last one short. Then every third sample. */
static void all_pairs_in_blocks(void **state)
{
    (void)state;
    fixture f;
    tsri_deep_apart apart;
    start(&f, "data: {name: sphere, n: 150, test_n: 1, dim: 4, phi: 0.02}\n"
              "model: {name: relu_deep, layers: 1, width: 65536}\n"
              "optim: {name: gd, lr: 0.01}\nrounds: 1\nthreads: 2\n");
    assert_true(tsri_deep_rows(&f.net, 150) < 75);
    assert_ok(tsri_alloc(&apart.least, f.net.L + 1, sizeof *apart.least));
    for (int64_t step = 1; step <= 3; step += 2) {
        assert_ok(tsri_deep_least(&apart, &f.view, &f.net, step, 150 / step));
        for (int64_t l = 0; l <= f.net.L; l++) {
            int64_t pair[2] = {-1, -1};
            double want = plain_least(&f, l, step, 150 / step, pair);
            /* States of one sample alone and of a block may differ by rounding. */
            assert_true(fabs(apart.least[l] - want) <= (l == 0 ? 1e-12 : 1e-5) * want);
            if (l == 0)
                assert_true(apart.pair[0] == pair[0] && apart.pair[1] == pair[1]);
        }
    }
    tsri_free(apart.least);
    end(&f);
}

/* ---- The adversary of (vii) ----------------------------------------------------------------- */

/* n^2 sum_j |g_j(a)|^2 and the nodes above the threshold, from the definition. */
static double form_of(int64_t *nodes, fixture *f, const double *a, double threshold)
{
    int64_t n = f->run.data->train.n, m = f->net.layer[f->net.L - 1].m,
            k = f->net.layer[f->net.L - 1].inputs;
    double sum = 0;
    tsri_deep_block b;
    *nodes = 0;
    assert_ok(tsri_deep_block_init(&b, &f->net, n));
    assert_ok(tsri_deep_load(&b, &f->view, &f->net, 0, 1, n));
    for (int64_t j = 0; j < m; j++) {
        double squares = 0;
        for (int64_t c = 0; c < k; c++) {
            double g = 0;
            for (int64_t i = 0; i < n; i++)
                g += b.z[f->net.L][i * m + j] > 0 ? a[i] * (double)b.x[f->net.L - 1][i * k + c] : 0;
            squares += g * g;
        }
        sum += squares;
        *nodes += sqrt(squares) >= threshold;
    }
    tsri_deep_block_fini(&b);
    return sum;
}

/* Three samples: every a of a grid on the faces of the cube. None has a smaller form than the exact
 * least, which the grid comes near to; the search finds as few nodes as the grid. */
static void no_vector_beats_the_search(void **state)
{
    (void)state;
    enum { GRID = 20 };
    fixture f;
    tsri_deep_nodes found;
    const int64_t pair[2] = {0, 1};
    const double phi = 0.5;
    double least = INFINITY;
    int64_t fewest = INT64_MAX;
    start(&f, "data: {name: sphere, n: 3, test_n: 1, dim: 3, phi: 0.1}\n"
              "model: {name: relu_deep, layers: 2, width: 64}\n"
              "optim: {name: gd, lr: 0.01}\nrounds: 1\nthreads: 1\n");
    assert_ok(tsri_deep_search(&found, &f.view, &f.net, phi, pair));
    assert_int_equal(found.samples, 3);
    for (int face = 0; face < 3; face++)
        for (int u = -GRID; u <= GRID; u++)
            for (int v = -GRID; v <= GRID; v++) {
                double a[3];
                int64_t nodes;
                a[face] = 1;
                a[(face + 1) % 3] = (double)u / GRID;
                a[(face + 2) % 3] = (double)v / GRID;
                least = fmin(least, form_of(&nodes, &f, a, phi / 3));
                fewest = nodes < fewest ? nodes : fewest;
            }
    assert_true(found.form > 0 && found.form <= least * (1 + 1e-9) && least < 1.05 * found.form);
    assert_true(found.nodes <= (double)fewest);
    end(&f);
}

/* ---- Whole certificates ---------------------------------------------------------------------- */

static const char small[] = "data: {name: sphere, n: 24, test_n: 1, dim: 6, phi: 0.2}\n"
                            "model: {name: relu_deep, layers: 3, width: 64}\n"
                            "optim: {name: sgd, lr: 0.01, momentum: 0}\nbatch: 8\nrounds: 4\n"
                            "threads: 1\n";

/* Every allocation of looks and certificates fails once: RESOURCES, and nothing is left. */
static void failed_allocations(void **state)
{
    (void)state;
    const tsri_paper *paper = &tsri_paper_deep_relu;
    fixture f;
    start(&f, small);
    assert_true(paper->applies(&f.view));
    for (int later = 0; later < 2; later++) {
        f.run.position.round = later ? f.run.settings.rounds : 0; /* the last is looked at, too */
        for (int64_t n = 0;; n += n < 60 ? 1 : 7) {
            tsri_certificate c;
            tsri_past past = {0};
            tsri_certificate_init(&c, paper->name);
            tsri_past_begin(&past, f.run.position.round);
            (void)tsri_alloc_fail_after(n, false);
            tsr_status st = paper->look(&f.view, &past);
            st = st == TSR_OK ? paper->certify(&c, &f.view, &past) : st;
            int64_t made = tsri_alloc_fail_after(-1, false);
            st = st == TSR_OK ? tsri_certificate_end(&c) : st;
            tsri_certificate_fini(&c);
            paper->forget(past.state);
            tsri_past_fini(&past);
            assert_int_equal(st, made > n ? TSR_RESOURCES : TSR_OK);
            if (made <= n)
                break;
        }
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pairs_in_blocks),
        cmocka_unit_test(no_vector_beats_the_search),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
