/* checkpoint.c - the whole state of a run in one file, found again after any crash.
 *
 * checkpoints/ckpt-<round>.safetensors holds the model ("model.*"), the momentum ("momentum.*"),
 * of Adam the variance ("variance.*"), the average of the weights where there is one ("average.*"),
 * the best iterate where it is kept ("best.*"), how filters ranked so far ("ranks.*") and, as
 * metadata, the position, the resolved run file and the names of library and kernels. Files are
 * written atomically and never overwritten; the newest `checkpoint.keep` and the best one stay, and
 * that of round 0 where it is returned to.
 * There is no "latest" pointer: resuming looks at the files themselves, newest first, and takes the
 * first that is sound.
 */
#include "model/model.h"
#include "run/observer.h"
#include "run/rate.h"
#include "run/when.h"
#include "train/checkpoint.h"
#include "train/convert_run.h"
#include "train/forced.h"
#include "train/iterate.h"
#include "train/rollback.h"
#include "train/sound.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/number.h"
#include "io/file.h"
#include "io/json.h"
#include "net/parcel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of runs that convert their net: what it is, and since which round. */
#define META_NET       "tessera.net"
#define META_CONVERTED "tessera.converted"

/* Of runs that began with a model: the checksum of its numbers. */
#define META_INIT "tessera.init"

static tsr_status checkpoint_path(char **out, const tsri_run *run, int64_t round)
{
    char name[64];
    (void)snprintf(name, sizeof name, TSRI_CHECKPOINT_NAME, round);
    return tsri_path_join(out, run->settings.options.folder, name);
}

/* The round of a checkpoint's file name, ckpt-<12 digits>.safetensors, or -1. */
static int64_t round_of(const char *name)
{
    static const char before[] = "ckpt-", behind[] = ".safetensors";
    const char *digit = name + sizeof before - 1;
    int64_t round = 0;
    if (strncmp(name, before, sizeof before - 1) != 0 || strspn(digit, "0123456789") != 12 ||
        strcmp(digit + 12, behind) != 0)
        return -1;
    for (int i = 0; i < 12; i++)
        round = round * 10 + (digit[i] - '0');
    return round;
}

/* ---- The position ------------------------------------------------------------------------- */

/* One row per number of the position: name in the file, where it lives. */
typedef struct field {
    const char *name;
    int64_t *integer;
    double *real;
} field;

enum { FIELDS = 19, FIRST_FIELDS = 16 }; /* checkpoints of version 0.1 end with the latter */

static void fields_of(field f[FIELDS], tsri_run_position *p)
{
    field all[FIELDS] = {{"round", &p->round, NULL},
                         {"recent_sum", NULL, &p->recent.sum},
                         {"recent_count", &p->recent.count, NULL},
                         {"first_loss", NULL, &p->first_loss},
                         {"best_round", &p->best_round, NULL},
                         {"best_score", NULL, &p->best_score},
                         {"bytes_total", &p->bytes_total, NULL},
                         {"lost_shares", &p->lost_shares, NULL},
                         {"metrics_bytes", &p->metrics_bytes, NULL},
                         {"test_loss", NULL, &p->test_loss},
                         {"test_accuracy", NULL, &p->test_accuracy},
                         {"train_loss", NULL, &p->train_loss},
                         {"train_accuracy", NULL, &p->train_accuracy},
                         {"best_iterate", &p->best_iterate, NULL},
                         {"best_loss", NULL, &p->best_loss},
                         {"ranks_change", NULL, &p->ranking_change},
                         {"test_rmse", NULL, &p->test_rmse},
                         {"stale", &p->stale, NULL},
                         {"unlooked", &p->unlooked, NULL}};
    memcpy(f, all, sizeof all);
}

static tsr_status write_state(tsri_json *w, tsri_run_position *p)
{
    field f[FIELDS];
    fields_of(f, p);
    tsri_json_open(w, '{');
    for (int i = 0; i < FIELDS; i++) {
        tsri_json_key(w, f[i].name);
        if (f[i].integer)
            tsri_json_int(w, *f[i].integer);
        else
            tsri_json_real(w, *f[i].real);
    }
    tsri_json_close(w, '}');
    return tsri_json_end(w);
}

