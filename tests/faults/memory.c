/* memory.c - allocations that fail, through the whole public interface.
 *
 * A step does one thing with include/tessera.h alone. It is done once undisturbed, then once for
 * every number of an allocation, with that one failing, or that one and all later ones: the step
 * says that it failed (or did its work all the same, to the bit), and nothing of what it took is
 * left. What it leaves on the disk is fit to go on with. */
#include "kinds.h"

#include "heap.h"
#include "tessera.h"
#include "world.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void quietly(void *context, tsr_log_level level, const char *text)
{
    (void)context, (void)level, (void)text;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((st = (call)) != TSR_OK)                                                               \
            goto done;                                                                             \
    } while (0)

/* ---- The steps ----------------------------------------------------------------------------- */

static tsr_status read_config(tsr_config **config)
{
    tsr_status st = TSR_OK;
    TRY(tsr_config_read(config, "run.yaml"));
    TRY(tsr_config_set(*config, "scheme.name=ist"));
    TRY(tsr_config_set(*config, "scheme.workers=2"));
    TRY(tsr_config_set(*config, "model.hidden=[8, 6]"));
done:
    return st;
}

static tsr_status configure(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL, *other = NULL;
    tsr_needs needs = tsr_needs_default();
    tsr_cost cost = tsr_cost_default();
    TRY(read_config(&config));
    TRY(tsr_config_create(&other));
    TRY(tsr_check(&needs, config));
    TRY(tsr_cost_count(&cost, config, NULL));
done:
    tsr_config_destroy(config);
    tsr_config_destroy(other);
    return st;
}

static tsr_status train(bool resume, const char *init)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_run_options o = tsr_run_options_default();
    tsr_result r = tsr_result_default();
    o.folder = "disk/run";
    o.resume = resume;
    o.init = init;
    TRY(read_config(&config));
    TRY(tsr_train(&r, config, &o));
done:
    tsr_config_destroy(config);
    return st;
}

static tsr_status train_new(void)
{
    return train(false, NULL);
}

static tsr_status train_on(void)
{
    return train(true, NULL);
}

static tsr_status use_model(void)
{
    tsr_status st = TSR_OK;
    tsr_model *m = NULL;
    tsr_result r = tsr_result_default();
    float *outputs = NULL;
    int32_t *labels = NULL;
    int64_t n, width;
    tsr_param p = tsr_param_default();
    TRY(tsr_model_read(&m, "disk/run/model.safetensors"));
    for (int64_t i = 0; i < tsr_model_params(m); i++)
        must(tsr_model_param(&p, m, i) == TSR_OK, "no parameter");
    must(tsr_model_meta(m, "tessera.version") != NULL, "no version");
    TRY(tsr_model_evaluate(&r, m, false));
    TRY(tsr_model_predict(&outputs, &labels, &n, &width, m, true));
done:
    tsr_free(outputs);
    tsr_free(labels);
    tsr_model_destroy(m);
    return st;
}

static tsr_status prune_model(void)
{
    tsr_status st = TSR_OK;
    tsr_model *whole = NULL, *ticket = NULL;
    tsr_layer_distance *far = NULL;
    tsr_prune_options how = tsr_prune_options_default();
    int64_t n;
    TRY(tsr_prune("disk/ticket", "disk/run/model.safetensors", &how));
    TRY(tsr_model_read(&whole, "disk/run/model.safetensors"));
    TRY(tsr_model_read(&ticket, "disk/ticket"));
    TRY(tsr_model_distance(&far, &n, whole, ticket));
    TRY(tsr_config_finetune(tsr_model_config(ticket), 2, 0.01));
done:
    tsr_free(far);
    tsr_model_destroy(whole);
    tsr_model_destroy(ticket);
    return st;
}

static tsr_status read_table(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_needs needs = tsr_needs_default();
    TRY(tsr_config_create(&config));
    TRY(tsr_config_set(config, "data.path=disk/t.csv"));
    TRY(tsr_config_set(config, "batch=8"));
    TRY(tsr_check(&needs, config));
done:
    tsr_config_destroy(config);
    return st;
}

/* ---- Before and after ---------------------------------------------------------------------- */

static void from_nothing(void)
{
    remove_tree("disk/run");
}

static void from_checkpoint(void)
{
    copy_tree("disk/run", "ended");
    must(remove("disk/run/model.safetensors") == 0 &&
             remove("disk/run/checkpoints/ckpt-000000000016.safetensors") == 0,
         "no run to go on with");
}

static void as_it_is(void)
{
}

static bool is_ended(const char *path)
{
    int64_t n, m;
    char *a = get_file(path, &n), *b = get_file("ended/model.safetensors", &m);
    bool same = a && b && n == m && memcmp(a, b, (size_t)n) == 0;
    free(a);
    free(b);
    return same;
}

