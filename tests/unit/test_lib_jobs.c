/* test_lib_jobs.c - what the program's commands do, as calls of the library: each gives its document,
 * and each is walked through the failure of its allocations. */
#include "library_testing.h"

#include <math.h>
#include <unistd.h>

static tsr_config *config, *sphere, *gated;
static tsr_model *net, *other, *gated_net;
static tsr_data *data;
static char run_a[256], run_b[256], model_a[300], model_b[300], gated_path[300];

/* ---- The world of these tests --------------------------------------------------------------- */

static tsr_config *config_of(const char *text)
{
    tsr_config *c = NULL;
    assert_ok(tsr_config_parse(&c, text));
    return c;
}

static void trained(tsr_config *c, const char *folder)
{
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = tsr_result_default();
    o.folder = folder;
    assert_ok(tsr_train(&r, c, &o));
}

static int make_world(void **state)
{
    if (scratch_setup(state) != 0)
        return -1;
    (void)snprintf(run_a, sizeof run_a, "%s", scratch_path("runs/a"));
    (void)snprintf(run_b, sizeof run_b, "%s", scratch_path("runs/b"));
    (void)snprintf(model_a, sizeof model_a, "%s/model.safetensors", run_a);
    (void)snprintf(model_b, sizeof model_b, "%s/model.safetensors", run_b);
    (void)snprintf(gated_path, sizeof gated_path, "%s/model.safetensors", scratch_path("runs/g"));
    config =
        config_of("data: {name: glyphs, n: 40, test_n: 12}\nmodel: {name: mlp, hidden: [6, 5]}\n"
                  "epochs: 1\nbatch: 20\nthreads: 1\n");
    sphere = config_of("data: {name: sphere, n: 8, dim: 4, task: regress, test_n: 4}\n"
                       "model: {name: shallow, width: 8}\noptim: {name: gd, lr: 0.05}\n"
                       "scheme: {name: masked, workers: 2, xi: 0.5}\nrounds: 2\nthreads: 1\n");
    gated =
        config_of("data: {name: sphere, n: 8, dim: 4, test_n: 4}\n"
                  "model: {name: grelu, width: 12}\noptim: {lr: 0.000001}\nepochs: 1\nbatch: 4\n"
                  "threads: 1\n");
    trained(config, run_a);
    assert_ok(tsr_config_set(config, "seed=2"));
    trained(config, run_b);
    trained(gated, scratch_path("runs/g"));
    assert_ok(tsr_model_read(&net, model_a));
    assert_ok(tsr_model_read(&other, model_b));
    assert_ok(tsr_model_read(&gated_net, gated_path));
    assert_ok(tsr_data_load(&data, config));
    return 0;
}

static int end_world(void **state)
{
    tsr_config_destroy(config);
    tsr_config_destroy(sphere);
    tsr_config_destroy(gated);
    tsr_model_destroy(net);
    tsr_model_destroy(other);
    tsr_model_destroy(gated_net);
    tsr_data_destroy(data);
    return scratch_teardown(state);
}

/* ---- The jobs: each says how it went; what it gives is looked at and freed -------------------- */

static bool quiet; /* an allocation is failing: only the status counts */

/* A document with that member, or NULL after a failure. */
static tsr_status done(tsr_status st, char *json, const char *member)
{
    tsr_doc *doc = NULL;
    if (st != TSR_OK) {
        assert_null(json);
        return st;
    }
    assert_non_null(json);
    if (!quiet) {
        assert_ok(tsr_doc_parse(&doc, json));
        if (!tsr_doc_get(doc, member))
            fail_msg("there is no %s in %.200s", member, json);
        tsr_doc_destroy(doc);
    }
    tsr_free(json);
    return st;
}

static tsr_status job_build(void)
{
    char *json = NULL;
    tsr_status st = tsr_build(&json);
    return done(st, json, "kernels");
}

static tsr_status job_bench(void)
{
    char *json = NULL;
    tsr_status st = tsr_bench(&json, config, 1, false);
    return done(st, json, "layers");
}

static tsr_status job_data_list(void)
{
    char *json = NULL;
    tsr_status st = tsr_data_list(&json);
    return done(st, json, "sources");
}

