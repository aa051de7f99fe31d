/* Run files: what is accepted, what is refused and with which words, and that writing and reading
 * are inverse to each other. Bad files are one table; tests/cli/bad-runfiles.sh tries the program
 * on files of its own. */
#include "locale_testing.h"

#include "base/number.h"
#include "io/config.h"
#include "io/yaml.h"

static tsr_status parse(tsr_config **out, const char *text)
{
    return tsri_config_parse(out, text, (int64_t)strlen(text), "run.yaml");
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static void numbers_are_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     " 1",  "1 ",  "1e",  "e5",  ".",    "-",   "+",
                                      "0x10", "1_0", "nan", "inf", "1,5", "--1",  "1e+", "1.2.3",
                                      "1e5.", "NaN", "1f",  "1d0", "0b1", "0o17", "١",   "1e5e5"};
    double real = 7;
    int64_t whole = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tsri_number_real(&real, bad[i]), TSRI_NUMBER_FORM);
        assert_int_equal(tsri_number_int(&whole, bad[i]), TSRI_NUMBER_FORM);
    }
    assert_int_equal(tsri_number_real(&real, "1e400"), TSRI_NUMBER_RANGE);
    assert_int_equal(tsri_number_real(&real, "-1e400"), TSRI_NUMBER_RANGE);
    assert_int_equal(tsri_number_real(&real, "1e-400"), TSRI_NUMBER_RANGE);
    assert_int_equal(tsri_number_int(&whole, "9223372036854775808"), TSRI_NUMBER_RANGE);
    assert_int_equal(tsri_number_int(&whole, "-9223372036854775809"), TSRI_NUMBER_RANGE);
    assert_int_equal(tsri_number_int(&whole, "010"), TSRI_NUMBER_FORM);
    assert_int_equal(tsri_number_int(&whole, "1.0"), TSRI_NUMBER_FORM);
    assert_true(real == 7 && whole == 7);
    assert_int_equal(tsri_number_int(&whole, "-9223372036854775808"), TSRI_NUMBER_OK);
    assert_true(whole == INT64_MIN);
    assert_int_equal(tsri_number_int(&whole, "+9223372036854775807"), TSRI_NUMBER_OK);
    assert_true(whole == INT64_MAX);
    assert_int_equal(tsri_number_real(&real, "-.5e1"), TSRI_NUMBER_OK);
    assert_true(real == -5);
    assert_int_equal(tsri_number_real(&real, "0e999999999999"), TSRI_NUMBER_OK);
    assert_true(real == 0);
    assert_int_equal(tsri_number_real(&real, "5e-324"), TSRI_NUMBER_OK);
    assert_true(real > 0);
}

static void numbers_come_back(void **state)
{
    (void)state;
    static const double values[] = {
        0, 0.1, 1.0 / 3, 1e22, 5e-324, 1.7976931348623157e308, -2.5e-5, 123456789.125, 5e-4};
    char text[TSRI_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        double back = 0;
        assert_int_equal(tsri_number_real(&back, tsri_shortest(text, values[i])), TSRI_NUMBER_OK);
        assert_memory_equal(&back, &values[i], sizeof back);
    }
    assert_string_equal(tsri_shortest(text, 0.1), "0.1");
    assert_string_equal(tsri_shortest_float(text, 0.1f), "0.1");
}

/* A German locale writes 0,5; a run file never does. */
static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    german_locale(LC_ALL);
    char text[TSRI_NUMBER_TEXT], native[16];
    (void)snprintf(native, sizeof native, "%.1f", 0.5);
    assert_string_equal(native, "0,5");
    double real = 0;
    assert_int_equal(tsri_number_real(&real, "0.5"), TSRI_NUMBER_OK);
    assert_true(real == 0.5);
    assert_int_equal(tsri_number_real(&real, "0,5"), TSRI_NUMBER_FORM);
    assert_string_equal(tsri_shortest(text, 0.5), "0.5");
    tsr_config *c = NULL;
    tsri_text out = {0};
    assert_ok(parse(&c, "optim: {lr: 0.25}"));
    assert_ok(tsri_config_write(&out, c, "optim"));
    assert_non_null(strstr(out.data, "lr: 0.25\n"));
    tsri_text_fini(&out);
    tsr_config_destroy(c);
    (void)setlocale(LC_ALL, "C");
}

