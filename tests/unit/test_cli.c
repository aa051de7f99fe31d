/* The parts of the command line that other commands stand on: options and operands, tables, and the
 * progress on a terminal (a pseudo-terminal, looked at from its other side) and elsewhere. */
#include "testing.h"

#include "base/text.h"
#include "cli/args.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/string.h"
#include "cli/training.h"

#include <math.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Options ------------------------------------------------------------------------------ */

static tsr_status nothing(const cli_args *args)
{
    (void)args;
    return TSR_OK;
}

static const cli_option options[] = {
    {"out", 'o', "DIR", CLI_FOLDER, .help = "folder"},
    {"set", 's', "KEY=VALUE", CLI_SETTING, .help = "change a key"},
    {"steps", 0, "N", CLI_INT, .help = "steps", .least = 1, .most = 100},
    {"rate", 0, "R", CLI_REAL, .help = "rate"},
    {"kind", 0, "KIND", CLI_CHOICE, .help = "kind", .choices = "a|bc"},
    {"force", 'f', NULL, CLI_FLAG, .help = "do it"},
    {0},
};

static const cli_command command = {.name = "try",
                                    .help = "try things",
                                    .synopsis = "FILE [FILE]",
                                    .least = 1,
                                    .most = 2,
                                    .options = options,
                                    .run = nothing};

/* Words separated by spaces; `store` holds them. */
static tsr_status read_words(cli_args *args, char *store)
{
    static char *argv[32];
    int argc = 0;
    argv[argc++] = "try";
    for (char *w = strtok(store, " "); w && argc < 31; w = strtok(NULL, " "))
        argv[argc++] = w;
    argv[argc] = NULL;
    return cli_args_read(args, &command, argc, argv);
}

static void options_are_read(void **state)
{
    (void)state;
    cli_args args;
    char words[] =
        "a.yaml --set x=1 -o runs -fq --set=y=2 --steps 7 b.yaml -s z=3 --rate -2.5e1 --kind bc";
    assert_ok(read_words(&args, words));
    assert_int_equal(args.count, 2);
    assert_string_equal(args.operand[0], "a.yaml");
    assert_string_equal(args.operand[1], "b.yaml");
    assert_string_equal(cli_text(&args, "out"), "runs");
    assert_string_equal(cli_nth(&args, "set", 0), "x=1");
    assert_string_equal(cli_nth(&args, "set", 1), "y=2");
    assert_string_equal(cli_nth(&args, "set", 2), "z=3");
    assert_null(cli_nth(&args, "set", 3));
    assert_true(cli_has(&args, "force") && args.quiet && !args.json && !args.help);
    assert_int_equal(cli_int(&args, "steps", 1), 7);
    assert_true(cli_real(&args, "rate", 0) == -25.0);
    assert_string_equal(cli_text(&args, "kind"), "bc");
    cli_args_fini(&args);
}

static void absent_options_have_presets(void **state)
{
    (void)state;
    cli_args args;
    char words[] = "-- --set";
    assert_ok(read_words(&args, words));
    assert_string_equal(args.operand[0], "--set");
    assert_null(cli_text(&args, "set"));
    assert_false(cli_has(&args, "force"));
    assert_int_equal(cli_int(&args, "steps", 5), 5);
    assert_true(cli_real(&args, "rate", 0.5) == 0.5);
    cli_args_fini(&args);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"a --foce", "try: unknown option '--foce'; did you mean --force?"},
        {"a --zzzzzz", "'tessera help try' lists them"},
        {"a -x", "unknown option '-x'"},
        {"a -fx", "unknown option '-x'"},
        {"a --out", "--out needs a value"},
        {"a -o", "-o needs a value"},
        {"a --force=1", "--force takes no value"},
        {"a --steps x", "--steps must be a whole number from 1 to 100, not 'x'"},
        {"a --steps 0", "from 1 to 100"},
        {"a --steps 1e1", "a whole number"},
        {"a --rate nan", "--rate must be a number, not 'nan'"},
        {"a --kind b", "must be one of a|bc"},
        {"a --kind a|bc", "must be one of"},
        {"", "FILE [FILE] is missing; usage: tessera try"},
        {"a b c", "unexpected argument 'c'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cli_args args;
        char words[128];
        (void)snprintf(words, sizeof words, "%s", bad[i][0]);
        assert_fails(read_words(&args, words), TSR_USAGE, bad[i][1]);
        cli_args_fini(&args);
    }
    cli_args args; /* --help asks for no operands */
    char words[] = "--help";
    assert_ok(read_words(&args, words));
    assert_true(args.help);
    cli_args_fini(&args);
}

