/* Figures 1, 4 and 5 of LoFT on a network that trains in moments: every file is there, the numbers
 * in the pictures are those of the runs, and a sentence says what the numbers say, also when it is
 * not what the paper says. */
#include "testing.h"

#include "base/rng.h"
#include "io/config.h"
#include "io/file.h"
#include "io/safetensors.h"
#include "reproduce/loft.h"
#include "reproduce/repeats.h"
#include "scratch.h"

#include <math.h>

static const tsri_loft_sizes tiny = {.width = 2,
                                     .images = 16,
                                     .test_images = 8,
                                     .epochs = 4,
                                     .batch = 8,
                                     .workers = 2,
                                     .local_steps = 1,
                                     .rate = 0.5};

static tsr_status make_fig1(tsri_study *s)
{
    return tsri_loft_fig1(s, &tiny);
}

static tsr_status make_fig4(tsri_study *s)
{
    return tsri_loft_fig4(s, &tiny);
}

static tsr_status make_fig5(tsri_study *s)
{
    return tsri_loft_fig5(s, &tiny);
}

static const tsri_reproduction rows[] = {{"test/fig1", "figure 1", .make = make_fig1},
                                         {"test/fig4", "figure 4", .make = make_fig4},
                                         {"test/fig5", "figure 5", .make = make_fig5}};

static char *slurp(const char *name)
{
    char *bytes = NULL;
    int64_t n;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path(name), 1 << 20));
    return bytes;
}

/* CIFAR-10 as it comes, but 8 images a file: a byte of the class and 3072 of the image. */
static int small_cifar(void **state)
{
    static const char *const file[] = {"data_batch_1", "data_batch_2", "data_batch_3",
                                       "data_batch_4", "data_batch_5", "test_batch"};
    tsri_rng rng = tsri_rng_stream(1, TSRI_FOR_TEST, 0, 0, 0);
    static unsigned char bytes[8 * 3073];
    if (scratch_setup(state) != 0 || tsri_make_folder(scratch_path("cifar")) != TSR_OK)
        return -1;
    for (int i = 0; i < 6; i++) {
        char name[64];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (unsigned char)(tsri_rng_u32(&rng) & 255);
        for (size_t k = 0; k < 8; k++)
            bytes[k * 3073] = (unsigned char)k;
        (void)snprintf(name, sizeof name, "cifar/%s.bin", file[i]);
        if (tsri_file_write(scratch_path(name), &(tsri_piece){bytes, sizeof bytes}, 1) != TSR_OK)
            return -1;
    }
    return 0;
}

/* The study of rows[i] in the scratch folder `name`; its runs stay there for the next one. */
static tsr_status study(tsri_study *s, int i, const char *name, int64_t seeds)
{
    char folder[512], data[512];
    tsri_study_options o = tsri_study_options_default();
    (void)snprintf(folder, sizeof folder, "%s", scratch_path(name));
    o.folder = folder;
    (void)snprintf(data, sizeof data, "%s", scratch_path("cifar"));
    o.data = data;
    o.threads = 1;
    o.seeds = seeds;
    o.quick = true;
    return tsri_reproduce(s, &rows[i], &o);
}

/* y of a series at x in a chart's CSV. */
static double in_csv(const char *csv, const char *series, double x)
{
    char line[200];
    double at, y;
    size_t length = (size_t)snprintf(line, sizeof line, ",%s,", series);
    for (const char *p = strstr(csv, line); p; p = strstr(p + 1, line))
        if (sscanf(p + length, "%lf,%lf", &at, &y) == 2 && at == x)
            return y;
    fail_msg("no %s at %g in %s", series, x, csv);
    return NAN;
}