static tsr_status job_data_load(void)
{
    char *json = NULL;
    tsr_data *loaded = NULL;
    tsr_status st = tsr_data_load(&loaded, config);
    if (st == TSR_OK)
        st = tsr_data_describe(&json, loaded);
    tsr_data_destroy(loaded);
    return done(st, json, "phi_pair");
}

static tsr_status job_data_write(void)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsr_data_write(data, scratch_path("arrays")));
    TSR_TRY(tsr_data_sheet(data, scratch_path("sheet.png")));
done:
    return st;
}

static tsr_status job_data_where(void)
{
    tsr_status st = TSR_OK;
    tsr_config *c = NULL;
    char *path = NULL;
    TSR_TRY(tsr_config_copy(&c, config));
    TSR_TRY(tsr_data_where(&path, c));
    assert_null(path); /* glyphs are made */
    TSR_TRY(tsr_config_use_data(c, "some/where.csv"));
    TSR_TRY(tsr_data_where(&path, c));
    assert_string_equal(path, "some/where.csv");
done:
    tsr_free(path);
    tsr_config_destroy(c);
    return st;
}

static tsr_status job_key_expected(void)
{
    char *text = NULL;
    tsr_status st = tsr_key_expected(&text, "optim.lr");
    if (st == TSR_OK)
        assert_non_null(strstr(text, "a number from"));
    tsr_free(text);
    return st;
}

static tsr_status job_forget(void)
{
    tsr_status st = TSR_OK;
    tsr_config *c = NULL;
    TSR_TRY(tsr_config_copy(&c, sphere));
    TSR_TRY(tsr_config_set(c, "scheme.name=dense"));
    TSR_TRY(tsr_config_forget(c));
done:
    tsr_config_destroy(c);
    return st;
}

static tsr_status job_use_data(void)
{
    tsr_status st = TSR_OK;
    tsr_model *m = NULL;
    tsr_result r = tsr_result_default();
    TSR_TRY(tsr_model_read(&m, model_a));
    TSR_TRY(tsr_model_use_data(m, "glyphs"));
    TSR_TRY(tsr_config_set(tsr_model_config(m), "data.seed=3"));
    TSR_TRY(tsr_model_evaluate(&r, m, false));
done:
    tsr_model_destroy(m);
    return st;
}

static tsr_status job_ticket(void)
{
    char *json = NULL, path[300];
    tsr_prune_options prune = tsr_prune_options_default();
    tsr_ticket_options o = tsr_ticket_options_default();
    prune.measure = "ops";
    prune.keep = 0.6;
    o.prune = &prune;
    o.replace = true;
    o.recalibrate = 0;
    (void)snprintf(path, sizeof path, "%s", scratch_path("ticket.safetensors"));
    tsr_status st = tsr_ticket(&json, path, model_a, &o);
    return done(st, json, "reached");
}

static tsr_status job_rankings(void)
{
    char *json = NULL;
    tsr_ranking_options o = tsr_ranking_options_default();
    o.ratio = (const double[]){0.5};
    o.ratios = 1;
    tsr_status st = tsr_model_rankings(&json, net, other, &o);
    return done(st, json, "layers");
}

static tsr_status job_answers(void)
{
    char *text = NULL, *told = NULL;
    tsr_answers_options o = tsr_answers_options_default();
    o.probabilities = true;
    tsr_status st = tsr_model_answers(&text, &told, net, &o);
    if (st == TSR_OK && !quiet)
        assert_non_null(strstr(text, "row,predicted,probability,p(ring)"));
    assert_true((st == TSR_OK) == (text != NULL));
    tsr_free(text);
    return done(st, told, "outputs");
}

static tsr_status job_answers_file(void)
{
    char *text = NULL, *told = NULL;
    tsr_answers_options o = tsr_answers_options_default();
    o.path = scratch_path("answers.json");
    tsr_status st = tsr_model_answers(&text, &told, net, &o);
    assert_null(text);
    return done(st, told, "file");
}

static tsr_status job_evaluation(void)
{
    return tsr_model_evaluation(scratch_path("evaluation.json"), net, false);
}

static tsr_status job_module(void)
{
    return tsr_model_module(net, scratch_path("module.py"), model_a);
}

static tsr_status job_gates(void)
{
    char *json = NULL;
    tsr_status st = tsr_model_gates(&json, gated_net, "lowrank:2", 4, false);
    return done(st, json, "gates");
}

