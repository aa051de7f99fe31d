/* Watching: lines that are half written, cut, replaced or damaged; states and their clocks; what a
 * screen shows, whatever is in the files; and every allocation failed once. */
#include "scratch.h"

#include "base/text.h"
#include "base/utf8.h"
#include "watch/dots.h"
#include "watch/handout.h"
#include "watch/flat.h"
#include "watch/live.h"
#include "watch/view.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

/* ---- A file that grows ---------------------------------------------------------------------- */

typedef struct heard {
    char text[4096];
    int restarts;
} heard;

static void restart(void *context)
{
    heard *h = context;
    h->restarts++;
    h->text[0] = '\0';
}

static tsr_status line(void *context, const char *bytes, int64_t n)
{
    heard *h = context;
    size_t used = strlen(h->text);
    (void)snprintf(h->text + used, sizeof h->text - used, "%.*s|", n > 100 ? 100 : (int)n, bytes);
    return TSR_OK;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "ab");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void assert_heard(tsri_follow *f, heard *h, const char *text, int restarts)
{
    tsri_follow_visitor v = {h, restart, line};
    assert_ok(tsri_follow_look(f, NULL, &v));
    assert_string_equal(h->text, text);
    assert_int_equal(h->restarts, restarts);
}

static void follows_what_is_written(void **state)
{
    (void)state;
    tsri_follow f = {0};
    heard h = {0};
    const char *path = scratch_path("grows");
    assert_ok(tsri_follow_begin(&f, path));
    assert_heard(&f, &h, "", 0); /* not there yet */
    append(path, "one\ntw");
    assert_heard(&f, &h, "one|", 0); /* half a line waits */
    assert_heard(&f, &h, "one|", 0);
    append(path, "o\nthree\n\n");
    assert_heard(&f, &h, "one|two|three|", 0);
    assert_int_equal(truncate(path, 4), 0); /* a resumed run cuts */
    append(path, "2\n");
    assert_heard(&f, &h, "one|2|", 1);
    tsri_follow_fini(&f);
}

/* Cut and grown beyond what was read between two looks: only the bytes tell. */
static void notices_other_bytes(void **state)
{
    (void)state;
    tsri_follow f = {0};
    heard h = {0};
    const char *path = scratch_path("other");
    append(path, "one\ntwo\n");
    assert_ok(tsri_follow_begin(&f, path));
    assert_heard(&f, &h, "one|two|", 0);
    assert_int_equal(truncate(path, 4), 0);
    append(path, "TWO\nthree\n");
    assert_heard(&f, &h, "one|TWO|three|", 1);
    /* Another file under the name, and none. */
    append(scratch_path("new"), "one\nTWO\nthree\nfour\n");
    assert_int_equal(rename(scratch_path("new"), path), 0);
    assert_heard(&f, &h, "one|TWO|three|four|", 2);
    assert_int_equal(remove(path), 0);
    assert_heard(&f, &h, "", 3);
    append(path, "again\n");
    assert_heard(&f, &h, "again|", 3);
    tsri_follow_again(&f);
    assert_heard(&f, &h, "again|", 4);
    tsri_follow_fini(&f);
}

