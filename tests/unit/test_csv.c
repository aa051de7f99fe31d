/* CSV: words, quotes, holes, columns and headers, exact numbers. */
#include "data_testing.h"

#include <math.h>

static void keep_warning(void *context, tsr_log_level level, const char *text)
{
    (void)level;
    if (strstr(text, "51 different words"))
        *(const char **)context = "told";
}

/* ---- CSV ---------------------------------------------------------------------------------- */

static void csv_with_words_quotes_and_holes(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("a.csv", "\xEF\xBB\xBF"
                      "size, colour ,\"a \"\"b\"\", c\",kind\r\n"
                      "1, red,?,yes\r\n"
                      "\r\n"
                      "2.5,blue,  -4e-1  ,no\r\n"
                      "\"3\",\"red\",+.5,yes\n"
                      ",green,7.,no");
    assert_ok(
        load_settings(&data, SETTINGS("data.path=a.csv", "data.split=0", "data.normalize=none")));
    assert_int_equal(data->train.n, 4);
    assert_int_equal(data->dim, 5);
    assert_int_equal(data->classes, 2);
    assert_int_equal(data->missing, 2);
    static const char *const names[] = {"size", "colour=blue", "colour=green", "colour=red",
                                        "a \"b\", c"};
    for (int k = 0; k < 5; k++)
        assert_string_equal(data->column[k], names[k]);
    assert_string_equal(data->class_name[0], "no");
    assert_string_equal(data->class_name[1], "yes");
    static const int32_t label[] = {1, 0, 1, 0};
    assert_memory_equal(data->train.label, label, sizeof label);
    const float mean1 = (float)(6.5 / 3.0), mean5 = (float)((-0.4 + 0.5 + 7.0) / 3.0);
    const float want[4][5] = {
        {1, 0, 0, 1, mean5}, {2.5f, 1, 0, 0, -0.4f}, {3, 0, 0, 1, 0.5f}, {mean1, 0, 1, 0, 7}};
    for (int k = 0; k < 20; k++)
        assert_true(fabsf(data->train.numbers[k] - want[k / 5][k % 5]) < 1e-6f);
    tsr_data_destroy(data);
}

static void csv_columns_by_name_and_number(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("b.csv", "id;x;y;z\n1;0.5;10;3\n2;0.25;20;3\n3;1;35.5;4\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=b.csv", "data.split=0", "data.target=y",
                                            "data.ignore=id,4", "data.normalize=none",
                                            "data.target_scale=none")));
    assert_int_equal(data->dim, 1);
    assert_int_equal(data->targets, 1);
    assert_true(data->train.target[2] == 35.5f && data->train.numbers[1] == 0.25f);
    tsr_data_destroy(data);

    assert_ok(load_settings(&data, SETTINGS("data.path=b.csv", "data.split=0", "data.target=2-3",
                                            "data.target_scale=none")));
    assert_int_equal(data->targets, 2);
    assert_int_equal(data->dim, 2);
    assert_true(data->train.target[5] == 35.5f && data->train.target[0] == 0.5f);
    tsr_data_destroy(data);

    /* whole numbers are classes, unless told otherwise; 3 and 4 become 0 and 1 and keep names */
    assert_ok(load_settings(&data, SETTINGS("data.path=b.csv", "data.split=0")));
    assert_int_equal(data->classes, 2);
    assert_string_equal(data->class_name[1], "4");
    tsr_data_destroy(data);
    assert_ok(
        load_settings(&data, SETTINGS("data.path=b.csv", "data.split=0", "data.task=regress")));
    assert_int_equal(data->classes, 0);
    tsr_data_destroy(data);
}

static void csv_headers_are_guessed_or_told(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("c.data", "1,2,a\n3,4,b\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=c.data", "data.split=0")));
    assert_int_equal(data->train.n, 2);
    assert_string_equal(data->column[1], "column 2");
    tsr_data_destroy(data);
    assert_ok(
        load_settings(&data, SETTINGS("data.path=c.data", "data.split=0", "data.header=yes")));
    assert_int_equal(data->train.n, 1);
    assert_string_equal(data->column[1], "2");
    tsr_data_destroy(data);
    put_text("days.csv", "2024-05-01,2024-05-02,y\n1,2,0\n3,4,1\n"); /* a table by days */
    assert_ok(load_settings(&data, SETTINGS("data.path=days.csv", "data.split=0")));
    assert_int_equal(data->train.n, 2);
    assert_string_equal(data->column[1], "2024-05-02");
    tsr_data_destroy(data);
}