static void repeats(void **state)
{
    (void)state;
    char said[80];
    for (int seeds = 4; seeds <= 6; seeds += 2) {
        tsri_repeats r = {0};
        assert_ok(tsri_repeats_init(&r, 2, seeds));
        for (int k = 0; k < seeds; k++) {
            r.value[k] = seeds - k;
            r.value[seeds + k] = 7;
        }
        tsri_repeats_end(&r);
        if (seeds == 4) /* few: their range */
            assert_true(r.mean[0] == 2.5 && r.low[0] == 1 && r.high[0] == 4);
        else /* t(5) = 2.57058 times the standard error sqrt(3.5/6) = 0.763763 */
            assert_true(r.mean[0] == 3.5 && fabs(r.high[0] - 3.5 - 1.96331) < 1e-4);
        assert_true(r.mean[1] == 7 && r.low[1] == 7 && r.high[1] == 7);
        tsri_repeats_fini(&r);
    }
    tsri_repeats_say(said, 1);
    assert_string_equal(said, "1 seed");
    tsri_repeats_say(said, 2);
    assert_string_equal(said, "2 seeds, band: from the lowest to the highest");
    tsri_repeats_say(said, 5);
    assert_string_equal(said, "5 seeds, band: 95 %");
}

/* ---- Rankings read back ------------------------------------------------------------------- */

static void write_rankings(const char *name, const char *text)
{
    assert_ok(tsri_file_write_text(scratch_path(name), text));
}

static const char two_layers[] =
    "{\"epochs\":[1,2],\"layers\":[{\"name\":\"a\",\"reversed\":2,\"distance\":[[0,1],[3,0]]},"
    "{\"name\":\"b\",\"reversed\":4,\"distance\":[[0,5],[null,0]]}]}";

static void rankings_of_a_run(void **state)
{
    (void)state;
    tsri_rankings r;
    assert_ok(tsri_make_folder(scratch_path("read")));
    assert_fails(tsri_rankings_read(&r, scratch_path("read")), TSR_BAD_FILE, "distance.json");
    write_rankings("read/distance.json", two_layers);
    assert_ok(tsri_rankings_read(&r, scratch_path("read")));
    assert_true(r.epochs == 2 && r.layers == 2 && r.epoch[1] == 2 && r.reversed[1] == 4);
    assert_string_equal(r.name[1], "b");
    assert_true(tsri_rankings_at(&r, 0, 1, 0) == 3 && tsri_rankings_at(&r, 1, 0, 1) == 5);
    assert_true(isnan(tsri_rankings_at(&r, 1, 1, 0)));
    tsri_rankings_fini(&r);
    write_rankings("read/distance.json", "{\"epochs\":[],\"layers\":[]}");
    assert_fails(tsri_rankings_read(&r, scratch_path("read")), TSR_BAD_FILE, "no distances");
    write_rankings("read/distance.json", "{\"epochs\":[1],\"layers\":[{\"name\":\"a\"}]}");
    assert_fails(tsri_rankings_read(&r, scratch_path("read")), TSR_BAD_FILE, "layer a");
}

static void rankings_without_memory(void **state)
{
    (void)state;
    int64_t held = tsri_alloc_blocks(), n = 0;
    tsr_status st = TSR_RESOURCES;
    write_rankings("read/distance.json", two_layers);
    for (; st != TSR_OK; n++) {
        tsri_rankings r;
        tsri_alloc_fail_after(n, false);
        st = tsri_rankings_read(&r, scratch_path("read"));
        tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        if (st == TSR_OK)
            tsri_rankings_fini(&r);
        assert_int_equal(tsri_alloc_blocks(), held);
    }
    assert_true(n > 8);
}

/* ---- Figures 1 and 4 ---------------------------------------------------------------------- */

static void check_files(const tsri_study *s, const char *folder)
{
    char name[200];
    assert_true(s->files >= 2);
    for (int64_t i = 0; i < s->files; i++) {
        (void)snprintf(name, sizeof name, "%s/%s", folder, s->file[i]);
        assert_true(tsri_file_exists(scratch_path(name)));
    }
    (void)snprintf(name, sizeof name, "%s/summary.md", folder);
    assert_true(tsri_file_exists(scratch_path(name)));
}