static void passes_over_endless_lines(void **state)
{
    (void)state;
    tsri_follow f = {0};
    heard h = {0};
    const char *path = scratch_path("long");
    char *much = NULL;
    int64_t n = TSRI_FOLLOW_LINE + 100000;
    assert_ok(tsri_alloc(&much, n + 1, 1));
    memset(much, 'x', (size_t)n);
    append(path, "one\n");
    append(path, much);
    assert_ok(tsri_follow_begin(&f, path));
    assert_heard(&f, &h, "one|", 0);
    append(path, much);
    append(path, "\ntwo\n");
    assert_heard(&f, &h, "one|two|", 0);
    assert_int_equal(f.too_long, 1);
    tsri_free(much);
    tsri_follow_fini(&f);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    tsri_follow f = {0};
    heard h = {0};
    tsri_follow_visitor v = {&h, restart, line};
    assert_int_equal(mkfifo(scratch_path("pipe"), 0600), 0);
    assert_ok(tsri_follow_begin(&f, scratch_path("pipe")));
    assert_int_equal(tsri_follow_look(&f, NULL, &v), TSR_BAD_FILE); /* and does not wait */
    tsri_follow_fini(&f);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void tell(tsri_followed *w, const char *text)
{
    assert_ok(tsri_followed_line(w, text, (int64_t)strlen(text)));
}

static void takes_lines_as_they_come(void **state)
{
    (void)state;
    tsri_followed w = {0};
    assert_ok(tsri_followed_begin(&w, scratch_folder, "a"));
    tell(&w, "{\"format\":1,\"round\":5,\"epoch\":1.0,\"loss\":2.5,\"test_accuracy\":0.5,"
             "\"bytes_total\":100,\"seconds\":2.0}");
    tell(&w, "{\"round\":10,\"epoch\":2.0,\"loss\":null,\"test_accuracy\":0.25,\"seconds\":4.0}");
    assert_true(w.points == 2 && w.last.round == 10 && isnan(w.last.loss));
    assert_true(w.best_accuracy == 0.5 && w.last.seconds == 4);
    tell(&w, "{\"round\":15,\"epoch\":3,\"seconds\":1.5}"); /* resumed: its seconds begin again */
    assert_true(w.last.seconds == 5.5 && w.recents == 1);
    tell(&w, "{\"event\":\"lost\",\"round\":3,\"worker\":1,\"rank\":2,\"why\":\"died\"}");
    tell(&w, "{\"event\":\"ended\",\"round\":15,\"status\":\"diverged\",\"why\":\"too large\"}");
    assert_true(w.lost == 1 && w.lost_rank == 2);
    assert_string_equal(w.ended, "diverged");
    tell(&w, "{\"event\":\"put\",\"round\":16}"); /* somebody went on */
    assert_string_equal(w.ended, "");
    static const char *const bad[] = {"",
                                      "{",
                                      "[1]",
                                      "7",
                                      "\"x\"",
                                      "{\"a\":1,\"a\":2}",
                                      "{\"loss\":1}",
                                      "nonsense",
                                      "{\"round\":1e999}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tell(&w, bad[i]);
    assert_int_equal(w.bad_lines, sizeof bad / sizeof *bad);
    assert_int_equal(w.points, 3);
    tsri_followed_fini(&w);
}

static void keeps_few_of_many_points(void **state)
{
    (void)state;
    tsri_followed w = {0};
    assert_ok(tsri_followed_begin(&w, scratch_folder, "a"));
    for (int i = 0; i < 100000; i++)
        assert_ok(tsri_followed_add(&w, &(tsri_point){.round = i}));
    assert_true(w.points <= TSRI_POINTS && w.points >= TSRI_POINTS / 2);
    assert_true(w.last.round == 99999 && w.point[0].round == 0);
    for (int64_t i = 0; i < w.points; i++) /* evenly spread */
        assert_true(w.point[i].round == (double)(i * w.stride));
    tsri_followed_fini(&w);
}

static void says_whom_others_wait_for(void **state)
{
    (void)state;
    tsri_followed w = {0};
    double waited;
    assert_ok(tsri_followed_begin(&w, scratch_folder, "a"));
    assert_int_equal(tsri_followed_slowest(&w, &waited), -1);
    tell(&w, "{\"event\":\"times\",\"round\":1,\"rounds\":1,\"ranks\":["
             "{\"rank\":0,\"compute\":0.1,\"send\":0,\"wait\":0.9},"
             "{\"rank\":1,\"compute\":0.2,\"send\":0,\"wait\":0.8},"
             "{\"rank\":2,\"compute\":1.0,\"send\":0,\"wait\":0},"
             "{\"rank\":3,\"compute\":0.2,\"send\":0,\"wait\":0.8}]}");
    assert_int_equal(tsri_followed_slowest(&w, &waited), 2);
    assert_true(fabs(waited - 0.8) < 1e-12);
    /* All compute alike and all wait: for the coordinator. */
    for (int i = 0; i < 60; i++)
        tell(&w, "{\"event\":\"times\",\"round\":2,\"rounds\":1,\"ranks\":["
                 "{\"rank\":0,\"compute\":1,\"send\":0,\"wait\":0},"
                 "{\"rank\":1,\"compute\":0.2,\"send\":0,\"wait\":0.8},"
                 "{\"rank\":2,\"compute\":0.2,\"send\":0,\"wait\":0.8},"
                 "{\"rank\":3,\"compute\":0.2,\"send\":0,\"wait\":0.8}]}");
    assert_int_equal(tsri_followed_slowest(&w, &waited), 0);
    for (int i = 0; i < 60; i++)
        tell(&w, "{\"event\":\"times\",\"round\":3,\"rounds\":1,\"ranks\":[{\"rank\":0,\"wait\":1},"
                 "{\"rank\":1,\"compute\":1},{\"rank\":2,\"compute\":1}]}");
    assert_int_equal(tsri_followed_slowest(&w, &waited), -1);
    tsri_followed_fini(&w);
}

/* ---- States --------------------------------------------------------------------------------- */

static void judge(tsri_followed *w, tsri_run_state expected)
{
    tsri_now now = {100, 1e9};
    tsri_followed_judge(w, &now);
    assert_string_equal(tsri_state_name(w->state), tsri_state_name(expected));
}

static void judges_what_a_run_does(void **state)
{
    (void)state;
    tsri_followed w = {0};
    assert_ok(tsri_followed_begin(&w, scratch_folder, "a"));
    w.epochs_asked = 10;
    w.holder = (tsri_holder){.pid = 7, .held = true};
    judge(&w, TSRI_STATE_STARTING);
    tell(&w, "{\"round\":50,\"epoch\":2.0,\"seconds\":10}");
    judge(&w, TSRI_STATE_RUNNING);
    assert_true(w.rounds == 250 && fabs(w.left - 40) < 1e-9);
    w.age = 3;
    judge(&w, TSRI_STATE_RUNNING);
    assert_true(fabs(w.left - 37) < 1e-9);
    w.age = 61; /* evaluations come every 10 s: 61 s is more than five times that */
    judge(&w, TSRI_STATE_STALLED);
    w.age = 3;
    w.holder.stopped = true;
    judge(&w, TSRI_STATE_STALLED);
    w.holder = (tsri_holder){.pid = 7}; /* its lock is free, its number still there: killed */
    judge(&w, TSRI_STATE_INTERRUPTED);
    w.changed_at = 99; /* but it told something a moment ago: on another machine */
    judge(&w, TSRI_STATE_RUNNING);
    w.held_here =
        7; /* no: it was seen here. The live page said "running" for a minute after a kill */
    judge(&w, TSRI_STATE_INTERRUPTED);
    w.held_here = 0;
    w.age = 1000;
    judge(&w, TSRI_STATE_INTERRUPTED);
    w.holder = (tsri_holder){.pid = 7, .remote = true};
    w.changed_at = -1;
    w.age = 5;
    judge(&w, TSRI_STATE_RUNNING);
    w.holder = (tsri_holder){0};
    judge(&w, TSRI_STATE_INTERRUPTED);
    tell(&w, "{\"event\":\"ended\",\"round\":50,\"status\":\"resources\",\"why\":\"disk full\"}");
    judge(&w, TSRI_STATE_FAILED);
    tell(&w, "{\"event\":\"ended\",\"round\":50,\"status\":\"diverged\",\"why\":\"\"}");
    judge(&w, TSRI_STATE_DIVERGED);
    tell(&w, "{\"round\":250,\"epoch\":10.0,\"seconds\":50}");
    w.metrics.modified = 20;
    w.model_file = (tsri_stamp){true, 10, 19}; /* older, but all rounds are done */
    judge(&w, TSRI_STATE_FINISHED);
    w.epochs_asked = 20; /* resumed for more: the model is that of before */
    judge(&w, TSRI_STATE_INTERRUPTED);
    w.model_file.modified = 21; /* ended early, by a rule */
    judge(&w, TSRI_STATE_FINISHED);
    tsri_followed_fini(&w);
}

/* The file's clock is an hour ahead, or a day behind: no change is seen, then one is. */
static void bears_other_clocks(void **state)
{
    (void)state;
    tsri_locks none = {0};
    for (int ahead = 0; ahead < 2; ahead++) {
        tsri_followed w = {0};
        const char *folder = scratch_path(ahead ? "ahead" : "behind");
        char path[600];
        tsri_now now = tsri_now_read();
        struct timespec stamp[2] = {{.tv_sec = (time_t)now.date + (ahead ? 3600 : -86400)}};
        assert_int_equal(mkdir(folder, 0700), 0);
        (void)snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
        append(path, "{\"round\":1,\"epoch\":1.0,\"seconds\":1}\n");
        stamp[1] = stamp[0];
        assert_int_equal(utimensat(AT_FDCWD, path, stamp, 0), 0);
        assert_ok(tsri_followed_begin(&w, folder, "a"));
        assert_ok(tsri_followed_look(&w, &none, &now));
        assert_true(ahead ? w.age == 0 : fabs(w.age - 86400) < 2);
        now.steady += 5;
        now.date -= 7200; /* ours is set back meanwhile */
        append(path, "{\"round\":2,\"epoch\":2.0,\"seconds\":2}\n");
        assert_ok(tsri_followed_look(&w, &none, &now));
        assert_true(w.age == 0 && w.points == 2);
        now.steady += 5;
        assert_ok(tsri_followed_look(&w, &none, &now));
        assert_true(w.age == 5);
        tsri_followed_fini(&w);
    }
}

/* A lock that is held is seen, and is still there to be taken by others afterwards. */
static void sees_locks_without_touching_them(void **state)
{
    (void)state;
    tsri_locks locks = {0};
    tsri_holder h;
    int lock = -1;
    const char *folder = scratch_path("locked");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(tsri_locks_read(&locks));
    assert_ok(tsri_holder_find(&h, &locks, folder));
    assert_true(h.pid == 0 && !h.held);
    assert_ok(tsri_lock_folder(&lock, folder));
    assert_ok(tsri_locks_read(&locks));
    assert_ok(tsri_holder_find(&h, &locks, folder));
    assert_int_equal(h.pid, getpid());
    if (!h.held)
        print_message("/proc/locks does not list this process's locks here\n");
    assert_false(h.stopped);
    tsri_unlock_folder(lock);
    assert_ok(tsri_locks_read(&locks));
    assert_ok(tsri_holder_find(&h, &locks, folder));
    assert_true(h.pid == 0 && !h.held);
    tsri_locks_fini(&locks);
}

/* ---- Screens -------------------------------------------------------------------------------- */

static const char *const evil = "\x1b[2J\x1b]0;title\x07\xc2\x9b"
                                "31m\xff\xfe";

/* A folder with a run called something that no terminal should get, a sweep's and damaged ones. */
static void make_folders(void)
{
    char path[400], name[300];
    static const char yaml[] = "data: {name: glyphs}\nmodel: {hidden: [3]}\nepochs: 10\n";
    static const char *const inner[] = {"", "/plain", "/plain/whole", "/damaged"};
    (void)snprintf(name, sizeof name, "runs/%s", evil);
    (void)mkdir(scratch_path("runs"), 0700);
    assert_int_equal(mkdir(scratch_path(name), 0700), 0);
    for (int i = 1; i < 4; i++) {
        (void)snprintf(path, sizeof path, "runs%s", inner[i]);
        assert_int_equal(mkdir(scratch_path(path), 0700), 0);
        (void)snprintf(path, sizeof path, "runs%s/run.yaml", inner[i]);
        append(scratch_path(path), i == 3 ? "data: {nme: 3" : yaml);
        (void)snprintf(path, sizeof path, "runs%s/metrics.jsonl", inner[i]);
        if (i == 3)
            append(scratch_path(path), "{\"round\":1}\n\x1b[2J\n{{{\n");
        for (int k = 1; i < 3 && k <= 40; k++) {
            (void)snprintf(name, sizeof name,
                           "{\"round\":%d,\"epoch\":%d.5,\"loss\":%g,\"rate\":0.1,\"test_loss\":%g,"
                           "\"test_accuracy\":%g,\"bytes_total\":%d,\"seconds\":%d}\n",
                           5 * k, k / 5, 2.0 / k, 3.0 / k, 1 - 1.0 / k, 1000 * k, k);
            append(scratch_path(path), name);
        }
    }
    (void)snprintf(path, sizeof path, "runs/%s/run.yaml", evil);
    append(scratch_path(path), yaml);
    (void)snprintf(path, sizeof path, "runs/%s/run.lock", evil); /* a run file alone is no run */
    append(scratch_path(path), "");
    append(scratch_path("runs/plain/metrics.jsonl"),
           "{\"event\":\"times\",\"round\":200,\"rounds\":5,\"ranks\":[{\"rank\":0,\"compute\":1,"
           "\"send\":0,\"wait\":0.5},{\"rank\":1,\"compute\":1,\"send\":0.1,\"wait\":0.2,"
           "\"received\":5,\"sent\":6}]}\n{\"event\":\"rollback\",\"round\":3}\n");
}

/* Columns of a line as a terminal shows it; -1 when something in it is no text or no colour. */
static int columns_of(const char *at, const char *end)
{
    int columns = 0;
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        if (c == 0x1b) {
            size_t n = strspn(at + 1, "[0123456789;");
            if (at[1] != '[' || at[n + 1] != 'm')
                return -1;
            at += n + 2;
            continue;
        }
        size_t size = tsri_utf8_length(at, (size_t)(end - at));
        if (c < 0x20 || c == 0x7f || size == 0 || (size == 2 && c == 0xc2))
            return -1;
        at += size;
        columns++;
    }
    return columns;
}

static void assert_frame(const char *text, int width, int height)
{
    int lines = 0;
    for (const char *end;; text = end + 1) {
        end = text + strcspn(text, "\n");
        int columns = columns_of(text, end);
        if (columns < 0 || columns > width)
            fail_msg("%d columns in a screen of %d: %.*s", columns, width, (int)(end - text), text);
        lines++;
        if (!*end)
            break;
    }
    assert_int_equal(lines, height);
}

static void draws_within_every_screen(void **state)
{
    (void)state;
    tsri_lookout *w = NULL;
    make_folders();
    assert_ok(tsri_lookout_open(&w, scratch_path("runs")));
    assert_ok(tsri_lookout_look(w));
    assert_int_equal(w->runs, 4);
    assert_true(tsri_lookout_is_ticket(w, tsri_lookout_find(w, "plain")));
    for (int width = 20; width <= 230; width += 7)
        for (int height = 4; height <= 70; height += 3)
            for (int64_t i = 0; i < 8; i++) {
                tsri_text text = {0};
                tsri_screen s = {width, height, i & 1, i & 2, i % 4, i & 4};
                assert_ok(tsri_lookout_draw(&text, w, &s));
                assert_frame(text.data, width, height);
                tsri_text_fini(&text);
            }
    tsri_lookout_close(w);
}

static void shows_what_there_is(void **state)
{
    (void)state;
    tsri_lookout *w = NULL;
    tsri_text text = {0}, json = {0}, metrics = {0};
    tsri_json_value *root = NULL;
    assert_ok(tsri_lookout_open(&w, scratch_path("runs")));
    assert_ok(tsri_lookout_look(w));
    tsri_screen s = {110, 50, false, true, tsri_lookout_find(w, "plain"), true};
    assert_ok(tsri_lookout_draw(&text, w, &s));
    static const char *const words[] = {"plain",      "interrupted", "round 200", "accuracy",
                                        "97.50 %",    "rank 1",      "5 B in",    "traffic 40 kB",
                                        "returns to", "\u2524"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text.data, words[i]))
            fail_msg("no '%s' in:\n%s", words[i], text.data);
    text.length = 0;
    assert_ok(tsri_lookout_text(&text, w));
    assert_non_null(strstr(text.data, "plain: interrupted, round 200"));
    assert_null(strchr(text.data, '\x1b'));
    assert_ok(tsri_lookout_json(&json, w));
    assert_ok(tsri_json_parse(&root, json.data, json.length, "json"));
    assert_int_equal(tsri_json_length(tsri_json_get(root, "runs")), 4);
    assert_ok(tsri_lookout_openmetrics(&metrics, w));
    assert_non_null(strstr(metrics.data, "tessera_round{run=\"plain\"} 200.0\n"));
    assert_non_null(
        strstr(metrics.data, "tessera_state{run=\"plain\",tessera_state=\"running\"} 0\n"));
    assert_string_equal(metrics.data + metrics.length - 6, "# EOF\n");
    assert_null(strchr(metrics.data, '\x1b'));
    tsri_json_destroy(root);
    tsri_text_fini(&text);
    tsri_text_fini(&json);
    tsri_text_fini(&metrics);
    tsri_lookout_close(w);
    assert_fails(tsri_lookout_open(&w, scratch_path("nowhere")), TSR_USAGE, "no such folder");
}