/* Numbers that are not finite are not in a checkpoint: they are those of a fresh run, whatever run
 * went back to it or read a newer one first, which was damaged. */
static void fresh_numbers(tsri_run_position *p)
{
    p->recent = (tsri_mean){0};
    p->first_loss = 0;
    p->best_score = -INFINITY;
    p->test_loss = p->test_accuracy = p->test_rmse = NAN;
    p->train_loss = p->train_accuracy = NAN;
    p->best_loss = INFINITY;
    p->ranking_change = NAN;
    p->stale = p->unlooked = 0; /* which version 0.1 did not write */
}

/* A position that is refused changes nothing: the checkpoint before may be sound. */
static tsr_status read_state(tsri_run_position *p, const char *text, int64_t rounds,
                             const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_run_position before = *p;
    tsri_json_value *root = NULL;
    field f[FIELDS];
    fields_of(f, p);
    fresh_numbers(p);
    TSR_TRY(tsri_json_parse(&root, text, (int64_t)strlen(text), path));
    for (int i = 0; i < FIELDS; i++) {
        const tsri_json_value *v = tsri_json_get(root, f[i].name);
        if (!v && i >= FIRST_FIELDS)
            continue;
        TSR_CHECK(v && (!f[i].integer || tsri_json_as_int(v, f[i].integer)), TSR_BAD_FILE,
                  "%s: the position lacks %s", path, f[i].name);
        if (f[i].real)
            (void)tsri_json_as_real(v, f[i].real);
    }
    TSR_CHECK(p->round >= 0 && p->round <= rounds, TSR_BAD_FILE,
              "%s: it stands at round %lld of a run of %lld", path, (long long)p->round,
              (long long)rounds);
done:
    if (st != TSR_OK)
        *p = before;
    tsri_json_destroy(root);
    return st;
}

/* ---- Saving ------------------------------------------------------------------------------- */

/* The best checkpoint so far is one that was saved right after an evaluation. */
static void note_best(tsri_run *run)
{
    double score =
        isnan(run->position.test_accuracy) ? -run->position.test_loss : run->position.test_accuracy;
    if (!isnan(score) && run->position.recent.count == 0 && score > run->position.best_score) {
        run->position.best_score = score;
        run->position.best_round = run->position.round;
    }
}

/* Certificates measure how far a run is from where it began, and tickets are rewound to there.
 * Weights as drawn follow from the seed; those of a model are in no other file that is sure to be
 * there later. */
static bool is_returned_to(const tsri_run *run, int64_t round)
{
    const tsr_config *c = run->settings.config;
    return round == 0 && *run->init &&
           (tsri_config_int(c, "certify.every") > 0 || tsri_config_int(c, "ticket.rewind") == 0 ||
            tsri_config_is(c, "ticket.controls", "init") ||
            tsri_config_is(c, "ticket.controls", "all"));
}

/* The newest few stay, and as many of those that were due: one that a stop has added must not push
 * out one that an undisturbed run would still have, to which a ticket may rewind. Files of later
 * rounds do not count: they were passed over as damaged when this run was resumed, and would push
 * out the sound ones. */
static tsr_status drop_old(const tsri_run *run)
{
    tsr_status st = TSR_OK;
    char *folder = NULL, **names = NULL;
    int64_t count = 0, keep = tsri_config_int(run->settings.config, "checkpoint.keep");
    int64_t all = 0, due = 0;
    int64_t target = tsri_rolls_back(&run->settings)
                         ? tsri_rollback_target(&run->settings, run->position.round)
                         : -1;
    TSR_TRY(tsri_path_join(&folder, run->settings.options.folder, "checkpoints"));
    TSR_TRY(tsri_list_folder(&names, &count, folder));
    for (int64_t i = count - 1; i >= 0; i--) {
        int64_t round = round_of(names[i]);
        bool known = round >= 0 && round <= run->position.round, newest = known && all++ < keep;
        if (known && tsri_due(&run->settings, round, "checkpoint.every"))
            newest = due++ < keep || newest;
        if (round < 0 || newest || round == run->position.best_round || round == target ||
            is_returned_to(run, round))
            continue;
        char *path = NULL;
        TSR_TRY(tsri_path_join(&path, folder, names[i]));
        (void)tsri_io.unlink(path);
        tsri_free(path);
    }
done:
    tsri_names_free(names, count);
    tsri_free(folder);
    return st;
}