/* ---- Good files --------------------------------------------------------------------------- */

static void a_file_is_read(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    const int64_t *hidden = NULL;
    const double *milestones = NULL;
    assert_ok(parse(&c, "# a run\n"
                        "seed: 42\n"
                        "data:  {name: fashion-mnist, header: yes, target: 3}\n"
                        "model:\n"
                        "  hidden:\n"
                        "    - 64\n"
                        "    - 32\n"
                        "  bias: false\n"
                        "loss: cross_entropy\n"
                        "optim: {lr: 5.0e-2, milestones: [0.5, 1], \"schedule\": 'cosine'}\n"));
    assert_int_equal(tsri_config_int(c, "seed"), 42);
    assert_string_equal(tsri_config_text(c, "data.name"), "fashion-mnist");
    assert_string_equal(tsri_config_text(c, "data.header"), "yes");
    assert_string_equal(tsri_config_text(c, "data.target"), "3");
    assert_int_equal(tsri_config_ints(c, "model.hidden", &hidden), 2);
    assert_true(hidden[0] == 64 && hidden[1] == 32);
    assert_false(tsri_config_bool(c, "model.bias"));
    assert_string_equal(tsri_config_text(c, "loss"), "cross_entropy");
    assert_true(tsri_config_real(c, "optim.lr") == 0.05);
    assert_int_equal(tsri_config_reals(c, "optim.milestones", &milestones), 2);
    assert_true(milestones[0] == 0.5 && milestones[1] == 1);
    assert_string_equal(tsri_config_text(c, "optim.schedule"), "cosine");
    assert_true(tsri_config_is(c, "optim.schedule", "cosine"));
    assert_false(tsri_config_is(c, "optim.schedule", "step"));
    assert_true(tsri_config_given(c, "optim.lr"));
    assert_false(tsri_config_given(c, "optim.momentum"));
    assert_true(tsri_config_real(c, "optim.momentum") == 0.9);
    assert_null(tsri_config_text(c, "data.path"));
    assert_string_equal(tsri_config_place(c, "optim.lr"), "run.yaml:10:13");
    assert_string_equal(tsri_config_place(c, "optim.momentum"), "run.yaml");
    assert_string_equal(tsri_config_place(c, "data.path"), "run.yaml");
    assert_ok(tsr_config_set(c, "data.path=x.csv"));
    assert_string_equal(tsri_config_text(c, "data.path"), "x.csv");
    tsri_config_unset(c, "data.path");
    assert_null(tsri_config_text(c, "data.path"));
    assert_false(tsri_config_given(c, "data.path"));
    tsr_config_destroy(c);
    assert_ok(tsr_config_create(&c));
    assert_string_equal(tsri_config_place(c, "optim.momentum"), "default");
    tsr_config_destroy(c);
}

static void json_is_yaml(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    const int64_t *hidden = NULL;
    assert_ok(parse(&c, "\xef\xbb\xbf{\"seed\":7,\"data\":{\"path\":\"a\\/b\\u00e9\"},\r\n"
                        "\t\"model\":{\"hidden\":[]}}\n"));
    assert_int_equal(tsri_config_int(c, "seed"), 7);
    assert_string_equal(tsri_config_text(c, "data.path"), "a/b\xc3\xa9");
    assert_int_equal(tsri_config_ints(c, "model.hidden", &hidden), 0);
    tsr_config_destroy(c);
}

