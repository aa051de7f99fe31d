/* A reproduction: what it writes, how it judges, and that it never takes another's folder. */
#include "testing.h"

#include "io/file.h"
#include "io/json.h"
#include "report/png.h"
#include "reproduce/reproduce.h"
#include "scratch.h"

#include <math.h>

static char *folder_for(const char *name)
{
    char *folder = strdup(scratch_path(name));
    assert_non_null(folder);
    return folder;
}

/* ---- Estimates ------------------------------------------------------------------------------ */

static void means_and_slopes(void **state)
{
    (void)state;
    static const double four[] = {1, 2, 3, 4}, x[] = {0, 1, 2, 3}, y[] = {1, 3, 4.9, 7.1};
    double offset, odd[] = {9, 1, 5}, even[] = {4, 1, 3, 2};
    assert_true(tsri_median_of(odd, 3) == 5 && odd[0] == 1 && odd[2] == 9);
    assert_true(tsri_median_of(even, 4) == 3);
    tsri_estimate e = tsri_mean_of(four, 4);
    assert_true(e.value == 2.5);
    /* t(3) = 3.1824 times the standard error sqrt(5/3/4) = 0.645497 */
    assert_true(fabs(e.high - 2.5 - 2.05422) < 1e-4 && fabs(e.low + e.high - 5) < 1e-12);
    assert_true(isnan(tsri_mean_of(four, 1).low) && tsri_mean_of(four, 1).value == 1);
    assert_true(isnan(tsri_mean_of(four, 0).value));
    e = tsri_slope_of(&offset, x, y, 4);
    assert_true(fabs(e.value - 2.02) < 1e-12 && fabs(offset - 0.97) < 1e-12);
    /* the residuals' squares sum to 0.018: error sqrt(0.009 / 5) = 0.0424, times t(2) = 4.3027 */
    assert_true(fabs(e.high - e.value - 0.18255) < 1e-4);
    assert_true(isnan(tsri_slope_of(NULL, four, y, 0).value));
}

