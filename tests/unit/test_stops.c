/* test_stops.c - stops that come at an awkward moment: after the last round of a run that is one of
 * several, and between two checkpoints that are due. Nothing may be lost by them, the stop included.
 */
#include "scratch.h"

#include "base/stop.h"
#include "io/digest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EPOCHS = 4, ROUNDS_OF_EPOCH = 4 };

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

/* The checkpoint of a stop counted as one of the newest: the oldest one that was due was removed,
 * and the ticket that was to be rewound to it could never be made. */
static void a_stop_keeps_what_was_due(void **state)
{
    (void)state;
    static const char *const rewound[] = {"ticket.rewind=1", NULL};
    char whole[512], cut[512], path[700], name[64];
    tsr_config *config = config_with(rewound);
    (void)snprintf(whole, sizeof whole, "%s", scratch_path("due-whole"));
    (void)snprintf(cut, sizeof cut, "%s", scratch_path("due-cut"));
    assert_ok(tickets(config, whole, false, NULL));
    for (int64_t round = 1; round < 16; round += 2) {
        asker next = {.round = round};
        assert_fails(tickets(config, cut, round > 1, &next), TSR_INTERRUPTED, "all saved");
    }
    assert_ok(tickets(config, cut, true, NULL));
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        (void)snprintf(name, sizeof name, "checkpoints/ckpt-%012d.safetensors",
                       epoch * ROUNDS_OF_EPOCH);
        if (!tsri_file_exists(in(path, cut, name)))
            fail_msg("%s is gone", name);
    }
    same_tickets(whole, cut);
    tsr_config_destroy(config);
}

static int (*real_rename)(const char *from, const char *to);
static bool refused;

static int refuse_once(const char *from, const char *to)
{
    if (refused || !strstr(to, "ckpt-000000000004"))
        return real_rename(from, to);
    refused = true;
    errno = ENOSPC;
    return -1;
}

/* A checkpoint that could not be written was a warning, also of the epoch that tickets are rewound
 * to: pretraining went on, and the ticket could never be made. */
static void what_is_rewound_to_must_be_saved(void **state)
{
    (void)state;
    static const char *const rewound[] = {"ticket.rewind=1", NULL};
    char whole[512], full[512];
    tsr_config *config = config_with(rewound);
    (void)snprintf(whole, sizeof whole, "%s", scratch_path("saved-whole"));
    (void)snprintf(full, sizeof full, "%s", scratch_path("saved-full"));
    assert_ok(tickets(config, whole, false, NULL));
    real_rename = tsri_io.rename;
    tsri_io.rename = refuse_once;
    assert_fails(tickets(config, full, false, NULL), TSR_RESOURCES, "free some space");
    tsri_io.rename = real_rename;
    assert_true(refused);
    assert_ok(tickets(config, full, true, NULL));
    same_tickets(whole, full);
    tsr_config_destroy(config);
}

/* Epochs that are no whole number of rounds: 32 / 8 batches in rounds of 3 steps are 1.33 rounds.
 * A checkpoint for every epoch is one after rounds 1, 2, 3, ..., and epoch 2 ends after round 3. It
 * was found out when pretraining was done that a checkpoint had not been kept. */
static void rewinding_is_checked_by_rounds(void **state)
{
    (void)state;
    static const char *const lines[] = {"scheme.name=ist", "scheme.workers=2",
                                        "scheme.local_steps=3", "ticket.rewind=1", NULL};
    char folder[512];
    tsr_config *config = config_with(lines);
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("rounds"));
    /* 4 epochs are 5 rounds; epoch 1 is over after round 1, and 5 checkpoints follow */
    assert_fails(tickets(config, folder, false, NULL), TSR_USAGE,
                 "set checkpoint.every to 1 and checkpoint.keep to 5 or more");
    assert_ok(tsr_config_set(config, "checkpoint.keep=5"));
    assert_ok(tickets(config, folder, false, NULL));
    tsr_config_destroy(config);
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("halves"));
    config = config_with(lines);
    assert_ok(tsr_config_set(config, "scheme.local_steps=8")); /* half a round an epoch */
    assert_ok(tsr_config_set(config, "epochs=6"));
    assert_ok(tsr_config_set(config, "ticket.rewind=4")); /* round 2 of 3 */
    assert_ok(tickets(config, folder, false, NULL));
    tsr_config_destroy(config);
    (void)snprintf(folder, sizeof folder, "%s", scratch_path("thirds"));
    config = config_with(lines);
    assert_ok(
        tsr_config_set(config, "batch=6")); /* 5 batches in rounds of 2: 2.5 rounds an epoch */
    assert_ok(tsr_config_set(config, "scheme.local_steps=2"));
    assert_ok(tsr_config_set(config, "ticket.rewind=2")); /* round 5; saved after 3, 6, 9 and 10 */
    assert_fails(tickets(config, folder, false, NULL), TSR_USAGE,
                 "after round 5 of 10: set checkpoint.every to 2 and checkpoint.keep to 2 or more");
    assert_false(tsri_file_exists(folder));
    assert_ok(tsr_config_set(config, "checkpoint.every=2"));
    assert_ok(tickets(config, folder, false, NULL));
    tsr_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_stop_ends_the_next_run),
        cmocka_unit_test(a_stop_keeps_what_was_due),
        cmocka_unit_test(what_is_rewound_to_must_be_saved),
        cmocka_unit_test(rewinding_is_checked_by_rounds),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