/* What a checkpoint takes from the device, open until it is written. */
typedef struct numbers {
    tsri_opened now;
    tsri_mapping best, average;
} numbers;

static void close_numbers(numbers *n)
{
    tsri_store_close(&n->now);
    tsri_map_close(&n->best);
    tsri_map_close(&n->average);
}

static tsr_status open_numbers(numbers *n, const tsri_run *run)
{
    tsr_status st = TSR_OK;
    const tsri_heap *heap = run->store.heap;
    int64_t bytes = run->net->total * run->store.real_bytes;
    TSR_TRY(tsri_store_open(&n->now, &run->store, TSRI_OPEN_UNITS));
    TSR_TRY(tsri_map_open(&n->best, heap, run->best_w, bytes));
    TSR_TRY(tsri_map_open(&n->average, heap, run->average, bytes));
done:
    return st;
}

/* Weights, the state of the optimiser, and what ranks and observers remember. */
static tsr_status pack(tsri_parcel *parcel, const numbers *n, tsri_run *run)
{
    tsr_status st = TSR_OK;
    TSR_TRY(tsri_parcel_add_model(parcel, n->now.w, "model."));
    TSR_TRY(tsri_parcel_add_trained(parcel, n->now.v, "momentum."));
    if (n->now.s)
        TSR_TRY(tsri_parcel_add_trained(parcel, n->now.s, "variance."));
    if (run->best_w)
        TSR_TRY(tsri_parcel_add_model(parcel, n->best.host, "best."));
    if (run->average)
        TSR_TRY(tsri_parcel_add_model(parcel, n->average.host, "average."));
    TSR_TRY(tsri_score_log_save(&run->scores, parcel));
    for (int i = 0; tsri_observers[i]; i++)
        if (tsri_observers[i]->save)
            TSR_TRY(tsri_observers[i]->save(run, parcel));
done:
    return st;
}

/* With the words that say what it is; those without value are left out. */
static tsr_status write_parcel(tsri_parcel *parcel, const char *path, const tsri_run *run,
                               const char *yaml, const char *state, const char *rollbacks)
{
    char data[16], converted[32];
    (void)snprintf(data, sizeof data, "%08" PRIx32, run->data->hash);
    (void)snprintf(converted, sizeof converted, "%" PRId64, run->position.converted);
    tsri_pair meta[] = {{"tessera.format", "checkpoint/1"},
                        {"tessera.version", tsr_version()},
                        {"tessera.data", data},
                        {"tessera.kernels", tsri_backend_vendor(run->device.backend)},
                        {"tessera.run", yaml},
                        {"tessera.state", state},
                        {TSRI_META_FORCED, run->forced.length > 0 ? run->forced.data : NULL},
                        {TSRI_META_ROLLBACKS, rollbacks},
                        {TSRI_META_TICKET, run->ticket},
                        {META_INIT, *run->init ? run->init : NULL},
                        {META_NET, tsri_convert_kind(&run->settings, &run->position)},
                        {META_CONVERTED, run->position.converted < 0 ? NULL : converted}};
    int64_t pairs = 0;
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        if (meta[i].value)
            meta[pairs++] = meta[i];
    return tsri_parcel_write(parcel, path, meta, pairs);
}