/* An error of 27224.6623 was "2.722e+04" here and 27224.7 on the page; plainly it was not told. */
static void writes_large_numbers_for_people(void **state)
{
    (void)state;
    tsri_lookout *w = NULL;
    tsri_text text = {0};
    static const struct {
        double value;
        const char *text;
    } cases[] = {{27224.6623, "27,224.7"}, {-1234.56, "-1234.6"}, {0.43214, "0.4321"},
                 {999.94, "999.9"},        {1e13, "1e+13"},       {-0.0, "-0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[TSRI_NUMBER_TEXT + 8];
        tsri_view_number(got, cases[i].value);
        assert_string_equal(got, cases[i].text);
    }
    (void)mkdir(scratch_path("prices"), 0700);
    append(scratch_path("prices/run.yaml"), "data: {name: glyphs}\nepochs: 10\n");
    append(scratch_path("prices/metrics.jsonl"),
           "{\"round\":5,\"epoch\":1,\"loss\":0.5,\"test_loss\":0.6,\"test_rmse\":27224.6623}\n");
    assert_ok(tsri_lookout_open(&w, scratch_path("prices")));
    assert_ok(tsri_lookout_look(w));
    assert_ok(tsri_lookout_text(&text, w));
    assert_non_null(strstr(text.data, "test error 27,224.7"));
    text.length = 0;
    tsri_screen s = {80, 30, false, true, 0, false};
    assert_ok(tsri_lookout_draw(&text, w, &s));
    assert_non_null(strstr(text.data, "27,224.7"));
    tsri_text_fini(&text);
    tsri_lookout_close(w);
}

/* In the list "3,375,428.0" and "0.1287" stood as 3,375,428.00.1287. */
static void numbers_do_not_touch(void **state)
{
    (void)state;
    tsri_lookout *w = NULL;
    tsri_text text = {0};
    static const struct {
        const char *name, *line, *shown;
    } cases[] = {{"a", "\"loss\":0.1287,\"test_rmse\":3375428.04", " 3,375,428 0.1287 "},
                 {"b", "\"loss\":-1234567.8,\"test_rmse\":9999999.96", " 1e+07     -1.23e+06 "},
                 {"c", "\"loss\":123456789.1,\"test_rmse\":27224.66", " 27,224.7  1.23e+08 "},
                 {"d", "\"loss\":12345678.9,\"test_rmse\":-4e13", " -4e+13    1.23e+07 "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64], line[160];
        (void)snprintf(path, sizeof path, "large/%s", cases[i].name);
        (void)mkdir(scratch_path("large"), 0700);
        (void)mkdir(scratch_path(path), 0700);
        (void)snprintf(path, sizeof path, "large/%s/run.yaml", cases[i].name);
        append(scratch_path(path), "data: {name: glyphs}\nepochs: 10\n");
        (void)snprintf(path, sizeof path, "large/%s/metrics.jsonl", cases[i].name);
        (void)snprintf(line, sizeof line, "{\"round\":5,\"epoch\":1,%s,\"seconds\":1}\n",
                       cases[i].line);
        append(scratch_path(path), line);
    }
    assert_ok(tsri_lookout_open(&w, scratch_path("large")));
    assert_ok(tsri_lookout_look(w));
    tsri_screen s = {100, 30, false, true, 0, false};
    assert_ok(tsri_lookout_draw(&text, w, &s));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strstr(text.data, cases[i].shown))
            fail_msg("\"%s\" is not in\n%s", cases[i].shown, text.data);
    tsri_text_fini(&text);
    tsri_lookout_close(w);
}

