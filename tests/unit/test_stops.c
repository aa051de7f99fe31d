/* test_stops.c - stops that come at an awkward moment: after the last round of a run that is one of
 * several, and between two checkpoints that are due. Nothing may be lost by them, the stop included.
 */
#include "scratch.h"

#include "base/stop.h"
#include "io/digest.h"

#include <stdio.h>
#include <string.h>

/* Four batches an epoch, a checkpoint after each of them. */
static tsr_config *config_with(const char *const *more)
{
    static const char *const lines[] = {
        "data.name=glyphs",    "data.n=32",         "data.test_n=8",
        "data.prefetch=false", "epochs=4",          "batch=8",
        "model.hidden=[8]",    "optim.lr=0.05",     "threads=1",
        "checkpoint.every=1",  "checkpoint.keep=4", "ticket.ratios=[0.5]",
        "ticket.epochs=1",     "ticket.seconds=0",  "ticket.controls=none"};
    tsr_config *c = NULL;
    assert_ok(tsr_config_create(&c));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_ok(tsr_config_set(c, lines[i]));
    for (int i = 0; more && more[i]; i++)
        assert_ok(tsr_config_set(c, more[i]));
    return c;
}

/* Asks for a stop once: after a round of the first run, or, `late`, while its last one is judged. */
typedef struct asker {
    int64_t round;
    bool late, asked;
} asker;

static tsr_status after_round(void *context, const tsr_progress *p)
{
    asker *a = context;
    if (a->late || a->asked || p->round != a->round)
        return TSR_OK;
    a->asked = true;
    return TSR_INTERRUPTED;
}

static void while_judged(void *context, const tsr_progress *p)
{
    asker *a = context;
    if (!a->late || a->asked || !p->evaluated || p->round != p->rounds)
        return;
    a->asked = true;
    tsr_request_stop();
}

static tsr_status tickets(const tsr_config *config, const char *folder, bool resume, asker *a)
{
    tsr_config *copy = NULL;
    char *json = NULL;
    tsr_run_options o = tsr_run_options_default();
    o.folder = folder;
    o.resume = resume;
    o.context = a;
    o.round = a ? after_round : NULL;
    o.progress = a ? while_judged : NULL;
    assert_ok(tsr_config_copy(&copy, config));
    tsr_status st = tsr_tickets(&json, copy, &o);
    tsr_free(json);
    tsr_config_destroy(copy);
    return st;
}

static const char *in(char path[700], const char *folder, const char *name)
{
    (void)snprintf(path, 700, "%s/%s", folder, name);
    return path;
}

static void hash_of(char hash[TSRI_SHA256_HEX], const char *folder, const char *name)
{
    char path[700], *bytes = NULL;
    int64_t n;
    assert_ok(tsri_file_read(&bytes, &n, in(path, folder, name), 1 << 24));
    assert_ok(tsri_sha256(hash, bytes, n));
    tsri_free(bytes);
}

static void same(const char *a, const char *b, const char *name)
{
    char one[TSRI_SHA256_HEX], two[TSRI_SHA256_HEX];
    hash_of(one, a, name);
    hash_of(two, b, name);
    if (strcmp(one, two) != 0)
        fail_msg("%s differs", name);
}

static void same_tickets(const char *a, const char *b)
{
    same(a, b, "model.safetensors");
    same(a, b, "ticket-0.5/ticket.safetensors");
    same(a, b, "ticket-0.5/model.safetensors");
}

/* A stop that came while the last round of pretraining was judged was taken for that run's, and
 * forgotten at its end: pruning and fine-tuning went on as if nobody had asked. */
static void a_late_stop_ends_the_next_run(void **state)
{
    (void)state;
    char whole[512], cut[512], path[700];
    tsr_config *config = config_with(NULL);
    asker late = {.late = true};
    (void)snprintf(whole, sizeof whole, "%s", scratch_path("late-whole"));
    (void)snprintf(cut, sizeof cut, "%s", scratch_path("late-cut"));
    assert_ok(tickets(config, whole, false, NULL));
    assert_fails(tickets(config, cut, false, &late), TSR_INTERRUPTED, "add --resume to go on");
    assert_true(late.asked);
    assert_true(tsri_file_exists(in(path, cut, "model.safetensors"))); /* pretraining is done */
    assert_false(tsri_file_exists(in(path, cut, "ticket-0.5/model.safetensors")));
    assert_false(tsri_stop_asked()); /* and no later command is stopped by it */
    assert_ok(tickets(config, cut, true, NULL));
    same_tickets(whole, cut);
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_stop_ends_the_next_run),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
