/* The report: every allocation may fail, and then the old page stays. */
#include "scratch.h"

#include "report/compare.h"
#include "report/report.h"

static const char *const files[][2] = {
    {"run.yaml", "model: {name: mlp}\nseed: 3\n"},
    {"metrics.jsonl",
     "{\"round\":1,\"epoch\":0.5,\"loss\":2,\"rate\":0.1,\"test_loss\":2.5,\"test_accuracy\":0.1,"
     "\"bytes_total\":100,\"seconds\":1}\n"
     "{\"event\":\"times\",\"round\":1,\"ranks\":[{\"rank\":0},{\"rank\":1,\"compute\":1,"
     "\"wait\":1,\"sent\":5}]}\n{\"event\":\"lost\",\"round\":1,\"rank\":1}\n"
     "{\"event\":\"put\",\"round\":2,\"bytes_up\":[1,2],\"bytes_down\":[3,4]}\n"
     "{\"event\":\"certificate\",\"paper\":\"a\",\"round\":1,\"rows\":[{\"quantity\":\"old\"}]}\n"
     "{\"event\":\"certificate\",\"paper\":\"a\",\"round\":2,\"rows\":[{\"quantity\":\"new\"}]}\n"
     "{\"round\":2,\"epoch\":1,\"loss\":0.01,\"rate\":0,\"test_loss\":0.05,\"test_accuracy\":0.9,"
     "\"bytes_total\":200,\"seconds\":2}\n"},
    {"ticket.json", "{\"rows\":[{\"a_b\":1,\"c\":0.5,\"d\":null,\"e\":true},{\"a_b\":2000.5}]}"},
    {"distance.json",
     "{\"epochs\":[1,2],\"layers\":[{\"name\":\"x\",\"distance\":[[0,1],[1,0]]}]}"},
    {"certificate.json", "[{\"paper\":\"p\",\"rows\":[{\"quantity\":\"q\",\"where\":\"w\","
                         "\"measured\":1,\"verdict\":\"open\"}]}]"},
};

static void put_files(void)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)scratch_put(files[i][0], files[i][1], strlen(files[i][1]));
}

static bool page_is(const char *words)
{
    char *bytes = NULL;
    int64_t n;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path("report.html"), 1 << 20));
    bool found = strstr(bytes, words) != NULL;
    tsri_free(bytes);
    return found;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    int64_t n = 0;
    put_files();
    (void)scratch_put("report.html", "the old page", 12);
    for (; n < 5000; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_report_write(scratch_folder, NULL);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        /* jansson translates its own failure: no other status may come out */
        assert_true(st == TSR_RESOURCES || st == TSR_BAD_FILE);
        assert_true(page_is("the old page"));
    }
    assert_in_range(n, 50, 4999);
    assert_true(page_is("</html>"));
    assert_true(page_is("<h2>Workers") && page_is("1 shares were lost"));
    assert_true(page_is("<td>new</td>") && !page_is("<td>old</td>")); /* the latest of a paper */
}

/* The clock of a resumed run begins anew; the page adds up. */
static void time_adds_up(void **state)
{
    (void)state;
    const char *lines = "{\"round\":1,\"epoch\":1,\"test_loss\":1,\"seconds\":10}\n"
                        "{\"round\":2,\"epoch\":2,\"test_loss\":1,\"seconds\":5}\n";
    put_files();
    (void)scratch_put("metrics.jsonl", lines, strlen(lines));
    assert_ok(tsri_report_write(scratch_folder, NULL));
    assert_true(page_is("<dt>time</dt><dd>15.0 s</dd>"));
}

static tsr_status compare(const char *page, const char *picture)
{
    tsr_status st = TSR_OK;
    tsri_compare c = {0};
    const char *const folders[] = {scratch_folder, scratch_folder};
    TSR_TRY(tsri_compare_read(&c, folders, 2));
    TSR_TRY(tsri_compare_goals(&c, NULL, 0));
    TSR_TRY(tsri_compare_page(&c, page));
    TSR_TRY(tsri_compare_picture(&c, picture));
done:
    tsri_compare_fini(&c);
    return st;
}

static void every_allocation_of_a_comparison_may_fail(void **state)
{
    (void)state;
    int64_t n = 0;
    char page[300], picture[300];
    put_files();
    (void)snprintf(page, sizeof page, "%s", scratch_path("report.html"));
    (void)snprintf(picture, sizeof picture, "%s", scratch_path("picture"));
    for (; n < 5000; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = compare(page, picture);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK)
            break;
        assert_true(st == TSR_RESOURCES || st == TSR_BAD_FILE);
    }
    assert_in_range(n, 50, 4999);
    assert_true(page_is("to 90 %") && page_is("Accuracy against traffic"));
}

static void put_sweep(void)
{
    const char *
        yaml = "data: {name: glyphs}\nseed: 1\n",
       *grid = "{\"format\":1,\"grid\":[{\"key\":\"optim.lr\",\"values\":[\"0.1\",\"1\"]},"
               "{\"key\":\"model.hidden\",\"values\":[\"[8]\"]}],\"seeds\":2,\"curves\":true}",
       *lines =
           "{\"cell\":0,\"seed\":1,\"status\":\"ok\",\"loss\":2,\"accuracy\":0.5,\"curve\":[3,2]}\n"
           "{\"cell\":0,\"seed\":2,\"status\":\"ok\",\"loss\":2,\"accuracy\":0.6,\"curve\":[3,1]}\n"
           "{\"cell\":1,\"seed\":1,\"status\":\"diverged\",\"loss\":null,\"accuracy\":null}\n"
           "{\"cell\":1,\"seed\":2,\"status\":\"refused\",\"why\":\"it cannot be\"}\n";
    (void)scratch_put("run.yaml", yaml, strlen(yaml));
    (void)scratch_put("grid.json", grid, strlen(grid));
    (void)scratch_put("sweep.jsonl", lines, strlen(lines));
}

/* A line that memory does not reach for is one that cannot be read: the page has the lines before
 * it. */
static void every_allocation_of_a_sweep_may_fail(void **state)
{
    (void)state;
    int64_t n = 0;
    put_sweep();
    for (; n < 5000; n++) {
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_report_write(scratch_folder, NULL);
        (void)tsri_alloc_fail_after(-1, false);
        if (st == TSR_OK && page_is("4 of 4"))
            break;
        assert_true(st == TSR_OK || st == TSR_RESOURCES || st == TSR_BAD_FILE);
    }
    assert_in_range(n, 50, 4999);
    assert_true(page_is("test accuracy 55.00 %, the mean of 2 seeds") && page_is("refused"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail),
                                       cmocka_unit_test(time_adds_up),
                                       cmocka_unit_test(every_allocation_of_a_comparison_may_fail),
                                       cmocka_unit_test(every_allocation_of_a_sweep_may_fail)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