static void csv_with_a_test_file(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("d.csv", "x,w,y\n1,a,p\n2,b,q\n");
    put_text("e.csv", "x,w,y\n3,c,r\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=d.csv", "data.test_path=e.csv")));
    assert_int_equal(data->test.n, 1);
    assert_int_equal(data->dim, 4);
    assert_int_equal(data->classes, 3);
    assert_int_equal(data->test.label[0], 2);
    tsr_data_destroy(data);
}

/* Every double that a short decimal text names is read as strtod reads it. */
static void csv_numbers_are_exact(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0.1",
                                          "123456.789",
                                          "1e22",
                                          "1e-22",
                                          "9007199254740993",
                                          "3.4e38",
                                          "1e-37",
                                          "-0.0",
                                          "0.30000001192092896",
                                          "16777217",
                                          "1.17549e-38",
                                          "2e-9",
                                          "00012.500",
                                          "7205759403792793.5"};
    tsr_data *data = NULL;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[200];
        (void)snprintf(text, sizeof text, "%s,0.5\n1,1.5\n", numbers[i]);
        put_text("n.csv", text);
        assert_ok(load_settings(
            &data, SETTINGS("data.path=n.csv", "data.split=0", "data.normalize=none")));
        assert_true(data->train.numbers[0] == (float)strtod(numbers[i], NULL));
        tsr_data_destroy(data);
    }
}

/* Blanks beside quotes and tabs beside cells are not part of them; a date with more behind it is a
 * word. Where most cells are words, so are its numbers, and very many words are told. */
static void csv_words_that_are_hard_to_tell(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    put_text("w.csv", "a,b,y\n\"p\" \t,2024-05-31x,1\n\"q\"\t,7,2\n 3\t,u,1\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=w.csv", "data.split=0")));
    static const char *const names[] = {"a=3", "a=p", "a=q", "b=2024-05-31x", "b=7", "b=u"};
    assert_int_equal(data->dim, 6);
    for (int k = 0; k < 6; k++)
        assert_string_equal(data->column[k], names[k]);
    tsr_data_destroy(data);

    put_text("w.tsv", "a\tb\ty\n\"p\"\t2024-05-31T12:00:00.5Z\t1\n\"q\" \t2024-06-01 6:00\t2\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=w.tsv", "data.split=0", "data.dates=days",
                                            "data.normalize=none")));
    assert_int_equal(data->dim, 3);
    assert_true(data->train.numbers[2] == 19874.5f && data->train.numbers[5] == 19875.25f);
    tsr_data_destroy(data);
    put_text("w.tsv", "b\ty\n2024-05-31 12\t1\n2024-05-31 12:3\t2\n2024-05-31 12:30:5\t2\n");
    assert_ok(load_settings(&data, SETTINGS("data.path=w.tsv", "data.split=0"))); /* no times */
    assert_string_equal(data->column[2], "b=2024-05-31 12:30:5");
    tsr_data_destroy(data);

    char text[1024] = "w,y\n";
    for (int i = 0; i < 51; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "w%d,%d\n", i, i % 2);
    put_text("w.csv", text);
    const char *told = NULL;
    tsr_set_log(keep_warning, &told, TSR_LOG_WARNING);
    assert_ok(load_settings(&data, SETTINGS("data.path=w.csv", "data.split=0")));
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    assert_non_null(told);
    assert_int_equal(data->dim, 51);
    tsr_data_destroy(data);
}

/* ---- Memory ------------------------------------------------------------------------------- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    walk_failures(SETTINGS("data.path=a.csv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_with_words_quotes_and_holes),
        cmocka_unit_test(csv_columns_by_name_and_number),
        cmocka_unit_test(csv_headers_are_guessed_or_told),
        cmocka_unit_test(csv_with_a_test_file),
        cmocka_unit_test(csv_numbers_are_exact),
        cmocka_unit_test(csv_words_that_are_hard_to_tell),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