static tsr_status job_convert(void)
{
    char *json = NULL, path[300];
    tsr_model *m = NULL;
    (void)snprintf(path, sizeof path, "%s", scratch_path("relu.safetensors"));
    tsr_status st = tsr_model_copy(&m, gated_net);
    if (st == TSR_OK)
        st = tsr_convert(&json, path, m, true, true);
    tsr_model_destroy(m);
    return done(st, json, "equal");
}

static tsr_status job_model_convert(void)
{
    tsr_model *m = NULL;
    tsr_conversion c = tsr_conversion_default();
    tsr_status st = tsr_model_convert(&m, &c, gated_net, true, true);
    assert_true((st == TSR_OK) == (m != NULL));
    tsr_model_destroy(m);
    return st;
}

static tsr_status job_import(void)
{
    tsr_model *m = NULL;
    tsr_status st = tsr_import(&m, scratch_path("foreign.safetensors"), NULL);
    assert_true((st == TSR_OK) == (m != NULL));
    tsr_model_destroy(m);
    return st;
}

static tsr_status job_ntk(void)
{
    char *json = NULL;
    double *kernel = NULL;
    tsr_ntk_options o = tsr_ntk_options_default();
    o.n = 4;
    o.spectrum = true;
    tsr_status st = tsr_ntk_measure(&json, &kernel, NULL, sphere, &o);
    assert_true((st == TSR_OK) == (kernel != NULL));
    tsr_free(kernel);
    return done(st, json, "eigenvalues");
}

static tsr_status job_kernels(void)
{
    tsr_status st = TSR_OK;
    double kernel[16], value[4];
    tsr_ntk_options o = tsr_ntk_options_default();
    o.n = 4;
    TSR_TRY(tsr_config_ntk(kernel, sphere, &o));
    TSR_TRY(tsr_model_ntk(kernel, net, &o));
    TSR_TRY(tsr_eigenvalues(value, kernel, 4));
done:
    return st;
}

static tsr_status job_certify(void)
{
    tsr_status st = TSR_OK;
    tsr_certificate *c = NULL;
    tsr_certificate_row row = tsr_certificate_row_default();
    char *text = NULL, *json = NULL;
    TSR_TRY(tsr_certify(&c, sphere, NULL));
    TSR_TRY(tsr_certificate_at(&row, c, 0));
    TSR_TRY(tsr_certificate_text(&text, c));
    TSR_TRY(tsr_certificate_json(&json, c));
done:
    tsr_free(text);
    tsr_free(json);
    tsr_certificate_destroy(c);
    return st;
}

static tsr_status job_widths(void)
{
    char *json = NULL;
    tsr_status st = tsr_certify_widths(&json, sphere, (const int64_t[]){8, 12, 16}, 3);
    return done(st, json, "numbers");
}

static tsr_status job_theories(void)
{
    char *json = NULL;
    tsr_theory_setting s = tsr_theory_setting_default();
    tsr_status st = tsr_theories(&json, &s);
    return done(st, json, "theories");
}

static tsr_status job_compare(void)
{
    char *json = NULL, page[300];
    tsr_compare_options o = tsr_compare_options_default();
    (void)snprintf(page, sizeof page, "%s", scratch_path("compare.html"));
    o.page = page;
    tsr_status st = tsr_compare(&json, (const char *const[]){run_a, run_b}, 2, &o);
    return done(st, json, "runs");
}

static tsr_status job_report(void)
{
    return tsr_report(run_a, scratch_path("report.html"));
}

static tsr_status job_watch(void)
{
    tsr_status st = TSR_OK;
    tsr_watch *watch = NULL;
    tsr_screen screen = tsr_screen_default();
    char *text = NULL, *json = NULL, *drawn = NULL;
    int64_t liveliest = -2;
    TSR_TRY(tsr_watch_open(&watch, scratch_path("runs")));
    TSR_TRY(tsr_watch_look(watch));
    assert_int_equal(tsr_watch_runs(watch, &liveliest), 3);
    assert_in_range(liveliest, 0, 2);
    screen.width = 80;
    screen.height = 20;
    TSR_TRY(tsr_watch_text(&text, watch));
    TSR_TRY(tsr_watch_draw(&drawn, watch, &screen));
    TSR_TRY(tsr_watch_json(&json, watch));
done:
    tsr_free(text);
    tsr_free(drawn);
    tsr_watch_destroy(watch);
    return done(st, json, "runs");
}

