/* Data for a model (dataset.h, tsri_data_load_like): matched with the schema of the data that it
 * was trained on, by names where both have them, else by place; pictures and arrays by shape. */
#include "data_testing.h"

#include "data/image.h"

/* A schema as model files have it. */
#define TABLE(columns, rest)                                                                       \
    "{\"kind\":\"table\",\"columns\":[" columns "],\"normalize\":\"none\",\"target_scale\":"       \
    "\"none\"," rest "}"
#define NUMBER(name) "{\"name\":\"" name "\"}"

static tsri_data_schema schema;
static tsri_scaling scaling;
static char *const letters[] = {"a", "b"};

static tsri_like like_of(const char *text, bool unlabelled)
{
    tsri_data_schema_fini(&schema);
    assert_ok(tsri_data_schema_read(&schema, text, "model"));
    tsri_like like = {&scaling, &schema, NULL,          schema.classes, schema.classes == 0,
                      1,        1,       schema.fields, unlabelled};
    return like;
}

/* ---- Schemas ------------------------------------------------------------------------------- */

static void bad_schemas(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"{", "tessera.schema"},
        {"{\"kind\":\"heap\"}", "no such kind"},
        {"{\"kind\":\"table\"}", "no columns"},
        {TABLE("3", "\"classes\":2"), "a column is not an object"},
        {TABLE("{\"name\":3}", "\"classes\":2"), "a name is not text"},
        {TABLE("{\"words\":3}", "\"classes\":2"), "names are not a list"},
        {TABLE("{\"words\":[null]}", "\"classes\":2"), "a word is missing"},
        {TABLE(NUMBER("x"), "\"classes\":-1"), "number of classes"},
        {"{\"kind\":\"table\",\"columns\":[],\"classes\":2}", "normalize and target_scale"},
        {TABLE(NUMBER("x") ",{\"name\":null}", "\"classes\":2"), "some columns have no name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsri_data_schema s;
        assert_fails(tsri_data_schema_read(&s, bad[i].text, "model"), TSR_BAD_FILE, bad[i].why);
        tsri_data_schema_fini(&s);
    }
}

static void differences_of_schemas(void **state)
{
    (void)state;
    tsri_data_schema one, two;
    tsri_text text = {0};
    assert_ok(tsri_data_schema_read(&one, TABLE(NUMBER("x"), "\"classes\":2"), "one"));
    assert_ok(tsri_data_schema_read(
        &two, TABLE("{\"name\":null},{\"words\":[\"p\"]}", "\"classes\":0,\"targets\":[null]"),
        "two"));
    assert_string_equal(tsri_data_schema_differs(&one, &two), "1 columns of inputs here, 2 there");
    assert_ok(tsri_data_schema_text(&text, &two));
    assert_non_null(strstr(text.data, "column 2"));
    tsri_json w = {0}; /* and back: what has no name is null */
    tsri_data_schema_write(&w, &two);
    assert_ok(tsri_json_end(&w));
    assert_non_null(strstr(w.text.data, "{\"name\":null,\"words\":[\"p\"]}"));
    tsri_json_fini(&w);
    tsri_text_fini(&text);
    tsri_data_schema_fini(&one);
    tsri_data_schema_fini(&two);
}

/* ---- Tables -------------------------------------------------------------------------------- */

static void columns_by_name(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_like like = like_of(TABLE("{\"name\":\"w\",\"words\":[\"p\",\"q\"]}," NUMBER("x"),
                                   "\"classes\":2,\"targets\":[\"y\"],\"ignored\":[null,\"id\"]"),
                             false);
    like.width = 3;
    put_text("n.csv", "y,x,id,new,w\n1,5,7,8,q\n0,6,7,8,p\n");
    put_text("m.csv", "y,x,id,new,w\n1,5,7,8,p\n");
    assert_ok(
        load_settings_like(&data, SETTINGS("data.path=n.csv", "data.test_path=m.csv"), &like));
    static const float x[] = {0, 1, 5, 1, 0, 6};
    assert_memory_equal(data->train.numbers, x, sizeof x);
    assert_true(data->train.label[0] == 1 && data->test.label[0] == 1);
    tsr_data_destroy(data);
    put_text("n.csv", "y,x,w\n2,5,q\n");
    assert_fails(load_settings_like(&data, SETTINGS("data.path=n.csv", "data.split=0"), &like),
                 TSR_BAD_FILE, "\"2\" is not one of the model's classes (0 to 1)");
    put_text("n.csv", "y,x,w\n1,2024-05-31,q\n");
    assert_fails(load_settings_like(&data, SETTINGS("data.path=n.csv", "data.split=0"), &like),
                 TSR_BAD_FILE, "is a date, but the model takes this column for numbers");
    assert_ok(load_settings_like(
        &data, SETTINGS("data.path=n.csv", "data.split=0", "data.dates=days"), &like));
    assert_true(data->train.numbers[2] == 19874.0f);
    tsr_data_destroy(data);
}

