/* Cells of a study: which are picked, what their files keep, and that none is taken for another. */
#include "testing.h"

#include "io/config.h"
#include "io/file.h"
#include "reproduce/cells.h"
#include "reproduce/loft_table.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>

static const tsri_reproduction row = {.name = "test/cells"};

static tsr_config *config_of(const char *yaml)
{
    tsr_config *c = NULL;
    assert_ok(tsri_config_parse(&c, yaml, (int64_t)strlen(yaml), "test"));
    return c;
}

static void picking(void **state)
{
    (void)state;
    tsri_cell_list list = {0};
    int64_t order[4], picked = 0;
    for (int i = 1; i <= 2; i++) {
        assert_ok(tsri_cell_list_add(&list, "net-dense-seed%d", i));
        assert_ok(tsri_cell_list_add(&list, "net-loft-4-prune80-seed%d", i));
    }
    assert_ok(tsri_cells_pick(order, &picked, &list, NULL));
    assert_int_equal(picked, 4);
    /* In the order of the patterns, and none twice. */
    assert_ok(tsri_cells_pick(order, &picked, &list, "*prune80-seed2,*seed2,net-dense-seed1"));
    assert_int_equal(picked, 3);
    assert_int_equal(order[0], 3);
    assert_int_equal(order[1], 2);
    assert_int_equal(order[2], 0);
    assert_fails(tsri_cells_pick(order, &picked, &list, "net-dense-seed1,*seed3"), TSR_USAGE,
                 "no cell is called");
    assert_fails(tsri_cells_pick(order, &picked, &list, "*,,*"), TSR_USAGE,
                 "not a list of patterns");
    tsri_cell_list_fini(&list);
}

/* What one machine wrote another one reads, whatever threads it has and wherever its data are. */
static void files(void **state)
{
    (void)state;
    tsri_study_options o = tsri_study_options_default();
    tsri_study s = {.row = &row, .folder = scratch_path("cells"), .options = &o};
    tsr_config *here = config_of("data: {name: cifar10, path: /here}\nthreads: 2\nepochs: 3\n");
    tsr_config *there = config_of("data: {name: cifar10}\nthreads: 16\nepochs: 3\n");
    tsr_config *other = config_of("data: {name: cifar10}\nepochs: 4\n");
    tsri_study_cell c = tsri_cell_named("a-seed1"), back = tsri_cell_named("a-seed1");
    bool found = true;
    (void)remove(scratch_path("cells/cells/a-seed1.json")); /* of an earlier run */
    assert_ok(tsri_cell_read(&back, &found, &s, here));
    assert_false(found);
    tsri_cell_put(&c, "accuracy", 0.9518);
    tsri_cell_put(&c, "loss", (double)NAN);
    tsri_cell_put_series(&c, "curve", (const double[]){3, NAN, 1.0 / 3}, 3);
    assert_ok(tsri_cell_write(&s, &c, here));
    assert_ok(tsri_cell_read(&back, &found, &s, there));
    assert_true(found && tsri_cell_value(&back, "accuracy") == 0.9518);
    assert_true(isnan(tsri_cell_value(&back, "loss")) && isnan(tsri_cell_value(&back, "none")));
    double curve[4];
    tsri_cell_copy(curve, 4, &back, "curve"); /* to the bit; NaN beyond its end */
    assert_true(curve[0] == 3 && isnan(curve[1]) && curve[2] == 1.0 / 3 && isnan(curve[3]));
    assert_fails(tsri_cell_read(&back, &found, &s, other), TSR_USAGE, "epochs: 3 -> 4");
    tsri_cell_fini(&c);
    tsri_cell_fini(&back);
    tsr_config_destroy(here);
    tsr_config_destroy(there);
    tsr_config_destroy(other);
}