/* ---- Tables ------------------------------------------------------------------------------- */

static char *print_table(const cli_table *t)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    assert_ok(cli_table_print(t, to));
    (void)fclose(to);
    return text;
}

static void tables_line_up(void **state)
{
    (void)state;
    cli_table t = {0};
    cli_table_head(&t, 3, "layer", "params", "note");
    cli_table_text(&t, "in");
    cli_table_int(&t, 7);
    cli_table_text(&t, "");
    cli_table_text(&t, "\xc3\xa9t\xc3\xa9\x1b[1m"); /* two-byte letters, and an escape */
    cli_table_int(&t, 12345678);
    cli_table_format(&t, "%s %d", "n", 3);
    char *text = print_table(&t);
    assert_string_equal(text, "layer      params  note\n"
                              "in              7\n"
                              "\xc3\xa9t\xc3\xa9?[1m  12345678  n 3\n");
    free(text);
    cli_table_fini(&t);
}

static void long_cells_wrap(void **state)
{
    (void)state;
    cli_table t = {0};
    cli_table_columns(&t, 2, 2);
    cli_table_text(&t, "key");
    cli_table_text(&t, "one two three four five six seven eight nine ten eleven twelve thirteen "
                       "fourteen fifteen");
    char *text = print_table(&t);
    assert_string_equal(text,
                        "  key  one two three four five six seven eight nine ten eleven twelve "
                        "thirteen\n       fourteen fifteen\n");
    free(text);
    cli_table_fini(&t);
}

static int64_t left; /* allocations that succeed */

static void *seldom(void *memory, size_t bytes)
{
    return left-- > 0 ? realloc(memory, bytes) : NULL;
}

static void tables_survive_failed_allocations(void **state)
{
    (void)state;
    tsr_status st = TSR_RESOURCES;
    FILE *null = fopen("/dev/null", "w");
    for (int64_t n = 0; st == TSR_RESOURCES; n++) {
        cli_table t = {0};
        left = n;
        cli_realloc = seldom;
        cli_table_head(&t, 2, "a", "b");
        for (int i = 0; i < 40; i++)
            cli_table_int(&t, i);
        st = cli_table_print(&t, null);
        cli_realloc = realloc;
        cli_table_fini(&t);
    }
    assert_ok(st);
    (void)fclose(null);
}

/* ---- Progress ----------------------------------------------------------------------------- */

/* A short job of about 0.35 s with an update each millisecond. */
static void job(bool quiet)
{
    cli_progress_begin("train", quiet);
    for (int i = 1; i <= 250; i++) {
        (void)usleep(1000);
        if (i == 125)
            cli_say("half way");
        cli_progress_update(i / 250.0, "epoch 1/1", "1000 samples/s", "loss 0.5");
    }
    cli_progress_end();
}