static void options_change_values(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    const int64_t *hidden = NULL;
    assert_ok(tsr_config_create(&c));
    assert_ok(tsr_config_set(c, "optim.lr=0.05"));
    assert_ok(tsr_config_set(c, "model.hidden=[8, 9, 10]"));
    assert_ok(tsr_config_set(c, "data.path=/a: b/#c=d*"));
    assert_ok(tsr_config_set(c, "optim={name: gd, nesterov: true}"));
    assert_true(tsri_config_real(c, "optim.lr") == 0.05);
    assert_int_equal(tsri_config_ints(c, "model.hidden", &hidden), 3);
    assert_true(hidden[2] == 10);
    assert_string_equal(tsri_config_text(c, "data.path"), "/a: b/#c=d*");
    assert_string_equal(tsri_config_text(c, "optim.name"), "gd");
    assert_true(tsri_config_bool(c, "optim.nesterov"));
    assert_string_equal(tsri_config_place(c, "optim.lr"), "--set optim.lr");
    tsr_config_destroy(c);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"optim.lr", "--set optim.lr: expected key=value"},
        {"=3", "expected key=value"},
        {"optim.lr=", "--set optim.lr: there is no value"},
        {"optim.lr=# no", "--set optim.lr: there is no value"},
        {"optim.lr=fast",
         "--set optim.lr: optim.lr must be a number from 0 to 1000000, not 'fast'"},
        {"optim.ls=1", "--set optim.ls: unknown key 'ls' in optim; did you mean optim.lr?"},
        {"optin.lr=1", "--set optin.lr: unknown key"},
        {"lr=1", "--set lr: unknown key 'lr'; did you mean optim.lr?"},
        {"optim=sgd", "--set optim: optim is a section of keys; write optim: {name: sgd}"},
        {"optim=[1]", "optim is a section of keys, not a list"},
        {"model.hidden=8", "write [8]"},
        {"model.hidden=[8", "--set model.hidden: not valid YAML"},
        {"seed=1\x01", "control character"},
        {"data.path=\xff", "not UTF-8"},
        {"data.path=", "data.path must be a text"},
        {"loss=mes", "did you mean mse?"},
    };
    tsr_config *c = NULL;
    assert_ok(tsr_config_create(&c));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(tsr_config_set(c, bad[i][0]), TSR_USAGE, bad[i][1]);
    static char longest[TSRI_YAML_SCALAR_MAX + 20] = "data.path=";
    memset(longest + 10, 'p', TSRI_YAML_SCALAR_MAX + 1);
    assert_fails(tsr_config_set(c, longest), TSR_USAGE, "longer than 65536 bytes");
    assert_string_equal(tsri_config_place(c, "optim.lr"), "default");
    tsr_config *named = NULL;
    assert_ok(parse(&named, "seed: 1\n"));
    assert_string_equal(tsri_config_place(named, "optim.lr"), "run.yaml");
    tsr_config_destroy(named);
    char longer[1000];
    memset(longer, 'k', sizeof longer);
    memcpy(longer + sizeof longer - 3, "=1", 3);
    assert_fails(tsr_config_set(c, longer), TSR_USAGE, "no key is that long");
    tsr_config_destroy(c);
}

/* ---- Bad files ---------------------------------------------------------------------------- */