static const char *here(const tsri_study *s, const char *what)
{
    for (int64_t i = 0; i < s->settings; i++)
        if (strcmp(s->setting[i].what, what) == 0)
            return s->setting[i].here;
    fail_msg("no setting %s", what);
    return NULL;
}

static void maps_of_a_run(void **state)
{
    (void)state;
    tsri_study s;
    tsri_rankings r;
    assert_ok(study(&s, 0, "fig1", 1));
    assert_int_equal(s.claims, 2);
    assert_int_equal(tsri_claim_verdict(&s.claim[0]), TSRI_FINDING_UNDECIDED); /* one seed */
    assert_string_equal(here(&s, "training images"), "16");
    assert_string_equal(here(&s, "test images"), "8");
    assert_string_equal(here(&s, "epochs of pretraining"), "4");
    check_files(&s, "fig1");
    tsri_study_fini(&s);
    assert_ok(tsri_rankings_read(&r, scratch_path("fig1/runs/dense-1")));
    assert_true(r.epochs == 4 && r.layers == 3);
    char *csv = slurp("fig1/fig1.csv"), line[100]; /* panel,x,y,value; y is the reference */
    (void)snprintf(line, sizeof line, "layer3.1.inner,4.0,1.0,%g", tsri_rankings_at(&r, 1, 0, 3));
    assert_non_null(strstr(csv, line));
    tsri_free(csv);
    tsri_rankings_fini(&r);
}

static void expect(const tsri_study *s, const char *id, tsri_finding verdict)
{
    for (int64_t i = 0; i < s->claims; i++)
        if (strcmp(s->claim[i].criterion->id, id) == 0) {
            assert_int_equal(tsri_claim_verdict(&s->claim[i]), verdict);
            return;
        }
    fail_msg("nothing was judged of %s", id);
}

enum { SEEDS = 3 };

/* Distances when the ranking moves by step[i] from epoch i + 1 to the next, in three seeds that
 * differ by a percent. */
static void judge_maps(tsri_study *s, const double step[3])
{
    double distance[SEEDS][16], reversed[] = {1}, epoch[] = {1, 2, 3, 4};
    tsri_rankings r[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        r[seed] = (tsri_rankings){.epochs = 4,
                                  .layers = 1,
                                  .epoch = epoch,
                                  .distance = distance[seed],
                                  .reversed = reversed};
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) {
                distance[seed][4 * i + k] = 0;
                for (int j = i < k ? i : k; j < (i < k ? k : i); j++)
                    distance[seed][4 * i + k] += step[j] * (1 + (j == 0 ? 0.01 * seed : 0));
            }
    }
    *s = (tsri_study){0};
    tsri_loft_judge_maps(s, r, SEEDS);
    assert_ok(tsri_study_end(s));
}