/* A file under another cell's name, and what is no cell at all. */
static void wrong_files(void **state)
{
    (void)state;
    tsri_study_options o = tsri_study_options_default();
    tsri_study s = {.row = &row, .folder = scratch_path("wrong"), .options = &o};
    tsr_config *config = config_of("epochs: 3\n");
    tsri_study_cell c = tsri_cell_named("a");
    char *bytes = NULL, *path = strdup(scratch_path("wrong/cells/b.json"));
    char *first = strdup(scratch_path("wrong/cells/a.json"));
    int64_t n;
    bool found;
    assert_ok(tsri_cell_write(&s, &c, config));
    assert_ok(tsri_file_read(&bytes, &n, first, 1 << 20));
    assert_ok(tsri_file_write_text(path, bytes));
    c = tsri_cell_named("b");
    assert_fails(tsri_cell_read(&c, &found, &s, config), TSR_BAD_FILE, "holds cell");
    assert_ok(tsri_file_write_text(path, "{}"));
    assert_fails(tsri_cell_read(&c, &found, &s, config), TSR_BAD_FILE, "is not a cell");
    assert_ok(tsri_file_write_text(path, "{\"study\""));
    assert_fails(tsri_cell_read(&c, &found, &s, config), TSR_BAD_FILE, "b.json");
    tsri_free(bytes);
    free(path);
    free(first);
    tsr_config_destroy(config);
}

/* Every name of Table 1 once, the first network's dense one first; other seeds, other names. */
static void names_of_table1(void **state)
{
    (void)state;
    tsri_study_options o = tsri_study_options_default();
    tsri_cell_list list = {0};
    o.seed = 7;
    o.seeds = 2;
    assert_ok(tsri_study_list_cells(&list, tsri_reproduction_find("loft/table1"), &o, false));
    assert_int_equal(list.count,
                     TSRI_TABLE1_NETWORKS * 2 * (1 + TSRI_TABLE1_METHODS * TSRI_TABLE1_RATIOS));
    assert_string_equal(list.name[0], "preresnet18-dense-seed7");
    assert_string_equal(list.name[1], "preresnet18-loft-4-prune80-seed7");
    assert_string_equal(list.name[list.count - 1], "resnet34-local_sgd-2-prune30-seed8");
    tsri_cell_list_fini(&list);
}

/* Of every study: each cell has a name of its own that a file can have, names its seed, and is
 * counted without any of its data. */
static void names_of_all(void **state)
{
    (void)state;
    tsri_study_options o = tsri_study_options_default();
    int studies = 0;
    for (int64_t k = 0; tsr_study_name(k); k++) {
        const tsri_reproduction *r = tsri_reproduction_find(tsr_study_name(k));
        tsri_cell_list list = {0};
        if (!r->paper)
            continue;
        studies++;
        assert_ok(tsri_study_list_cells(&list, r, &o, true));
        assert_true(list.count > 0);
        for (int64_t i = 0; i < list.count; i++) {
            assert_null(strpbrk(list.name[i], "/ ,*?[]\\"));
            if (!strstr(list.name[i], "seed1") && !strstr(list.name[i], "seed"))
                assert_non_null(strstr(list.name[i], "kernel-")); /* of the first weights */
            if (!strstr(list.name[i], "vowels")) /* sequences are counted where they are */
                assert_true(list.flops[i] > 0);
            for (int64_t j = 0; j < i; j++)
                assert_string_not_equal(list.name[i], list.name[j]);
        }
        tsri_cell_list_fini(&list);
    }
    assert_int_equal(studies, 19); /* all but loft/theorem1 */
}

static void without_memory(void **state)
{
    (void)state;
    tsri_study_options o = tsri_study_options_default();
    tsri_study s = {.row = &row, .folder = scratch_path("memory"), .options = &o};
    tsr_config *config = config_of("epochs: 3\n");
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st == TSR_RESOURCES && n < 10000; n++) {
        tsri_study_cell c = tsri_cell_named("a");
        bool found = false;
        (void)tsri_alloc_fail_after(n, false);
        tsri_cell_put_series(&c, "curve", (const double[]){1, 2}, 2);
        st = tsri_cell_write(&s, &c, config);
        if (st == TSR_OK)
            st = tsri_cell_read(&c, &found, &s, config);
        (void)tsri_alloc_fail_after(-1, false);
        tsri_cell_fini(&c);
        assert_true(st == TSR_OK ? found : st == TSR_RESOURCES);
    }
    assert_int_equal(st, TSR_OK);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picking),      cmocka_unit_test(files),
        cmocka_unit_test(wrong_files),  cmocka_unit_test(names_of_table1),
        cmocka_unit_test(names_of_all), cmocka_unit_test(without_memory)};
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