/* What the job writes to stderr when it is a terminal of `width` columns, or (0) a pipe. */
static void watch(tsri_text *out, void (*work)(bool quiet), unsigned short width, bool quiet)
{
    int fd = -1, ends[2];
    struct winsize size = {.ws_row = 24, .ws_col = width};
    if (width == 0)
        assert_int_equal(pipe(ends), 0);
    pid_t child = width > 0 ? forkpty(&fd, NULL, NULL, &size) : fork();
    if (child < 0 && width > 0) {
        print_message("there is no terminal here (is /dev/pts mounted?)\n");
        skip();
    }
    assert_true(child >= 0);
    if (child == 0) {
        if (width == 0)
            (void)dup2(ends[1], STDERR_FILENO);
        work(quiet);
        _exit(0);
    }
    if (width == 0) {
        (void)close(ends[1]);
        fd = ends[0];
    }
    char bytes[4096];
    ssize_t n = 0;
    while ((n = read(fd, bytes, sizeof bytes)) > 0)
        assert_ok(tsri_text_add_bytes(out, bytes, (size_t)n));
    (void)close(fd);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void watch_job(tsri_text *out, unsigned short width, bool quiet)
{
    watch(out, job, width, quiet);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* The longest run of characters between carriage returns, escapes not counted. */
static int widest(const char *text)
{
    int most = 0, at = 0;
    for (const char *p = text; *p; p++) {
        if (*p == '\x1b')
            p += strcspn(p, "mK");
        else if (*p == '\r' || *p == '\n')
            at = 0;
        else if (++at > most)
            most = at;
    }
    return most;
}

static void the_bar_is_drawn_on_a_terminal(void **state)
{
    (void)state;
    static const unsigned short widths[] = {120, 80, 40};
    (void)setenv("TERM", "xterm", 1);
    (void)setenv("NO_COLOR", "1", 1);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        tsri_text out = {0};
        watch_job(&out, widths[i], false);
        int redraws = count(out.data, "\rtrain ");
        /* 0.25 s at ten a second, one for the message and one at the end; a slow machine may
         * stretch the job, but then a redraw is still no more often than each tenth second. */
        assert_true(redraws >= 3 && redraws < 40);
        assert_true(widest(out.data) < widths[i]);
        assert_non_null(strstr(out.data, "100 %"));
        assert_non_null(strstr(out.data, "tessera: half way\r\n"));
        assert_null(strstr(out.data, "\x1b[36m"));
        assert_int_equal(out.data[out.length - 1], '\n');
        assert_int_equal(count(out.data, "\n"), 2);
        tsri_text_fini(&out);
    }
    (void)unsetenv("NO_COLOR");
    tsri_text out = {0};
    watch_job(&out, 80, false);
    assert_non_null(strstr(out.data, "\x1b[36m"));
    tsri_text_fini(&out);
}

static void plain_lines_elsewhere(void **state)
{
    (void)state;
    tsri_text out = {0};
    watch_job(&out, 0, false);
    const char *expected = "tessera: half way\n"
                           "train 100 %  epoch 1/1  1000 samples/s  loss 0.5  0:0";
    assert_int_equal(strncmp(out.data, expected, strlen(expected)), 0); /* then the seconds */
    assert_int_equal(count(out.data, "\n"), 2);
    tsri_text_fini(&out);
}

static void quiet_is_quiet(void **state)
{
    (void)state;
    tsri_text out = {0};
    watch_job(&out, 80, true);
    assert_string_equal(out.data, "tessera: half way\r\n");
    tsri_text_fini(&out);
}

/* A run of `seconds` for ten rounds. */
static void train_for(double seconds)
{
    cli_pace pace = {0};
    tsr_progress p = {.rounds = 10, .epochs = 1, .loss = 0.5};
    cli_progress_begin("train", false);
    cli_show_training(&pace, &p);
    p.round = 10;
    p.seconds = seconds;
    p.epoch = 1;
    p.test_rmse = p.test_accuracy = (double)NAN;
    p.evaluated = true;
    cli_show_training(&pace, &p);
    cli_progress_end();
}

static void fast(bool quiet)
{
    (void)quiet;
    train_for(0.5);
}

static void slow(bool quiet)
{
    (void)quiet;
    train_for(425);
}

/* 0.02353 rounds/s said nothing to anybody. */
static void slow_rounds_are_told_in_seconds(void **state)
{
    (void)state;
    tsri_text out = {0};
    watch(&out, fast, 0, false);
    assert_non_null(strstr(out.data, "  20 rounds/s  "));
    out.length = 0;
    watch(&out, slow, 0, false);
    assert_non_null(strstr(out.data, "  42.5 s/round  "));
    tsri_text_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_read),
        cmocka_unit_test(absent_options_have_presets),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(tables_line_up),
        cmocka_unit_test(long_cells_wrap),
        cmocka_unit_test(tables_survive_failed_allocations),
        cmocka_unit_test(the_bar_is_drawn_on_a_terminal),
        cmocka_unit_test(plain_lines_elsewhere),
        cmocka_unit_test(quiet_is_quiet),
        cmocka_unit_test(slow_rounds_are_told_in_seconds),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