tsr_status tsri_checkpoint_save(tsri_run *run)
{
    tsr_status st = TSR_OK;
    tsri_parcel parcel;
    numbers open = {0};
    tsri_json state = {0};
    tsri_text yaml = {0}, rollbacks = {0};
    char *path = NULL;
    double best_score = run->position.best_score;
    int64_t best_round = run->position.best_round;
    tsri_parcel_init(&parcel, run->net);
    TSR_TRY(tsri_check_sound(run));
    note_best(run);
    TSR_TRY(
        tsri_metrics_sync(run->process.metrics)); /* the offset in the state must be on the disk */
    TSR_TRY(open_numbers(&open, run));
    TSR_TRY(pack(&parcel, &open, run));
    TSR_TRY(write_state(&state, &run->position));
    TSR_TRY(tsri_config_write(&yaml, run->settings.config, NULL));
    TSR_TRY(tsri_rollback_write(&rollbacks, &run->position));
    TSR_TRY(checkpoint_path(&path, run, run->position.round));
    TSR_TRY(write_parcel(&parcel, path, run, yaml.data, state.text.data, rollbacks.data));
    run->process.saved_round = run->position.round;
    if (drop_old(run) != TSR_OK) /* extra ones do no harm */
        TSRI_WARN("old checkpoints were not removed: %s", tsr_last_error());
done:
    if (st != TSR_OK) { /* the best one must be one that is on the disk */
        run->position.best_score = best_score;
        run->position.best_round = best_round;
    }
    tsri_parcel_fini(&parcel);
    close_numbers(&open);
    tsri_json_fini(&state);
    tsri_text_fini(&yaml);
    tsri_text_fini(&rollbacks);
    tsri_free(path);
    return st;
}

/* ---- Loading ------------------------------------------------------------------------------ */

/* Weights beside those of the store; NULL = there are none to read. */
static tsr_status load_other(tsri_mem *w, tsri_run *run, const tsri_tensors *file,
                             const char *prefix, const char *path)
{
    tsri_store other = run->store;
    other.w = w;
    return w ? tsri_store_load(&other, file, prefix, path) : TSR_OK;
}

static tsr_status read_ticket(tsri_run *run, const tsri_tensors *file)
{
    const char *ticket = tsri_tensors_meta(file, TSRI_META_TICKET);
    TSRI_FREE(run->ticket);
    return ticket ? tsri_strdup(&run->ticket, ticket) : TSR_OK;
}

/* A command that names a model is of a run that began with it. A run that is over is only told again. */
static tsr_status same_init(tsri_run *run, const tsri_tensors *file, bool over, const char *path)
{
    tsr_status st = TSR_OK;
    const char *was = tsri_tensors_meta(file, META_INIT), *given = run->process.given;
    TSR_CHECK(!was || !*given || strcmp(was, given) == 0 || over || run->settings.options.force,
              TSR_USAGE,
              "%s is of a run that began with the weights of another model (checksum %s) than the "
              "one that is given now (%s): give that one, begin in another folder, or add --force "
              "to go on all the same",
              path, tsri_quote(was), given);
    (void)snprintf(run->init, sizeof run->init, "%s", was ? was : "");
done:
    return st;
}

/* A run that converts its net has the one that the checkpoint is of before it is read. */
static tsr_status choose_net(tsri_run *run, const tsri_tensors *file, const char *path)
{
    tsr_status st = TSR_OK;
    const char *text = tsri_tensors_meta(file, META_CONVERTED);
    int64_t converted = -1;
    TSR_CHECK(!text || (tsri_number_int(&converted, text) == TSRI_NUMBER_OK && converted >= 0 &&
                        converted <= run->settings.rounds),
              TSR_BAD_FILE, "%s: %s is %s, not a round", path, META_CONVERTED, tsri_quote(text));
    TSR_CHECK(!text || run->settings.convert_round >= 0, TSR_USAGE,
              "%s is of a ReLU net, but the run file does not say convert_at", path);
    TSR_TRY(tsri_convert_as_saved(run, converted));
done:
    return st;
}