static tsr_status job_metrics(void)
{
    tsr_status st = TSR_OK;
    char *csv = NULL;
    int64_t lines = 0, runs = 0, numbers = 0;
    TSR_TRY(tsr_metrics_csv(&csv, &lines, run_a, NULL, NULL));
    assert_true(lines > 0 && strstr(csv, "test_loss"));
    tsr_free(csv);
    TSR_TRY(tsr_metrics_csv(&csv, NULL, run_a, NULL, scratch_path("table.csv")));
    assert_null(csv);
    TSR_TRY(tsr_metrics_tensorboard(&runs, &numbers, scratch_path("runs"), scratch_path("board")));
    assert_int_equal(runs, 3);
done:
    return st;
}

static tsr_status job_studies(void)
{
    char *json = NULL;
    tsr_status st = tsr_study_list(&json, "loft/fig4");
    return done(st, json, "reproductions");
}

static tsr_status job_sweep(void)
{
    char *json = NULL;
    tsr_sweep_options o = tsr_sweep_options_default();
    o.grid = (const char *const[]){"optim.lr=0.01,0.02"};
    o.grids = 1;
    tsr_status st = tsr_sweep(&json, config, &o);
    return done(st, json, "table");
}

static tsr_status job_json(void)
{
    char *text = NULL, *more = NULL;
    tsr_json *w = tsr_json_create();
    tsr_json_open(w, "list", '[');
    tsr_json_text(w, NULL, "one");
    tsr_json_close(w, ']');
    tsr_status st = tsr_json_end(&text, w);
    if (st == TSR_OK) {
        w = tsr_json_from(text);
        tsr_json_int(w, "two", 2);
        st = tsr_json_end(&more, w);
    }
    tsr_free(text);
    return done(st, more, "two");
}

static const struct {
    const char *name;
    tsr_status (*run)(void);
    int64_t stride; /* of a job with many allocations: every so many is failed */
} jobs[] = {
    {"build", job_build, 1},
    {"bench", job_bench, 31},
    {"data list", job_data_list, 1},
    {"data load", job_data_load, 1},
    {"data write", job_data_write, 1},
    {"data where", job_data_where, 1},
    {"key", job_key_expected, 1},
    {"forget", job_forget, 3},
    {"use data", job_use_data, 3},
    {"ticket", job_ticket, 13},
    {"rankings", job_rankings, 1},
    {"answers", job_answers, 1},
    {"answers to a file", job_answers_file, 1},
    {"evaluation", job_evaluation, 3},
    {"module", job_module, 1},
    {"gates", job_gates, 13},
    {"convert", job_convert, 13},
    {"convert in memory", job_model_convert, 13},
    {"import", job_import, 101},
    {"spectrum", job_ntk, 1},
    {"kernels", job_kernels, 3},
    {"certificate", job_certify, 11},
    {"widths", job_widths, 23},
    {"theories", job_theories, 1},
    {"compare", job_compare, 13},
    {"report", job_report, 53},
    {"watch", job_watch, 7},
    {"metrics", job_metrics, 7},
    {"studies", job_studies, 1},
    {"sweep", job_sweep, 97},
    {"documents", job_json, 1},
};

static void each_gives_its_document(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (jobs[i].run() != TSR_OK)
            fail_msg("%s: %s", jobs[i].name, tsr_last_error());
}

/* The n-th allocation fails, alone or with all that follow: the job says RESOURCES, or has done its
 * work without it, and holds nothing. */