static void maps_judged(void **state)
{
    (void)state;
    tsri_study s;
    judge_maps(&s, (double[]){0.5, 0.1, 0.01});
    expect(&s, "loft/fig1/early",
           TSRI_FINDING_HOLDS); /* 0.055 and 0.3 from one epoch to the next */
    expect(&s, "loft/fig1/block", TSRI_FINDING_HOLDS); /* 0.01 of 0.61 */
    tsri_study_fini(&s);
    judge_maps(&s, (double[]){0.1, 0.5, 0.5});
    expect(&s, "loft/fig1/early", TSRI_FINDING_FAILS);
    expect(&s, "loft/fig1/block", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
}

/* The same curve in three seeds that differ by a percent of it, with room of the caller's. */
static tsri_repeats curve(double *room, const double *value, int64_t n, double spread)
{
    tsri_repeats r = {.n = n, .seeds = SEEDS, .x = room, .value = room + n};
    r.mean = r.value + n * SEEDS;
    for (int64_t i = 0; i < n; i++) {
        r.x[i] = (double)i;
        r.mean[i] = value[i];
        for (int64_t k = 0; k < SEEDS; k++)
            r.value[i * SEEDS + k] = value[i] * (1 + spread * (double)(k - 1) * (i > 0));
    }
    return r;
}

static void settling_judged(void **state)
{
    (void)state;
    double quick[] = {0.8, 0.2, 0.1, 0}, slow[] = {0.2, 0.15, 0.1, 0}, up[] = {0.2, 0.3, 0.2, 0};
    double still[] = {0, 0, 0, 0}, room[4][20];
    tsri_repeats a = curve(room[0], quick, 4, 0.01), b = curve(room[1], slow, 4, 0.02),
                 c = curve(room[2], up, 4, 0.01), d = curve(room[3], still, 4, 0);
    tsri_study s = {0};
    tsri_loft_judge_settling(&s, &a, &b); /* 0.34 and 0.56 of the start on average */
    expect(&s, "loft/fig4/monotone", TSRI_FINDING_HOLDS);
    expect(&s, "loft/fig4/quickly", TSRI_FINDING_HOLDS);
    expect(&s, "loft/fig4/faster", TSRI_FINDING_HOLDS);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    tsri_loft_judge_settling(&s, &c, &a); /* it rises by half, and ends as the others do */
    expect(&s, "loft/fig4/monotone", TSRI_FINDING_FAILS);
    expect(&s, "loft/fig4/quickly", TSRI_FINDING_FAILS);
    expect(&s, "loft/fig4/faster", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    tsri_loft_judge_settling(&s, &d, &a); /* nothing moved: nothing to tell it in */
    expect(&s, "loft/fig4/monotone", TSRI_FINDING_UNDECIDED);
    expect(&s, "loft/fig4/faster", TSRI_FINDING_UNDECIDED);
    tsri_study_fini(&s);
}

static void tickets_judged(void **state)
{
    (void)state;
    double good[] = {81, 81.5, 82, 82}, fair[] = {79, 79, 80, 80}, late[] = {60, 70, 85, 90};
    double room[3][20];
    tsri_repeats a = curve(room[0], good, 4, 0.001), b = curve(room[1], fair, 4, 0.002),
                 c = curve(room[2], late, 4, 0.001);
    tsri_study s = {0};
    tsri_loft_judge_tickets(&s, &a, &b);
    expect(&s, "loft/fig5/better", TSRI_FINDING_HOLDS);
    expect(&s, "loft/fig5/length", TSRI_FINDING_HOLDS);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    tsri_loft_judge_tickets(&s, &c, &b); /* better late, worse early: not throughout */
    expect(&s, "loft/fig5/better", TSRI_FINDING_FAILS);
    expect(&s, "loft/fig5/length", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
    s = (tsri_study){0};
    tsri_loft_judge_tickets(&s, &b, &b); /* equal is not better */
    expect(&s, "loft/fig5/better", TSRI_FINDING_FAILS);
    tsri_study_fini(&s);
}

static void settling(void **state)
{
    (void)state;
    tsri_study s;
    tsri_rankings r;
    assert_ok(study(&s, 1, "fig4", 2));
    assert_int_equal(s.claims, 3);
    assert_int_equal(tsri_claim_verdict(&s.claim[0]), TSRI_FINDING_UNDECIDED); /* two seeds */
    check_files(&s, "fig4");
    tsri_study_fini(&s);
    double mean = 0; /* after the first epoch, over two seeds and three layers */
    for (int seed = 1; seed <= 2; seed++) {
        char run[100];
        (void)snprintf(run, sizeof run, "fig4/runs/loft-%d", seed);
        assert_ok(tsri_rankings_read(&r, scratch_path(run)));
        for (int64_t layer = 0; layer < 3; layer++)
            mean += tsri_rankings_at(&r, layer, 3, 0) / r.reversed[layer] / 6;
        tsri_rankings_fini(&r);
    }
    char *csv = slurp("fig4/fig4.csv");
    assert_true(fabs(in_csv(csv, "LoFT", 1) - mean) < 1e-6);
    assert_true(in_csv(csv, "LoFT", 4) == 0 && in_csv(csv, "LoFT", 0) > 0);
    tsri_free(csv);
}

/* ---- Figure 5 ----------------------------------------------------------------------------- */

static void tickets_of_epochs(void **state)
{
    (void)state;
    tsri_study s;
    tsr_model *m = NULL;
    tsr_result r = tsr_result_default();
    assert_ok(study(&s, 2, "fig5", 1));
    assert_int_equal(s.claims, 2);
    check_files(&s, "fig5");
    tsri_study_fini(&s);
    /* 16 images, two workers with a batch of 8: two rounds an epoch. */
    assert_ok(tsr_model_read(&m, scratch_path("fig5/tickets/loft-1-4/tuned/model.safetensors")));
    assert_string_equal(tsri_config_text(tsr_model_config(m), "scheme.name"), "dense");
    assert_string_equal(tsri_config_text(tsr_model_config(m), "model.widths"),
                        "layer2.1.inner=2, layer3.1.inner=4, layer4.1.inner=8");
    assert_ok(tsr_model_evaluate(&r, m, false));
    char *csv = slurp("fig5/fig5.csv");
    assert_true(fabs(in_csv(csv, "LoFT", 2) - 100 * r.accuracy) < 1e-9);
    tsri_free(csv);
    tsr_model_destroy(m);
}

/* A ticket is drawn from the weights of its epoch, not from the last ones: the stem, which stays
 * whole, is that of the checkpoint. */
static void drawn_at_their_epoch(void **state)
{
    (void)state;
    static const char *const file[] = {
        "fig5/runs/dense-1/checkpoints/ckpt-000000000002.safetensors",
        "fig5/tickets/dense-1-2/ticket.safetensors", "fig5/tickets/dense-1-8/ticket.safetensors"};
    tsri_tensors *t[3] = {NULL, NULL, NULL};
    const tsri_tensor *stem[3];
    for (int i = 0; i < 3; i++) {
        assert_ok(tsri_tensors_read(&t[i], scratch_path(file[i])));
        stem[i] = tsri_tensors_find(t[i], i ? "conv1.weight" : "model.conv1.weight");
        assert_non_null(stem[i]);
        assert_true(stem[i]->dims == 4 && stem[i]->shape[0] == tiny.width);
    }
    size_t bytes = (size_t)(tiny.width * 3 * 3) * sizeof(float); /* of one channel */
    assert_memory_equal(stem[1]->data, stem[0]->data, bytes);
    assert_memory_not_equal(stem[2]->data, stem[0]->data, bytes);
    for (int i = 0; i < 3; i++)
        tsri_tensors_destroy(t[i]);
}

/* With all runs done, a failed allocation at many places: a status, nothing lost. */
static void without_memory(void **state)
{
    (void)state;
    int64_t held = tsri_alloc_blocks();
    for (int i = 0; i < 3; i++) {
        static const char *const folder[] = {"fig1", "fig4", "fig5"};
        tsr_status st = TSR_RESOURCES;
        int64_t n = 0;
        for (; st != TSR_OK; n += 1 + n / 2) {
            tsri_study s;
            tsri_alloc_fail_after(n, false);
            st = study(&s, i, folder[i], 1);
            tsri_alloc_fail_after(-1, false);
            tsri_study_fini(&s);
            assert_true(st == TSR_OK || st == TSR_RESOURCES);
            assert_int_equal(tsri_alloc_blocks(), held);
        }
        print_message("%s: over %lld allocations\n", folder[i], (long long)n);
        assert_true(n > 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats),
        cmocka_unit_test(rankings_of_a_run),
        cmocka_unit_test(rankings_without_memory),
        cmocka_unit_test(maps_of_a_run),
        cmocka_unit_test(maps_judged),
        cmocka_unit_test(settling_judged),
        cmocka_unit_test(tickets_judged),
        cmocka_unit_test(settling),
        cmocka_unit_test(tickets_of_epochs),
        cmocka_unit_test(drawn_at_their_epoch),
        cmocka_unit_test(without_memory),
    };
    return nothing_left(cmocka_run_group_tests(tests, small_cifar, scratch_teardown));
}