static const struct bad_file {
    const char *text, *place, *words;
} bad_files[] = {
    {"", "run.yaml:1:1", "empty"},
    {"  \n\n", "run.yaml:1:1", "empty"},
    {"# only a comment\n", "run.yaml:1:1", "empty"},
    {"---\n", "run.yaml:1:1", "empty"},
    {"{}", "run.yaml:1:1", "empty"},
    {"seed", "run.yaml:1:1", "keys and values"},
    {"- seed\n", "run.yaml:1:1", "keys and values"},
    {"sead: 1\n", "run.yaml:1:1", "did you mean seed?"},
    {"seed: 1\noptim:\n  lr: 0.1\n  momentun: 0.9\n", "run.yaml:4:3",
     "did you mean optim.momentum?"},
    {"optimizer: {lr: 1}\n", "run.yaml:1:1", "unknown key 'optimizer'"},
    {"xyzzyplugh: 1\n", "run.yaml:1:1", "expected one of seed, threads"},
    {"momentum: 0.9\n", "run.yaml:1:1", "did you mean optim.momentum?"},
    {"optim.lr: 0.9\n", "run.yaml:1:1", "write optim: {lr: ...}"},
    {"optim: {seed: 1}\n", "run.yaml:1:9", "did you mean seed?"},
    {"model: mlp\n", "run.yaml:1:8", "write model: {name: mlp}"},
    {"model: [mlp]\n", "run.yaml:1:8", "not a list; write model: {name: ...}"},
    {"model:\nseed: 1\n", "run.yaml:1:7", "has no keys"},
    {"seed: 1\nseed: 2\n", "run.yaml:2:1", "'seed' is given twice, first at line 1"},
    {"optim: {lr: 1, lr: 2}\n", "run.yaml:1:16", "given twice"},
    {"{\"seed\": 1, \"seed\": 1}", "run.yaml:1:13", "given twice"},
    {"seed: one\n", "run.yaml:1:7", "a whole number from 0 to 9007199254740992, not 'one'"},
    {"seed: 1.5\n", "run.yaml:1:7", "in digits only"},
    {"seed: 1e3\n", "run.yaml:1:7", "in digits only"},
    {"seed: 0x10\n", "run.yaml:1:7", "a whole number"},
    {"seed: 010\n", "run.yaml:1:7", "leading zeros"},
    {"seed: 1_000\n", "run.yaml:1:7", "without separators"},
    {"seed: -1\n", "run.yaml:1:7", "from 0"},
    {"seed: 9007199254740993\n", "run.yaml:1:7", "to 9007199254740992"},
    {"seed: 99999999999999999999\n", "run.yaml:1:7", "to 9007199254740992"},
    {"seed: \"1\"\n", "run.yaml:1:7", "remove the quotes"},
    {"seed: true\n", "run.yaml:1:7", "a whole number"},
    {"seed:\n", "run.yaml:1:6", "has no value"},
    {"seed: ~\n", "run.yaml:1:7", "has no value"},
    {"seed: null\n", "run.yaml:1:7", "has no value"},
    {"seed: [1]\n", "run.yaml:1:7", "not a list"},
    {"seed: {a: 1}\n", "run.yaml:1:7", "not a mapping"},
    {"optim: {lr: 1e}\n", "run.yaml:1:13", "a number from 0 to 1000000, not '1e'"},
    {"optim: {lr: nan}\n", "run.yaml:1:13", "a number"},
    {"optim: {lr: .nan}\n", "run.yaml:1:13", "a number"},
    {"optim: {lr: inf}\n", "run.yaml:1:13", "a number"},
    {"optim: {lr: .inf}\n", "run.yaml:1:13", "a number"},
    {"optim: {lr: 1e400}\n", "run.yaml:1:13", "a number from 0 to 1000000"},
    {"optim: {lr: -0.1}\n", "run.yaml:1:13", "from 0 to"},
    {"optim: {lr: 1e-999}\n", "run.yaml:1:13", "a number"},
    {"optim:\n  lr: 0,1\n", "run.yaml:2:7", "decimal point"},
    {"optim: {momentum: 1}\n", "run.yaml:1:19", "to 0.9999999"},
    {"optim: {nesterov: yes}\n", "run.yaml:1:19", "true or false, not 'yes'"},
    {"optim: {nesterov: True}\n", "run.yaml:1:19", "true or false"},
    {"optim: {nesterov: 1}\n", "run.yaml:1:19", "true or false"},
    {"optim: {name: sdg}\n", "run.yaml:1:15",
     "one of sgd, gd, adam, adamw, not 'sdg'; did you mean sgd?"},
    {"optim: {name: [sgd]}\n", "run.yaml:1:15", "not a list"},
    {"data: {path: \"\"}\n", "run.yaml:1:14", "leave the key out"},
    {"data: {path: {a: b}}\n", "run.yaml:1:14", "a text, not a mapping"},
    {"model: {hidden: 256}\n", "run.yaml:1:17", "write [256]"},
    {"model: {hidden: [1, 2, x]}\n", "run.yaml:1:24", "; 'x' is not one"},
    {"model: {hidden: [1, [2]]}\n", "run.yaml:1:21", "; a list is not one"},
    {"optim: {milestones: 0.5}\n", "run.yaml:1:21", "a list of numbers"},
    {"model: {hidden: [0]}\n", "run.yaml:1:18", "from 1 to"},
    {"model: {hidden: {a: 1}}\n", "run.yaml:1:17", "not a mapping"},
    {"optim: {milestones: [0.5, 1.5]}\n", "run.yaml:1:27", "from 0 to 1"},
    {"seed: &a 1\n", "run.yaml:1:7", "anchors"},
    {"data: {name: *a}\n", "run.yaml:1:14", "aliases"},
    {"seed: !!int 1\n", "run.yaml:1:7", "tags"},
    {"model: !net {name: mlp}\n", "run.yaml:1:8", "tags"},
    {"%TAG ! x:\n---\nseed: 1\n", "run.yaml:1:1", "%TAG"},
    {"seed: 1\n---\nseed: 2\n", "run.yaml:2:1", "second document"},
    {"seed: 1\n...\nseed: 2\n", "run.yaml:", ""},
    {"seed: [1\n", "run.yaml:2:1", "not valid YAML"},
    {"seed: {\n", "run.yaml:2:1", "not valid YAML"},
    {"seed: 'x\n", "run.yaml:2:1", "not valid YAML"},
    {"optim:\n\tlr: 1\n", "run.yaml:2:1", "spaces, not tabs"},
    {"data: {path: @x}\n", "run.yaml:1:14", "in quotes"},
    {"a: b: c\n", "run.yaml:1:5", "indentation"},
    {"optim:\n   lr: 1\n  gamma: 1\n", "run.yaml:3:3", "not valid YAML"},
    {"? [a]\n: 1\n", "run.yaml:1:3", "a key must be a word"},
    {"seed: 1\n\xff\n", "run.yaml:2:1", "UTF-8"},
    {"s\xc0\xafx: 1\n", "run.yaml:1:2", "UTF-8"},
    {"\xed\xa0\x80: 1\n", "run.yaml:1:1", "UTF-8"},
    {"data: {path: a\x07}\n", "run.yaml:1:15", "control character"},
    {"data: {path: \"a\\0b\"}\n", "run.yaml:1:14", "zero byte"},
    {"\x1b[31mred: 1\n", "run.yaml:1:1", "control character"},
    {"\"\\e[31m\": 1\n", "run.yaml:1:1", "'\\x1b[31m'"},
    {"a: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", "run.yaml:1:", "nested deeper"},
};