static void each_survives_lack_of_memory(void **state)
{
    (void)state;
    int64_t before = tsri_alloc_blocks();
    quiet = true;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        int64_t made = INT64_MAX;
        for (int64_t n = 0; n < made; n += jobs[i].stride) {
            (void)tsri_alloc_fail_after(n, n % 2);
            tsr_status st = jobs[i].run();
            made = tsri_alloc_fail_after(-1, false);
            if (st != TSR_OK && st != TSR_RESOURCES)
                fail_msg("%s: allocation %lld fails: status %d, %s", jobs[i].name, (long long)n,
                         (int)st, tsr_last_error());
            if (tsri_alloc_blocks() != before)
                fail_msg("%s: allocation %lld fails: %lld blocks are left", jobs[i].name,
                         (long long)n, (long long)(tsri_alloc_blocks() - before));
            made = st == TSR_OK ? made : INT64_MAX;
        }
    }
    quiet = false;
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refused(void **state)
{
    (void)state;
    char *json = NULL;
    tsr_get_options g = tsr_get_options_default();
    tsr_compare_options c = tsr_compare_options_default();
    tsr_ranking_options r = tsr_ranking_options_default();
    tsr_theory_setting s = tsr_theory_setting_default();
    tsr_answers_options a = tsr_answers_options_default();
    tsr_ntk_options k = tsr_ntk_options_default();
    assert_fails(tsr_bench(&json, config, 0, false), TSR_USAGE, "at least 1");
    assert_fails(tsr_bench(&json, config, 1, true), TSR_USAGE, "share");
    assert_fails(tsr_data_get(&json, "nothing", &g), TSR_USAGE, "nothing");
    assert_fails(tsr_key_expected(&json, "optim.lrr"), TSR_USAGE, "optim.lr");
    assert_fails(tsr_compare(&json, (const char *const[]){run_a}, 1, &c), TSR_USAGE, "page");
    r.ratio = (const double[]){2};
    r.ratios = 1;
    assert_fails(tsr_model_rankings(&json, net, other, &r), TSR_USAGE, "above 0, below 1");
    s.n = -1;
    assert_fails(tsr_theories(&json, &s), TSR_USAGE, "above 0");
    assert_fails(tsr_certify_widths(&json, sphere, (const int64_t[]){8, 16}, 2), TSR_USAGE,
                 "3 to 16");
    assert_fails(tsr_model_gates(&json, net, NULL, 0, false), TSR_USAGE, "gate");
    assert_fails(tsr_model_gates(&json, gated_net, "many", 0, false), TSR_USAGE, "lowrank");
    a.probabilities = true;
    char *told = NULL;
    assert_fails(tsr_model_answers(&json, &told, NULL, &a), TSR_USAGE, "NULL");
    assert_fails(tsr_ntk_measure(&json, NULL, net, sphere, &k), TSR_USAGE, "give one");
    assert_fails(tsr_study_list(&json, "loft/fig44"), TSR_USAGE, "did you mean loft/fig4");
    assert_fails(tsr_metrics_csv(&json, NULL, run_a, "nothing", NULL), TSR_USAGE, "event nothing");
    assert_fails(tsr_study_index(&json, run_a), TSR_USAGE, "");
    tsr_study_options cells = tsr_study_options_default();
    cells.cells = "*18-dense-seed?";
    assert_ok(tsr_study_cells(&json, "loft/table1", &cells));
    assert_non_null(strstr(json, "preresnet18-dense-seed3\n"));
    tsr_free(json);
    assert_fails(tsr_study_cells(&json, "loft/theorem1", &cells), TSR_USAGE, "not made in cells");
    assert_fails(tsr_study_gallery(NULL, run_a), TSR_USAGE, "");
    assert_null(json);
    assert_null(told);
}

static void watching_is_refused(void **state)
{
    (void)state;
    tsr_watch *watch = NULL;
    tsr_screen screen = tsr_screen_default();
    char *text = NULL;
    assert_fails(tsr_watch_open(&watch, scratch_path("nowhere")), TSR_USAGE, "nowhere");
    assert_null(watch);
    assert_int_equal(tsr_watch_runs(NULL, NULL), 0);
    tsr_watch_destroy(NULL);
    assert_ok(tsr_watch_open(&watch, run_a));
    assert_fails(tsr_watch_draw(&text, watch, &screen), TSR_USAGE, "columns and lines");
    tsr_watch_destroy(watch);
}

static void stop(void *context, const char *address)
{
    bool *listening = context;
    *listening = strstr(address, "127.0.0.1") != NULL;
    tsr_request_stop();
}