/* From tables of Student's distribution. */
static void student(void **state)
{
    (void)state;
    static const struct {
        int64_t freedom;
        double miss, t;
    } known[] = {{1, 0.05, 12.706},  {2, 0.05, 4.303},  {5, 0.05, 2.571},    {7, 0.05, 2.365},
                 {10, 0.05, 2.228},  {30, 0.05, 2.042}, {1000, 0.05, 1.962}, {2, 0.01, 9.925},
                 {2, 0.001, 31.599}, {3, 0.01, 5.841},  {10, 0.001, 4.587},  {1, 0.002, 318.309}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(fabs(tsri_student(known[i].freedom, known[i].miss) - known[i].t) < 0.001);
    assert_true(isnan(tsri_student(0, 0.05)) && isnan(tsri_student(2, 0)));
    assert_true(tsri_student(1000000, 0.05) == tsri_student(1000, 0.05));
}

/* ---- Tables --------------------------------------------------------------------------------- */

static void tables(void **state)
{
    (void)state;
    tsri_table t = {0};
    tsri_text csv = {0}, md = {0};
    tsri_markup html = {0};
    tsri_table_head(&t, "name|value|note");
    tsri_table_text(&t, "a|<b>,\"c\"");
    tsri_table_number(&t, 0.5);
    tsri_table_text(&t, NULL);
    tsri_table_text(&t, "second");
    tsri_table_real(&t, 2, 1); /* the last cell is missing */
    assert_ok(tsri_table_csv(&csv, &t));
    assert_string_equal(csv.data, "name,value,note\n\"a|<b>,\"\"c\"\"\",0.5,\nsecond,2.0,\n");
    assert_ok(tsri_table_markdown(&md, &t));
    assert_string_equal(md.data, "| name | value | note |\n|---|--:|---|\n"
                                 "| a\\|&lt;b>,\"c\" | 0.5 |  |\n| second | 2.0 |  |\n");
    tsri_table_html(&html, &t);
    assert_ok(tsri_markup_end(&html));
    assert_non_null(
        strstr(html.text.data, "<td>a|&lt;b&gt;,&quot;c&quot;</td><td class=\"n\">0.5"));
    tsri_markup_fini(&html);
    tsri_text_fini(&csv);
    tsri_text_fini(&md);
    tsri_table_fini(&t);
}

/* ---- Metrics read back ---------------------------------------------------------------------- */

static void curves_of_a_run(void **state)
{
    (void)state;
    char *folder = folder_for("curves");
    char *path = NULL;
    tsri_curves c;
    assert_ok(tsri_make_folder(folder));
    assert_ok(tsri_path_join(&path, folder, "metrics.jsonl"));
    assert_ok(tsri_file_write_text(
        path, "{\"event\":\"put\",\"round\":1,\"bytes_up\":[3,4]}\n{\"round\":1,\"loss\":2.5}\n\n"
              "{\"round\":2,\"loss\":null,\"late\":7}\n{\"round\":3,\"lo"));
    assert_ok(tsri_curves_read(&c, path, NULL));
    assert_int_equal(c.n, 2); /* the torn line is not there yet */
    assert_true(tsri_curves_get(&c, "loss")[0] == 2.5 && isnan(tsri_curves_get(&c, "loss")[1]));
    assert_true(isnan(tsri_curves_get(&c, "late")[0]) && tsri_curves_get(&c, "late")[1] == 7);
    assert_null(tsri_curves_get(&c, "bytes_up"));
    tsri_curves_fini(&c);
    assert_ok(tsri_curves_read(&c, path, "put"));
    assert_int_equal(c.n, 1);
    assert_true(tsri_curves_get(&c, "bytes_up")[0] == 7);
    tsri_curves_fini(&c);
    assert_ok(tsri_file_write_text(path, "{\"a\":1}\n[2]\n"));
    assert_fails(tsri_curves_read(&c, path, NULL), TSR_BAD_FILE, "metrics.jsonl:2");
    assert_ok(tsri_file_write_text(path, "{\"a\":1}\n{\"a\":}\n"));
    assert_fails(tsri_curves_read(&c, path, NULL), TSR_BAD_FILE, "metrics.jsonl:2");
    assert_ok(tsri_file_write_text(path, ""));
    assert_ok(tsri_curves_read(&c, path, NULL));
    assert_int_equal(c.n, 0);
    tsri_curves_fini(&c);
    tsri_free(path);
    free(folder);
}

/* ---- Studies -------------------------------------------------------------------------------- */

static tsr_status falling(tsri_study *s)
{
    tsr_status st = TSR_OK;
    static const double x[] = {1, 2, 3}, y[] = {3, 2, 1};
    tsri_chart c;
    tsri_table t = {0};
    tsri_estimate slope = tsri_slope_of(NULL, x, y, 3);
    double falls[] = {-1, -1.1, -1.2}, rises[] = {1, 1.1, 1.2};
    tsri_chart_begin(&c, "falling");
    tsri_chart_panel(&c, &(tsri_panel){.x_label = "x"});
    tsri_chart_series(&c, &(tsri_series){.name = "y", .n = 3, .x = x, .y = y});
    tsri_table_head(&t, "seed|slope");
    int64_t seeds = tsri_study_seeds(s, 3);
    for (int64_t i = 0; i < seeds; i++) {
        tsri_table_number(&t, (double)s->seed + (double)i);
        tsri_table_number(&t, slope.value);
    }
    tsri_study_say(s, 0.5, "half of %s", s->row->name);
    tsri_study_note(s, "%d points", 3);
    tsri_study_setting(s, "width", "4096", "%d", 64);
    tsri_study_setting(s, "depth", "2", "%d", 2);
    tsri_study_setting(s, "step", "not given", "%g", 0.5);
    tsri_study_setting(s, "width", "4096", "%d", 128); /* told before: passed over */
    tsri_study_chart(s, "fig", &c);
    tsri_study_table(s, "slopes", "Slopes", &t);
    tsri_study_judge(s, "masked/fig2b/chance", NULL, falls, seeds);
    tsri_study_judge(s, "masked/fig2b/shares", "p = 2", falls, seeds);
    tsri_study_judge(s, "masked/fig2b/shares", "p = 4", rises, seeds);
    tsri_study_leave(s, "masked/fig2c/floor", NULL, "there is none");
    TSR_TRY(tsri_study_end(s));
done:
    tsri_chart_fini(&c);
    tsri_table_fini(&t);
    return st;
}

/* Without picture: librsvg is not ours to fail, and slow to repeat a hundred times. */
static tsr_status plain(tsri_study *s)
{
    tsr_status st = TSR_OK;
    tsri_table t = {0};
    tsri_table_head(&t, "seed|slope");
    tsri_table_text(&t, "1");
    tsri_study_note(s, "%d points", 3);
    tsri_study_table(s, "slopes", "Slopes", &t);
    tsri_study_setting(s, "width", "4096", "%d", 64);
    tsri_study_judge(s, "masked/fig2b/chance", NULL, (double[]){-1, -1, -1}, 3);
    TSR_TRY(tsri_study_end(s));
done:
    tsri_table_fini(&t);
    return st;
}

static const tsri_reproduction without = {"test/plain", "a table", .make = plain};
static const tsri_reproduction rows[] = {
    {"test/falling", "a line falls", .make = falling},
    {"test/other", "the same by another name", .make = falling}};

static void heard(void *context, double part, const char *text)
{
    assert_true(part == 0.5);
    assert_string_equal(text, "half of test/falling");
    ++*(int *)context;
}

static char *slurp(const char *folder, const char *name)
{
    char *path = NULL, *bytes = NULL;
    int64_t n;
    assert_ok(tsri_path_join(&path, folder, name));
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 20));
    tsri_free(path);
    return bytes;
}