static void bad_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        const struct bad_file *b = &bad_files[i];
        tsr_config *c = NULL;
        tsr_status st = parse(&c, b->text);
        if (st != TSR_USAGE || strncmp(tsr_last_error(), b->place, strlen(b->place)) != 0 ||
            !strstr(tsr_last_error(), b->words))
            fail_msg("case %zu \"%s\": status %d, \"%s\"; expected %s ... %s", i,
                     tsri_quote(b->text), (int)st, tsr_last_error(), b->place, b->words);
        assert_null(c);
    }
}

/* Large and hostile texts end quickly, with little memory. */
static void hostile_files_are_refused(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    tsri_text t = {0};
    assert_fails(tsri_config_parse(&c, "seed: 1\0", 8, "run.yaml"), TSR_USAGE, "zero byte");
    for (int i = 0; i < 200000; i++)
        assert_ok(tsri_text_add_bytes(&t, "[", 1));
    assert_fails(tsri_config_parse(&c, t.data, t.length, "x"), TSR_USAGE, "nested deeper");
    t.length = 0;
    assert_ok(tsri_text_add(&t, "model: {hidden: ["));
    for (int i = 0; i < 100000; i++)
        assert_ok(tsri_text_add_bytes(&t, "1,", 2));
    assert_ok(tsri_text_add(&t, "1]}"));
    assert_fails(tsri_config_parse(&c, t.data, t.length, "x"), TSR_USAGE, "more than 10000 values");
    t.length = 0;
    for (int i = 0; i < 60000; i++)
        assert_ok(tsri_text_add(&t, "key%d: 1\n", i));
    assert_fails(tsri_config_parse(&c, t.data, t.length, "x"), TSR_USAGE, "more than 10000 values");
    t.length = 0;
    assert_ok(tsri_text_add(&t, "data: {path: "));
    for (int i = 0; i < 100000; i++)
        assert_ok(tsri_text_add_bytes(&t, "x", 1));
    assert_ok(tsri_text_add(&t, "}"));
    assert_fails(tsri_config_parse(&c, t.data, t.length, "x"), TSR_USAGE, "longer than 65536");
    while (t.length <= 1000000)
        assert_ok(tsri_text_add(&t, "# %070d\n", 0));
    assert_fails(tsri_config_parse(&c, t.data, t.length, "x"), TSR_USAGE, "larger than 1.00 MB");
    assert_null(c);
    tsri_text_fini(&t);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static void round_trip(const tsr_config *c, const char *section)
{
    tsri_text a = {0}, b = {0}, differences = {0};
    tsr_config *back = NULL;
    assert_ok(tsri_config_write(&a, c, section));
    assert_ok(tsri_config_parse(&back, a.data, a.length, "written"));
    assert_ok(tsri_config_write(&b, back, section));
    assert_string_equal(a.data, b.data);
    if (!section) {
        assert_ok(tsri_config_differences(&differences, c, back));
        assert_int_equal(differences.length, 0);
    }
    tsr_config_destroy(back);
    tsri_text_fini(&a);
    tsri_text_fini(&b);
    tsri_text_fini(&differences);
}

static void writing_reads_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"plain",
                                        "with space",
                                        "3",
                                        "true",
                                        "null",
                                        "~",
                                        "-",
                                        "- a",
                                        "a: b",
                                        "#x",
                                        "a #b",
                                        "'",
                                        "\"",
                                        "\\",
                                        "a\\n",
                                        "*x",
                                        "&x",
                                        "!x",
                                        "%x",
                                        "@x",
                                        "`x",
                                        "{x",
                                        "[x",
                                        "|",
                                        ">",
                                        "?",
                                        "? x",
                                        ":",
                                        "...",
                                        "---",
                                        "\xc3\xa9t\xc3\xa9",
                                        "\xe2\x80\xa8",
                                        "\xc2\x85",
                                        "\xf0\x9f\x98\x80",
                                        " a",
                                        "a ",
                                        "a\tb",
                                        "a\nb",
                                        "a\r\nb\n",
                                        "NULL",
                                        "1e5",
                                        "\xef\xbf\xbd",
                                        "/data/x.csv",
                                        "../x",
                                        "a,b",
                                        "0x1"};
    tsr_config *c = NULL;
    assert_ok(tsr_config_create(&c));
    round_trip(c, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char assignment[64];
        (void)snprintf(assignment, sizeof assignment, "data.path=%s", texts[i]);
        assert_ok(tsr_config_set(c, assignment));
        round_trip(c, NULL);
    }
    assert_ok(tsr_config_set(c, "data={path: \"a\\x01\\u009f\\u2029\\uFEFF\\\\\"}"));
    round_trip(c, NULL);
    assert_ok(tsr_config_set(c, "optim.lr=0.30000000000000004"));
    assert_ok(tsr_config_set(c, "optim.milestones=[]"));
    round_trip(c, NULL);
    round_trip(c, "optim");
    round_trip(c, "model");
    tsr_config_destroy(c);
}