static tsr_status load_one(tsri_run *run, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_tensors *file = NULL;
    TSR_TRY(tsri_tensors_read(&file, path));
    const char *format = tsri_tensors_meta(file, "tessera.format");
    const char *state = tsri_tensors_meta(file, "tessera.state");
    const char *kernels = tsri_tensors_meta(file, "tessera.kernels");
    const char *here = tsri_backend_vendor(run->device.backend);
    const char *data = tsri_tensors_meta(file, "tessera.data");
    char data_here[16], why[TSRI_WHY] = "";
    bool sound = true;
    (void)snprintf(data_here, sizeof data_here, "%08" PRIx32, run->data->hash);
    TSR_CHECK(format && strcmp(format, "checkpoint/1") == 0 && state && kernels, TSR_BAD_FILE,
              "%s: not a checkpoint of this version", path);
    TSR_CHECK(!data || strcmp(data, data_here) == 0 || run->settings.options.force, TSR_USAGE,
              "%s was trained on other data (checksum %s) than %s is now (%s): bring the old data "
              "back, begin in another folder, or add --force",
              path, tsri_quote(data), run->data->name, data_here);
    TSR_TRY(choose_net(run, file, path));
    TSR_TRY(tsri_store_load(&run->store, file, "model.", path));
    TSR_TRY(tsri_store_load_trained(&run->store, TSRI_MOMENTUM, file, "momentum.", path));
    if (run->store.s)
        TSR_TRY(tsri_store_load_trained(&run->store, TSRI_VARIANCE, file, "variance.", path));
    TSR_TRY(load_other(run->best_w, run, file, "best.", path));
    TSR_TRY(load_other(run->average, run, file, "average.", path));
    TSR_TRY(read_state(&run->position, state, run->settings.rounds, path));
    TSR_TRY(read_ticket(run, file));
    TSR_TRY(tsri_rollback_read(&run->position, tsri_tensors_meta(file, TSRI_META_ROLLBACKS), path));
    run->process.rollbacks_written = run->position.rollbacks;
    TSR_TRY(tsri_is_sound(&sound, why, run));
    TSR_CHECK(sound, TSR_BAD_FILE, "%s: %s: its weights have diverged", path, why);
    if (run->scores.cut)
        TSR_TRY(tsri_score_log_load(&run->scores, file, path));
    for (int i = 0; tsri_observers[i]; i++)
        if (tsri_observers[i]->load)
            TSR_TRY(tsri_observers[i]->load(run, file, path));
    bool over = run->position.round >= run->settings.rounds ||
                tsri_iterate_enough(&run->settings, &run->position); /* nothing is computed */
    TSR_TRY(same_init(run, file, over, path));
    TSR_CHECK(
        strcmp(kernels, here) == 0 || over || run->settings.options.force, TSR_USAGE,
        "%s was computed by %s but this machine has %s: the numbers would no longer be those of "
        "one run; add --force to go on all the same",
        path, tsri_quote(kernels), here);
    TSR_TRY(tsri_forced_note(run, file, kernels, data, path));
    run->process.saved_round = run->position.round;
done:
    tsri_tensors_destroy(file);
    return st;
}

tsr_status tsri_checkpoint_load(tsri_run *run, bool *found)
{
    return tsri_checkpoint_load_until(run, found, INT64_MAX);
}

tsr_status tsri_checkpoint_load_until(tsri_run *run, bool *found, int64_t last)
{
    tsr_status st = TSR_OK;
    char *folder = NULL, **names = NULL, *path = NULL;
    int64_t count = 0, damaged = 0;
    *found = false;
    TSR_TRY(tsri_path_join(&folder, run->settings.options.folder, "checkpoints"));
    TSR_TRY(tsri_list_folder(&names, &count, folder));
    for (int64_t i = count - 1; i >= 0 && !*found; i--) {
        if (round_of(names[i]) < 0)
            continue;
        TSRI_FREE(path);
        TSR_TRY(tsri_path_join(&path, folder, names[i]));
        if (round_of(names[i]) > last) { /* of rounds that were given up */
            (void)tsri_io.unlink(path);
            continue;
        }
        st = load_one(run, path);
        *found = st == TSR_OK;
        if (st != TSR_OK && st != TSR_BAD_FILE)
            goto done; /* not the file's fault */
        if (st == TSR_BAD_FILE) {
            TSRI_WARN("%s; trying the checkpoint before it", tsr_last_error());
            damaged++;
        }
    }
    st = TSR_OK;
    TSR_CHECK(*found || damaged == 0, TSR_BAD_FILE,
              "%s: none of the %lld checkpoints can be read: begin again in another folder", folder,
              (long long)damaged);
done:
    tsri_names_free(names, count);
    tsri_free(folder);
    tsri_free(path);
    return st;
}