/* "14 runs: 1 running, 12 finished, 1 interrupted" ended as "12 finished, 1" where 40 columns ended. */
static void leaves_out_whole_counts(void **state)
{
    (void)state;
    tsri_lookout *w = NULL;
    assert_ok(tsri_lookout_open(&w, scratch_path("runs")));
    assert_ok(tsri_lookout_look(w));
    char whole[160];
    tsri_view_count(whole, w);
    for (int width = 20; width < 200; width += 3) {
        tsri_text text = {0};
        tsri_screen s = {width, 20, false, false, 0, false};
        assert_ok(tsri_lookout_draw(&text, w, &s));
        text.data[strcspn(text.data, "\n")] = '\0';
        const char *shown = strstr(text.data, "  ");
        size_t n = shown ? strlen(shown + 2) : 0;
        while (n > 0 && shown[n + 1] == ' ')
            n--;
        if (n > 0 && strncmp(shown + 2, whole, n) == 0)
            assert_non_null(strchr(":,", whole[n])); /* '\0', too: all of it */
        tsri_text_fini(&text);
    }
    tsri_lookout_close(w);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static tsr_status everything(const char *folder)
{
    tsr_status st = TSR_OK;
    tsri_lookout *w = NULL;
    tsri_text text = {0};
    int64_t count;
    tsri_screen s = {100, 40, true, true, 0, false};
    TSR_TRY(tsri_lookout_open(&w, folder));
    TSR_TRY(tsri_lookout_look(w));
    TSR_TRY(tsri_lookout_look(w));
    TSR_TRY(tsri_lookout_draw(&text, w, &s));
    TSR_TRY(tsri_lookout_text(&text, w));
    TSR_TRY(tsri_lookout_json(&text, w));
    TSR_TRY(tsri_lookout_openmetrics(&text, w));
    TSR_TRY(tsri_live_event(&text, w));
    TSR_TRY(tsri_live_policy(&text));
    TSR_TRY(tsri_live_list(&text, w, "0123456789abcdef0123456789abcdef"));
    TSR_TRY(tsri_live_run(&text, w->run[0], "0123456789abcdef0123456789abcdef"));
    TSR_TRY(tsri_handout_csv(&text, &count, w, NULL));
    TSR_TRY(tsri_handout_tensorboard(&count, w->run[0], scratch_path("board")));
done:
    tsri_text_fini(&text);
    tsri_lookout_close(w);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char folder[600];
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("runs/plain"));
    int64_t before = tsri_alloc_blocks();
    assert_ok(everything(folder));
    tsr_status st = TSR_RESOURCES;
    int64_t n = 0;
    for (; st != TSR_OK; n += n < 600 ? 1 : 37) { /* the report's are tried by its own test */
        (void)tsri_alloc_fail_after(n, true);
        st = everything(folder);
        (void)tsri_alloc_fail_after(-1, false);
        assert_true(st == TSR_OK || st == TSR_RESOURCES);
        assert_int_equal(tsri_alloc_blocks(), before);
    }
    print_message("%lld allocations\n", (long long)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_what_is_written),
        cmocka_unit_test(notices_other_bytes),
        cmocka_unit_test(passes_over_endless_lines),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(takes_lines_as_they_come),
        cmocka_unit_test(keeps_few_of_many_points),
        cmocka_unit_test(says_whom_others_wait_for),
        cmocka_unit_test(judges_what_a_run_does),
        cmocka_unit_test(bears_other_clocks),
        cmocka_unit_test(sees_locks_without_touching_them),
        cmocka_unit_test(draws_within_every_screen),
        cmocka_unit_test(shows_what_there_is),
        cmocka_unit_test(writes_large_numbers_for_people),
        cmocka_unit_test(numbers_do_not_touch),
        cmocka_unit_test(leaves_out_whole_counts),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