static void a_section_can_be_written_alone(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    tsri_text out = {0};
    assert_ok(parse(&c, "model: {hidden: [3, 4]}"));
    assert_ok(tsri_config_write(&out, c, "model"));
    assert_int_equal(strncmp(out.data, "model:\n  name: mlp\n  hidden: [3, 4]\n", 35), 0);
    assert_null(strstr(out.data, "seed"));
    tsri_text_fini(&out);
    tsr_config_destroy(c);
}

/* To YAML 1.1, which PyYAML reads, 1e-8 is a word, `on` is true and 3 is a number. */
static void files_say_to_others_what_is_meant(void **state)
{
    (void)state;
    tsr_config *c = NULL;
    tsri_text out = {0};
    assert_ok(parse(&c, "skip: on\ndata: {target: 3, path: \"2026-11-19\"}\n"
                        "optim: {name: adamw, epsilon: 1e-8, lr: 2.5e-7}"));
    assert_ok(tsri_config_write(&out, c, NULL));
    assert_non_null(strstr(out.data, "skip: \"on\"\n"));
    assert_non_null(strstr(out.data, "target: \"3\"\n"));
    assert_non_null(strstr(out.data, "path: \"2026-11-19\"\n"));
    assert_non_null(strstr(out.data, "epsilon: 1.0e-8\n"));
    assert_non_null(strstr(out.data, "lr: 2.5e-7\n"));
    tsri_text_fini(&out);
    round_trip(c, NULL);
    tsr_config_destroy(c);
}

static void differences_are_named(void **state)
{
    (void)state;
    tsr_config *a = NULL, *b = NULL;
    tsri_text out = {0};
    assert_ok(parse(&a, "seed: 1\noptim: {lr: 0.1}"));
    assert_ok(parse(&b, "optim: {lr: 0.2}\ndata: {path: x y}"));
    assert_ok(tsri_config_differences(&out, a, b));
    assert_string_equal(out.data, "data.path: (none) -> \"x y\"\noptim.lr: 0.1 -> 0.2\n");
    tsri_text_fini(&out);
    tsr_config_destroy(a);
    tsr_config_destroy(b);
}

/* optim.name: gd is plain gradient descent: its momentum is 0 unless one is given. It once was 0.9,
 * and theorems about gradient descent were judged on runs of the heavy ball. */