/* It listens, tells its address, and ends when it is asked to. */
static void a_page_is_served(void **state)
{
    (void)state;
    tsr_watch *watch = NULL;
    tsr_serve_options o = tsr_serve_options_default();
    bool listening = false;
    o.ready = stop;
    o.context = &listening;
    assert_ok(tsr_watch_open(&watch, run_a));
    tsr_status st = tsr_watch_serve(watch, &o);
    tsr_context_clear_stop(NULL);
    if (st == TSR_OK)
        assert_true(listening);
    else /* built without it */
        assert_int_equal(st, TSR_USAGE);
    tsr_watch_destroy(watch);
}

static void all_studies_are_refused(void **state)
{
    (void)state;
    tsr_study_options o = tsr_study_options_default();
    assert_fails(tsr_reproduce_all(&o), TSR_USAGE, "needs a folder");
    o.folder = scratch_path("studies");
    o.data = "glyphs";
    assert_fails(tsr_reproduce_all(&o), TSR_USAGE, "papers' own data");
}

/* A file that is there already is not replaced unasked, nor is the module beside it. */
static void tickets_replace_nothing(void **state)
{
    (void)state;
    char *json = NULL, path[300];
    tsr_prune_options prune = tsr_prune_options_default();
    tsr_ticket_options o = tsr_ticket_options_default();
    (void)snprintf(path, sizeof path, "%s", scratch_path("kept.safetensors"));
    o.prune = &prune;
    assert_ok(tsr_ticket(&json, path, model_a, &o));
    tsr_free(json);
    assert_fails(tsr_ticket(&json, path, model_a, &o), TSR_USAGE, "already exists");
    assert_int_equal(unlink(path), 0);
    assert_fails(tsr_ticket(&json, path, model_a, &o), TSR_USAGE, "PyTorch module");
    prune.measure = "weight";
    assert_fails(tsr_ticket(&json, path, model_a, &o), TSR_USAGE, "params, ops or time");
    assert_null(json);
}

/* ---- Documents -------------------------------------------------------------------------------- */

static void documents_are_read(void **state)
{
    (void)state;
    tsr_doc *doc = NULL;
    assert_ok(tsr_doc_parse(&doc, "{\"a\":[1,2.5,\"x\",null,true],\"b\":{\"c\":-7}}"));
    const tsr_doc *a = tsr_doc_get(doc, "a"), *b = tsr_doc_get(doc, "b");
    assert_int_equal(tsr_doc_count(doc), 2);
    assert_string_equal(tsr_doc_key(doc, 1), "b");
    assert_ptr_equal(tsr_doc_at(doc, 1), b);
    assert_int_equal(tsr_doc_count(a), 5);
    assert_int_equal(tsr_doc_int(tsr_doc_at(a, 0), NULL), 1);
    assert_true(tsr_doc_real(tsr_doc_at(a, 0), NULL) == 1 &&
                tsr_doc_real(tsr_doc_at(a, 1), NULL) == 2.5);
    assert_string_equal(tsr_doc_text(tsr_doc_at(a, 2), NULL), "x");
    assert_true(isnan(tsr_doc_real(tsr_doc_at(a, 3), NULL)));
    assert_true(tsr_doc_bool(tsr_doc_at(a, 4), NULL));
    assert_int_equal(tsr_doc_int(b, "c"), -7);
    assert_null(tsr_doc_at(a, 5));
    assert_null(tsr_doc_at(a, -1));
    assert_null(tsr_doc_key(a, 0));
    assert_null(tsr_doc_get(a, "x"));
    assert_null(tsr_doc_text(NULL, "x"));
    assert_int_equal(tsr_doc_count(NULL), 0);
    assert_false(tsr_doc_bool(NULL, NULL));
    tsr_doc_destroy(doc);
    assert_fails(tsr_doc_parse(&doc, "{\"a\":}"), TSR_BAD_FILE, "the document:1:");
    assert_null(doc);
    assert_fails(tsr_doc_parse(&doc, NULL), TSR_USAGE, "NULL");
    tsr_doc_destroy(NULL);
}