static void a_study_and_its_folder(void **state)
{
    (void)state;
    char *folder = folder_for("study"), *text;
    int times = 0;
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = folder;
    o.threads = 1;
    o.say = heard;
    o.context = &times;
    assert_ok(tsri_reproduce(&s, &rows[0], &o));
    assert_int_equal(times, 1);
    assert_int_equal(s.claims, 3);
    assert_int_equal(tsri_claim_verdict(&s.claim[0]), TSRI_FINDING_HOLDS);
    assert_int_equal(tsri_claim_verdict(&s.claim[1]), TSRI_FINDING_FAILS);
    assert_int_equal(tsri_study_count(&s, TSRI_FINDING_HOLDS, false), 1);
    assert_int_equal(tsri_study_count(&s, TSRI_FINDING_UNDECIDED, true),
                     1); /* ours are counted apart */
    assert_int_equal(s.settings, 3);
    assert_int_equal(s.files, tsri_png_available() ? 4 : 3);
    tsri_study_fini(&s);
    text = slurp(folder, "summary.md");
    assert_non_null(strstr(text, "Of 2 claims of the paper 1 holds, 1 does not hold here. Of our "
                                 "own 1 is undecided."));
    assert_non_null(strstr(text, "- **holds:** As we fix the number of subnetworks"));
    assert_non_null(
        strstr(text, "*Here:* -1.1 (95 %: -1.35 to -0.852). *Decided by:* power of xi"));
    assert_non_null(strstr(text, "p = 2: -1.1 (95 %: -1.35 to -0.852), holds; p = 4: 1.1"));
    assert_non_null(strstr(text, "- **undecided:** (Ours.) Theorem 4's floor"));
    assert_non_null(strstr(text, "*Here:* there is none."));
    assert_non_null(strstr(text, "| width | 4096 | 64 |\n| step | not given | 0.5 |\n"));
    assert_null(strstr(text, "| depth"));
    assert_non_null(strstr(text, "| 2 | -1 |"));
    tsri_free(text);
    text = slurp(folder, "slopes.csv");
    assert_string_equal(text, "seed,slope\n1,-1\n2,-1\n3,-1\n");
    tsri_free(text);
    text = slurp(folder, "fig.csv");
    assert_string_equal(text, "panel,series,x,y\n,y,1.0,3.0\n,y,2.0,2.0\n,y,3.0,1.0\n");
    tsri_free(text);
    text = slurp(folder, "summary.json");
    assert_non_null(strstr(text, "\"verdicts\":{\"undecided\":0,\"holds\":1,\"does_not_hold\":1},"
                                 "\"ours\":{\"undecided\":1,\"holds\":0,\"does_not_hold\":0},"
                                 "\"claims\":[{\"id\":\"masked/fig2b/chance\""));
    assert_non_null(strstr(text, "\"seeds\":[-1.0,-1.1,-1.2]"));
    assert_non_null(strstr(text, "{\"what\":\"width\",\"paper\":\"4096\",\"here\":\"64\","
                                 "\"departs\":true},{\"what\":\"depth\""));
    tsri_free(text);
    text = slurp(folder, "fig.svg"); /* what differs stands below the picture */
    assert_non_null(strstr(text, ">Here (and in the paper): width: 64 (4096); step: 0.5 (not "
                                 "given).</text>"));
    tsri_free(text);

    /* Again in the same folder: the same. Another one: refused, and nothing changed. */
    o.say = NULL;
    assert_ok(tsri_reproduce(&s, &rows[0], &o));
    tsri_study_fini(&s);
    assert_fails(tsri_reproduce(&s, &rows[1], &o), TSR_USAGE, "holds test/falling already");
    tsri_study_fini(&s);
    text = slurp(folder, "summary.json");
    assert_non_null(strstr(text, "\"name\":\"test/falling\""));
    tsri_free(text);
    free(folder);
}