/* Numbers of either kind in a column of dates: days since 1970 they are not. */
static void numbers_among_dates(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_like like = like_of(
        TABLE("{\"name\":\"d\",\"dates\":true}", "\"classes\":2,\"targets\":[\"y\"]"), false);
    static const char *const cell[] = {"19874", "\"19874,5\""};
    for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
        char table[64];
        (void)snprintf(table, sizeof table, "d,y\n%s,1\n", cell[i]);
        put_text("d.csv", table);
        assert_fails(load_settings_like(&data, SETTINGS("data.path=d.csv", "data.split=0"), &like),
                     TSR_BAD_FILE, "is not a date, but the model takes this column for dates");
    }
    tsri_field days = {.dates = 1}, numbers = {.dates = 0};
    const tsri_data_schema here = {.fields = 1, .field = &days},
                           there = {.fields = 1, .field = &numbers};
    assert_string_equal(tsri_data_schema_differs(&here, &there), "column 1 is dates here");
    assert_string_equal(tsri_data_schema_differs(&there, &here), "column 1 is no dates here");
}

/* A target without a name cannot be found in a table with a header. */
static void a_target_without_a_name(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_like like = like_of(TABLE(NUMBER("x"), "\"classes\":2,\"targets\":[null]"), false);
    put_text("t.csv", "x,y\n1,0\n");
    assert_fails(load_settings_like(&data, SETTINGS("data.path=t.csv", "data.split=0"), &like),
                 TSR_BAD_FILE, "the model's target");
}

static void columns_by_place(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    tsri_like like = like_of(TABLE("{},{}", "\"classes\":0,\"targets\":[null]"), true);
    put_text("p.csv", "1,9,2,0.5\n3,9,4,1.5\n");
    assert_ok(load_settings_like(
        &data, SETTINGS("data.path=p.csv", "data.split=0", "data.target=4", "data.ignore=2,4"),
        &like));
    static const float x[] = {1, 2, 3, 4};
    assert_memory_equal(data->train.numbers, x, sizeof x);
    assert_true(data->train.target[1] == 1.5f);
    tsr_data_destroy(data);
}

/* ---- Pictures and arrays ------------------------------------------------------------------- */

static void pictures_in_grey(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    uint8_t rgb[4 * 4 * 3];
    for (int i = 0; i < 48; i++)
        rgb[i] = (uint8_t)(i % 3 == 0 ? 255 : 0);
    tsri_like like = like_of("{\"kind\":\"images\",\"columns\":[],\"classes\":2,\"normalize\":"
                             "\"none\",\"target_scale\":\"none\"}",
                             false);
    like.height = like.width = 4;
    like.class_name = letters;
    put_folder("grey/a");
    put_folder("grey/b");
    assert_ok(tsri_png_write(scratch_path("grey/a/1.png"), rgb, 4, 4));
    assert_ok(tsri_png_write(scratch_path("grey/b/1.png"), rgb, 4, 4));
    assert_ok(load_settings_like(&data, SETTINGS("data.path=grey", "data.split=0"), &like));
    assert_int_equal(data->channels, 1);
    assert_int_equal(data->train.bytes[0], 76); /* 0.299 of 255 */
    tsr_data_destroy(data);
    like.channels = 2;
    assert_fails(load_settings_like(&data, SETTINGS("data.path=grey"), &like), TSR_BAD_FILE,
                 "the model takes 2");
}

static void arrays_by_shape(void **state)
{
    (void)state;
    tsr_data *data = NULL;
    static const float x[] = {1, 2, 3, 4, 0, 1};
    tsri_like like = like_of("{\"kind\":\"arrays\",\"columns\":[],\"classes\":2,\"normalize\":"
                             "\"none\",\"target_scale\":\"none\"}",
                             true);
    like.width = 3;
    put_npy("s.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", x, sizeof x);
    assert_fails(load_settings_like(&data, SETTINGS("data.path=s.npy", "data.split=0"), &like),
                 TSR_BAD_FILE, "samples of 2 numbers, but the model takes 3");
    like.width = 2;
    assert_ok(load_settings_like(&data, SETTINGS("data.path=s.npy", "data.split=0"), &like));
    assert_true(data->dim == 2 && !data->train.label);
    tsr_data_destroy(data);
    put_folder("xy");
    put_npy("xy/x.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", x, sizeof x);
    put_npy("xy/y.npy", "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\0\1\1", 3);
    assert_ok(load_settings_like(&data, SETTINGS("data.path=xy/x.npy", "data.split=0"), &like));
    assert_int_equal(data->train.label[2], 1);
    tsr_data_destroy(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_schemas),         cmocka_unit_test(differences_of_schemas),
        cmocka_unit_test(columns_by_name),     cmocka_unit_test(a_target_without_a_name),
        cmocka_unit_test(columns_by_place),    cmocka_unit_test(pictures_in_grey),
        cmocka_unit_test(numbers_among_dates), cmocka_unit_test(arrays_by_shape),
    };
    int failed = cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
    tsri_data_schema_fini(&schema);
    return nothing_left(failed);
}