/* It ended with the bits of the undisturbed one, or can go on to them. */
static bool run_is_well(tsr_status st)
{
    return (st == TSR_OK || train_on() == TSR_OK) && is_ended("disk/run/model.safetensors");
}

static bool always(tsr_status st)
{
    (void)st;
    return true;
}

static const struct step {
    const char *name;
    void (*before)(void);
    tsr_status (*run)(void);
    bool (*is_well)(tsr_status st);
} steps[] = {
    {"configure", as_it_is, configure, always},
    {"train", from_nothing, train_new, run_is_well},
    {"resume", from_checkpoint, train_on, run_is_well},
    {"use", as_it_is, use_model, always},
    {"prune", as_it_is, prune_model, always},
    {"table", as_it_is, read_table, always},
};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- Walking ------------------------------------------------------------------------------- */

typedef struct progress { /* shared with the child */
    int64_t at, tried;
    int bad;
    bool over;
} progress;

static void try_one(const struct step *s, progress *p, bool persistent)
{
    char who[256] = "";
    int64_t count;
    s->before();
    (void)alarm(60);
    heap_arm(p->at, persistent);
    tsr_status st = s->run();
    bool met = heap_disarm(&count);
    int64_t left = heap_left(who, sizeof who);
    p->over = !met;
    p->tried += met;
    if (st != TSR_OK && !*tsr_last_error())
        complain("%s, allocation %lld: status %d without a sentence", s->name, (long long)p->at,
                 (int)st);
    if (!met && st != TSR_OK)
        complain("%s, nothing failed: %s", s->name, tsr_last_error());
    if (left > 0 || tsr_memory_in_use() > 0)
        complain("%s, allocation %lld%s: %lld blocks (%zu bytes of ours) are never freed, the "
                 "first taken at %s: %s",
                 s->name, (long long)p->at, persistent ? " and later" : "", (long long)left,
                 tsr_memory_in_use(), who, tsr_last_error());
    if (!s->is_well(st))
        complain("%s, allocation %lld%s: status %d, and what it left is not fit to go on with: %s",
                 s->name, (long long)p->at, persistent ? " and later" : "", (int)st,
                 tsr_last_error());
}

/* A child goes through the numbers; where it dies, the next one takes over behind that number. */
static int64_t walk(const struct step *s, progress *p, int64_t first, int64_t stride,
                    bool persistent)
{
    *p = (progress){.at = first};
    while (!p->over) {
        (void)fflush(NULL);
        pid_t child = fork();
        must(child >= 0, "cannot fork");
        if (child == 0) {
            for (; !p->over; p->at += stride)
                try_one(s, p, persistent);
            no_leak();
            (void)fflush(NULL);
            p->bad = complaints;
            _exit(0);
        }
        int status = 0;
        must(waitpid(child, &status, 0) == child, "lost a child");
        if (status != 0) {
            complain("%s, allocation %lld%s: signal %d, exit %d", s->name, (long long)p->at,
                     persistent ? " and later" : "", WTERMSIG(status), WEXITSTATUS(status));
            p->at += stride;
        } else {
            complaints = p->bad > complaints ? p->bad : complaints;
        }
    }
    return p->tried;
}

void try_memory(void)
{
    static char text[4000];
    int64_t total = 0, stride = is_long() ? 1 : 97;
    const char *from = getenv("TESSERA_FAULTS_FROM"); /* a number that it was said to die at */
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    size_t n = 0;
    for (int i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%d,%s,0.%d\n", i, i % 3 ? "red" : "",
                              i % 7);
    put_file("disk/t.csv", text, (int64_t)n);
    const char *run = find_scenario("dense")->run;
    put_file("run.yaml", run, (int64_t)strlen(run));
    tsr_set_log(quietly, NULL, TSR_LOG_WARNING);
    must(train_new() == TSR_OK, "no run: %s", tsr_last_error());
    copy_tree("ended", "disk/run");
    for (int i = 0; i < STEPS; i++) {
        if (only && strcmp(only, steps[i].name) != 0)
            continue;
        must(steps[i].run == train_new || steps[i].run == train_on || steps[i].run() == TSR_OK,
             "%s: %s", steps[i].name, tsr_last_error());
        int64_t once = from ? 0 : walk(&steps[i], p, i % stride, stride, false);
        int64_t forever =
            walk(&steps[i], p, from ? atoll(from) : (i + 40) % stride, 3 * stride, true);
        (void)printf("%s: %lld\n", steps[i].name, (long long)(once + forever));
        (void)fflush(stdout);
        total += once + forever;
        copy_tree("disk/run", "ended");
    }
    must(total > 0, "there is no step %s", only);
    (void)printf("%lld failed allocations\n", (long long)total);
}