static void defaults_that_depend(void **state)
{
    (void)state;
    static const struct {
        const char *text, *then;
        double momentum;
    } cases[] = {{"seed: 1", "seed=2", 0.9},
                 {"optim: {name: gd}", "seed=2", 0},
                 {"optim: {name: gd, momentum: 0.9}", "seed=2", 0.9},
                 {"optim: {momentum: 0.5}", "optim.name=gd", 0.5},
                 {"seed: 1", "optim.name=gd", 0},
                 {"optim: {name: gd}", "optim.name=sgd", 0.9},
                 {"optim: {name: gd}", "optim={lr: 0.1}", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_config *c = NULL, *copy = NULL, *back = NULL;
        tsri_text out = {0};
        assert_ok(parse(&c, cases[i].text));
        assert_ok(tsr_config_set(c, cases[i].then));
        assert_true(tsri_config_real(c, "optim.momentum") == cases[i].momentum);
        assert_ok(tsri_config_copy(&copy, c));
        assert_true(tsri_config_real(copy, "optim.momentum") == cases[i].momentum);
        assert_ok(tsri_config_write(&out, c, NULL)); /* a resolved run file says it outright */
        assert_ok(parse(&back, out.data));
        assert_true(tsri_config_real(back, "optim.momentum") == cases[i].momentum);
        assert_true(tsri_config_given(back, "optim.momentum"));
        tsri_text_fini(&out);
        tsr_config_destroy(c);
        tsr_config_destroy(copy);
        tsr_config_destroy(back);
    }
}

/* ---- The schema itself -------------------------------------------------------------------- */

static void the_schema_is_sound(void **state)
{
    (void)state;
    for (int64_t i = 0; i < tsri_schema_count; i++) {
        const tsri_schema_row *row = &tsri_schema[i];
        tsri_text expected = {0};
        assert_ok(tsri_schema_expected(&expected, row));
        tsri_text_fini(&expected);
        assert_true(tsri_schema_find(row->key) == i); /* no key twice */
        assert_true(strlen(row->key) < 64 && *row->help);
        assert_true(!row->when == !row->instead && (!row->when || row->preset));
        assert_true((row->type == TSRI_TYPE_CHOICE) == (row->choices != NULL));
        assert_true(row->least <= row->most && row->most < 9e18 && row->least > -9e18);
        /* A section's rows stand together, else it would be written twice; no key is also a
         * section. */
        size_t n = strcspn(row->key, ".");
        bool left = false;
        for (int64_t j = i + 1; j < tsri_schema_count; j++) {
            bool same = strcspn(tsri_schema[j].key, ".") == n &&
                        strncmp(tsri_schema[j].key, row->key, n) == 0;
            if (same && (left || row->key[n] != '.'))
                fail_msg("%s belongs to the rows of its section", tsri_schema[j].key);
            left = left || !same;
        }
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *text = "data: {path: x}\nmodel: {hidden: [1, 2]}\noptim: {milestones: [0.5]}\n";
    const char *wrong = "optim: {momentun: 1}\n";
    tsr_status st = TSR_RESOURCES;
    for (int64_t n = 0; st == TSR_RESOURCES; n++) {
        tsr_config *c = NULL;
        tsri_text out = {0};
        (void)tsri_alloc_fail_after(n, true);
        st = parse(&c, text);
        if (st == TSR_OK)
            st = tsr_config_set(c, "model.hidden=[3]");
        if (st == TSR_OK)
            st = tsri_config_write(&out, c, NULL);
        (void)tsri_alloc_fail_after(-1, false);
        tsri_text_fini(&out);
        tsr_config_destroy(c);
    }
    assert_int_equal(st, TSR_OK);
    st = TSR_RESOURCES;
    for (int64_t n = 0; st == TSR_RESOURCES; n++) {
        tsr_config *c = NULL;
        (void)tsri_alloc_fail_after(n, true);
        st = parse(&c, wrong);
        (void)tsri_alloc_fail_after(-1, false);
        assert_null(c);
    }
    assert_int_equal(st, TSR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_strict),
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(a_file_is_read),
        cmocka_unit_test(json_is_yaml),
        cmocka_unit_test(options_change_values),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(writing_reads_back),
        cmocka_unit_test(a_section_can_be_written_alone),
        cmocka_unit_test(files_say_to_others_what_is_meant),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test(defaults_that_depend),
        cmocka_unit_test(the_schema_is_sound),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