/* With one seed nothing is decided, by any study. */
static void one_seed_is_undecided(void **state)
{
    (void)state;
    char *folder = folder_for("one");
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = folder;
    o.threads = 1;
    for (o.seeds = 1; o.seeds <= 2; o.seeds++) {
        assert_ok(tsri_reproduce(&s, &rows[0], &o));
        for (int64_t i = 0; i < s.claims; i++)
            assert_int_equal(tsri_claim_verdict(&s.claim[i]), TSRI_FINDING_UNDECIDED);
        tsri_study_fini(&s);
    }
    free(folder);
}

static tsr_status silent(tsri_study *s)
{
    return tsri_study_end(s);
}

static tsr_status unknown(tsri_study *s)
{
    tsri_study_judge(s, "masked/fig2b/beauty", NULL, (double[]){1, 1, 1}, 3);
    return tsri_study_end(s);
}

/* What a study does not tell is there, undecided; what no criterion decides is an error of ours. */
static void nothing_is_left_out(void **state)
{
    (void)state;
    static const tsri_reproduction quiet = {"masked/fig2b", "nothing is said", .make = silent},
                                   other = {"test/unknown", "no criterion", .make = unknown};
    char *folder = folder_for("quiet"), *second = folder_for("unknown");
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = folder;
    o.threads = 1;
    assert_ok(tsri_reproduce(&s, &quiet, &o));
    assert_int_equal(s.claims, 2);
    assert_int_equal(tsri_study_count(&s, TSRI_FINDING_UNDECIDED, false), 2);
    tsri_study_fini(&s);
    o.folder = second;
    assert_fails(tsri_reproduce(&s, &other, &o), TSR_FAILURE, "masked/fig2b/beauty");
    tsri_study_fini(&s);
    free(folder);
    free(second);
}

static void not_in_a_run(void **state)
{
    (void)state;
    char *folder = folder_for("run"), *path = NULL;
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = folder;
    assert_ok(tsri_make_folder(folder));
    assert_ok(tsri_path_join(&path, folder, "run.yaml"));
    assert_ok(tsri_file_write_text(path, "seed: 1\n"));
    assert_fails(tsri_reproduce(&s, &rows[0], &o), TSR_USAGE, "holds a run");
    tsri_study_fini(&s);
    o.folder = path; /* a file */
    assert_fails(tsri_reproduce(&s, &rows[0], &o), TSR_USAGE, "run.yaml");
    tsri_study_fini(&s);
    tsri_free(path);
    free(folder);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char *folder = folder_for("failing");
    tsri_study s;
    tsri_study_options o = tsri_study_options_default();
    o.folder = folder;
    o.threads = 1;
    int64_t n = 0;
    for (; n < 2000; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_reproduce(&s, &without, &o);
        (void)tsri_alloc_fail_after(-1, false);
        tsri_study_fini(&s);
        if (st == TSR_OK)
            break;
        assert_int_equal(st, TSR_RESOURCES);
    }
    assert_in_range(n, 20, 1999);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_slopes),
        cmocka_unit_test(student),
        cmocka_unit_test(tables),
        cmocka_unit_test(curves_of_a_run),
        cmocka_unit_test(a_study_and_its_folder),
        cmocka_unit_test(one_seed_is_undecided),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(not_in_a_run),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