static void documents_are_written(void **state)
{
    (void)state;
    char *text = NULL, *more = NULL;
    tsr_json *w = tsr_json_create();
    tsr_json_text(w, "name", "a \"b\"\n\xff");
    tsr_json_text(w, "none", NULL);
    tsr_json_open(w, "list", '[');
    tsr_json_real(w, NULL, 0.1);
    tsr_json_real(w, NULL, (double)INFINITY);
    tsr_json_bool(w, NULL, true);
    tsr_json_close(w, ']');
    assert_ok(tsr_json_end(&text, w));
    assert_string_equal(text, "{\"format\":1,\"name\":\"a \\\"b\\\"\\n\xEF\xBF\xBD\",\"none\":null,"
                              "\"list\":[0.1,null,true]}");
    w = tsr_json_from(text);
    tsr_json_put(w, "other", "{\"x\":1}");
    tsr_json_int(w, "n", 3);
    assert_ok(tsr_json_end(&more, w));
    assert_non_null(strstr(more, "true],\"other\":{\"x\":1},\"n\":3}"));
    tsr_free(text);
    tsr_free(more);
    tsr_json_int(NULL, "n", 3);
    assert_fails(tsr_json_end(&text, NULL), TSR_RESOURCES, "memory");
    assert_null(text);
    assert_null(tsr_json_from("no document"));
    assert_ok(tsr_json_end(NULL, tsr_json_create()));
}

/* ---- The rest ---------------------------------------------------------------------------------- */

static void texts(void **state)
{
    (void)state;
    static const char *const words[] = {"train", "ticket"};
    int size = 0;
    assert_string_equal(tsr_quote("a\x1b[1m"), "a\\x1b[1m");
    assert_string_equal(tsr_quote(NULL), "");
    assert_string_equal(tsr_nearest("trian", words, 2), "train");
    assert_null(tsr_nearest("reproduce", words, 2));
    assert_int_equal(tsr_rank(&size), 0);
    assert_int_equal(size, 1);
    assert_int_equal(tsr_rank(NULL), 0);
    assert_false(tsr_ranks_excuse());
    assert_true(tsr_ranks_end(1)); /* there is nobody to ask */
    assert_string_equal(tsr_data_name(0), "fashion-mnist");
    assert_null(tsr_data_name(-1));
    assert_null(tsr_data_name(1000));
}

/* Only what lies in C's order can be written as it is; numpy reads it (tests/python/api.py). */
static void arrays_are_written(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4};
    tsr_array a = tsr_array_of(x, TSR_F64, 2, (int64_t[]){2, 2});
    assert_ok(tsr_array_write(scratch_path("x.npy"), &a));
    a.stride[0] = 8;
    assert_fails(tsr_array_write(scratch_path("x.npy"), &a), TSR_USAGE, "C's order");
    a.data = NULL;
    assert_fails(tsr_array_write(scratch_path("x.npy"), &a), TSR_USAGE, "NULL");
}

/* What a run would scale again is refused there: it would be scaled twice, and nobody would know. */
static void prepared_data_are_not_trained_on(void **state)
{
    (void)state;
    tsr_run *run = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = tsr_result_default();
    o.data = data;
    assert_fails(tsr_run_create(&run, config, &o), TSR_USAGE, "tsr_data_read");
    assert_fails(tsr_model_judge(&r, net, data), TSR_USAGE, "tsr_data_read");
    assert_null(run);
}

static void foreign_file(void)
{
    tsr_config *c = config_of("model: {name: resnet18, width: 4}\nthreads: 1\n");
    tsr_model *m = NULL;
    assert_ok(tsr_model_build(&m, c, (const int64_t[]){3, 32, 32}, 10, true));
    assert_ok(tsr_model_write(m, scratch_path("foreign.safetensors")));
    tsr_model_destroy(m);
    tsr_config_destroy(c);
}

static int begin(void **state)
{
    int failed = make_world(state);
    if (failed == 0)
        foreign_file();
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gives_its_document),
        cmocka_unit_test(each_survives_lack_of_memory),
        cmocka_unit_test(refused),
        cmocka_unit_test(watching_is_refused),
        cmocka_unit_test(a_page_is_served),
        cmocka_unit_test(all_studies_are_refused),
        cmocka_unit_test(tickets_replace_nothing),
        cmocka_unit_test(documents_are_read),
        cmocka_unit_test(documents_are_written),
        cmocka_unit_test(texts),
        cmocka_unit_test(arrays_are_written),
        cmocka_unit_test(prepared_data_are_not_trained_on),
    };
    return nothing_left(cmocka_run_group_tests(tests, begin, end_world));
}
