/* test_context.c - two runs in one process, each in a context of its own, do not disturb each
 * other.
 *
 * One is stopped or runs out of memory; the other ends with the bits that it has alone. Neither
 * hears the other's messages nor takes memory from the other's allocator, and the context that
 * every thread begins with sees nothing of them.
 */
#include "scratch.h"

#include "base/context.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/stop.h"
#include "io/digest.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A run on a thread of its own. */
typedef struct party {
    const char *momentum; /* by which its messages are known */
    const char *epochs;
    char folder[128];
    tsr_context *context, *victim; /* victim: stopped by this one's first sign of life, or NULL */
    int64_t memory_after;          /* that many blocks can be taken; -1 = as many as it likes */
    pthread_t thread;
    tsr_status status;
    _Atomic int64_t messages, strange, live, taken;
} party;

/* ---- Its own log, allocator and progress ---------------------------------------------------- */

static void hear(void *argument, tsr_log_level level, const char *text)
{
    party *p = argument;
    (void)level;
    atomic_fetch_add(strstr(text, p->momentum) ? &p->messages : &p->strange, 1);
}

static void *take(void *context, size_t bytes)
{
    party *p = context;
    if (p->memory_after >= 0 && atomic_fetch_add(&p->taken, 1) >= p->memory_after)
        return NULL;
    atomic_fetch_add(&p->live, 1);
    return aligned_alloc(64, bytes);
}

static void give(void *context, void *memory)
{
    party *p = context;
    atomic_fetch_sub(&p->live, 1);
    free(memory);
}

static void progress(void *context, const tsr_progress *now)
{
    party *p = context;
    (void)now;
    if (p->victim)
        tsr_context_stop(p->victim);
}

/* ---- The run -------------------------------------------------------------------------------- */

static tsr_status new_config(tsr_config **config, const party *p)
{
    static const char *const lines[] = {"data.name=glyphs", "data.n=48",        "data.test_n=8",
                                        "batch=8",          "optim.lr=0.01",    "model.norm=batch",
                                        "threads=2",        "model.hidden=[8]", "optim.name=gd"};
    tsr_status st = TSR_OK;
    char line[64];
    TSR_TRY(tsr_config_create(config));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        TSR_TRY(tsr_config_set(*config, lines[i]));
    (void)snprintf(line, sizeof line, "optim.momentum=%s", p->momentum);
    TSR_TRY(tsr_config_set(*config, line));
    (void)snprintf(line, sizeof line, "epochs=%s", p->epochs);
    TSR_TRY(tsr_config_set(*config, line));
done:
    return st;
}

static void *live(void *argument)
{
    party *p = argument;
    tsr_result result = tsr_result_default();
    tsr_config *config = NULL;
    tsr_run_options o = tsr_run_options_default();
    o.folder = p->folder;
    o.progress = progress;
    o.context = p;
    (void)tsr_context_use(p->context);
    p->status = new_config(&config, p);
    if (p->status == TSR_OK)
        p->status = tsr_train(&result, config, &o);
    tsr_config_destroy(config);
    (void)tsr_context_use(NULL);
    return NULL;
}

static void begin(party *p, const char *name)
{
    tsr_allocator own = {take, give, p};
    (void)snprintf(p->folder, sizeof p->folder, "%s", scratch_path(name));
    assert_ok(tsr_context_create(&p->context));
    tsr_context_set_allocator(p->context, &own);
    tsr_context_set_log(p->context, hear, p, TSR_LOG_INFO);
}

static void start(party *p)
{
    assert_int_equal(pthread_create(&p->thread, NULL, live, p), 0);
}

/* It holds nothing any more, and heard what was its own. */
static void end(party *p)
{
    assert_int_equal(pthread_join(p->thread, NULL), 0);
    assert_int_equal(p->live, 0);
    assert_int_equal(p->strange, 0);
    assert_int_equal(tsr_context_memory_in_use(p->context), 0);
    assert_true(tsr_context_memory_peak(p->context) > 0 || p->memory_after == 0);
    tsr_context_destroy(p->context);
}

static void hash_model(char hash[TSRI_SHA256_HEX], const party *p)
{
    char path[200], *bytes = NULL;
    int64_t n;
    (void)snprintf(path, sizeof path, "%s/model.safetensors", p->folder);
    assert_ok(tsri_file_read(&bytes, &n, path, 1 << 24));
    assert_ok(tsri_sha256(hash, bytes, n));
    tsri_free(bytes);
}

static char alone[TSRI_SHA256_HEX]; /* the model of the run that nobody disturbs */
static tsr_config *outside;

static party undisturbed(tsr_context *victim)
{
    return (party){.momentum = "0.25", .epochs = "12", .victim = victim, .memory_after = -1};
}

static int setup(void **state)
{
    party p = undisturbed(NULL);
    if (scratch_setup(state) != 0)
        return -1;
    assert_ok(tsr_config_create(&outside)); /* something in the context that is always there */
    begin(&p, "alone");
    start(&p);
    end(&p);
    assert_int_equal(p.status, TSR_OK);
    assert_true(p.messages > 0);
    hash_model(alone, &p);
    return 0;
}

static int teardown(void **state)
{
    tsr_config_destroy(outside);
    return scratch_teardown(state);
}

static void count_all(void *argument, tsr_log_level level, const char *text)
{
    (void)level, (void)text;
    ++*(int *)argument;
}

/* Runs both at once, and looks at the context of this thread meanwhile. */
static void together(party *disturbed, const char *name, bool stop_it)
{
    char hash[TSRI_SHA256_HEX];
    int heard = 0;
    size_t held = tsr_memory_in_use(), peak = tsr_memory_peak();
    tsr_set_log(count_all, &heard, TSR_LOG_DEBUG);
    begin(disturbed, name);
    party other = undisturbed(stop_it ? disturbed->context : NULL);
    char beside[64];
    (void)snprintf(beside, sizeof beside, "%s-beside", name);
    begin(&other, beside);
    start(disturbed);
    start(&other);
    end(&other);
    end(disturbed);
    assert_int_equal(other.status, TSR_OK);
    assert_true(other.messages > 0);
    hash_model(hash, &other);
    assert_string_equal(hash, alone);
    assert_int_equal(heard, 0);
    assert_int_equal(tsr_memory_in_use(), held);
    assert_true(tsr_memory_peak() - peak < 1 << 20); /* hash_model's file */
    assert_false(tsri_stop_asked());
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
}

static void one_is_stopped(void **state)
{
    (void)state;
    party p = {.momentum = "0.5", .epochs = "1000000", .memory_after = -1};
    together(&p, "stopped", true);
    assert_int_equal(p.status, TSR_INTERRUPTED);
}

static void one_has_no_memory(void **state)
{
    (void)state;
    static const int64_t after[] = {0, 100, 400};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
        char name[32];
        party p = {.momentum = "0.5", .epochs = "1000000", .memory_after = after[i]};
        (void)snprintf(name, sizeof name, "poor%zu", i);
        together(&p, name, false);
        assert_int_equal(p.status, TSR_RESOURCES);
    }
}

/* ---- Forks ---------------------------------------------------------------------------------- */

static int door[2];
static _Atomic bool speaking;

static void speak_until_told(void *argument, tsr_log_level level, const char *text)
{
    char key;
    (void)argument, (void)level, (void)text;
    speaking = true;
    assert_int_equal(read(door[0], &key, 1), 1);
}

static void *speaker(void *unused)
{
    TSRI_WARN("0.5");
    return unused;
}

/* A child that is forked in the middle of another thread's message can be heard, and does not hang. */
static void a_child_has_the_log_lock(void **state)
{
    (void)state;
    pthread_t thread;
    int status = -1;
    assert_int_equal(pipe(door), 0);
    tsr_set_log(speak_until_told, NULL, TSR_LOG_WARNING);
    assert_int_equal(pthread_create(&thread, NULL, speaker, NULL), 0);
    while (!speaking)
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(10);
        tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(write(door[1], "k", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(status, 0);
    tsr_set_log(NULL, NULL, TSR_LOG_ERROR);
    (void)close(door[0]);
    (void)close(door[1]);
}

/* ---- Threads and blocks --------------------------------------------------------------------- */

enum { THREADS = 4 };

static tsr_context *seen[THREADS];

static void look(void *context, int64_t i, int thread)
{
    (void)context, (void)i;
    seen[thread] = tsri_context();
    TSRI_INFO("0.5");
    (void)nanosleep(&(struct timespec){0, 2000000}, NULL); /* so that all of them come */
}

static void threads_inherit(void **state)
{
    (void)state;
    party p = {.momentum = "0.5", .memory_after = -1};
    tsri_pool *pool = NULL;
    begin(&p, "pool");
    tsr_context *before = tsr_context_use(p.context);
    assert_ok(tsri_pool_create(&pool, THREADS));
    tsri_pool_run(pool, look, NULL, 100);
    assert_ptr_equal(tsr_context_use(before), p.context);
    tsri_pool_destroy(pool); /* from another context: what it held goes back to its own */
    assert_int_equal(p.live, 0);
    assert_int_equal(p.messages, 100);
    int strangers = 0;
    for (int i = 1; i < THREADS; i++)
        strangers += seen[i] && seen[i] != p.context;
    assert_true(seen[1] || seen[2] || seen[3]);
    assert_int_equal(strangers, 0);
    tsr_context_destroy(p.context);
}

/* What was made in a context may outlive it, and its allocator may be changed meanwhile. */
static void blocks_go_home(void **state)
{
    (void)state;
    party p = {.momentum = "0.5", .memory_after = -1};
    int64_t blocks = tsri_alloc_blocks();
    void *first = NULL, *second = NULL;
    begin(&p, "blocks");
    (void)tsr_context_use(p.context);
    assert_ok(tsri_alloc(&first, 10, 8));
    tsr_context_set_allocator(p.context, NULL);
    assert_ok(tsri_alloc(&second, 10, 8));
    assert_int_equal(tsri_alloc_blocks(), 2);
    assert_int_equal(p.live, 1);
    tsr_context_destroy(p.context); /* this thread goes back to the one that is always there */
    assert_int_equal(tsri_alloc_blocks(), blocks);
    tsri_free(first);
    assert_int_equal(p.live, 0);
    tsri_free(second);
    assert_int_equal(tsri_alloc_blocks(), blocks);
}

/* The functions without a context are those of the one that is always there. */
static void the_old_way(void **state)
{
    (void)state;
    tsr_context *mine = NULL;
    assert_ok(tsr_context_create(&mine));
    (void)tsr_context_use(mine);
    tsr_request_stop();
    assert_false(tsri_stop_asked());
    (void)tsr_context_use(NULL);
    assert_true(tsri_stop_asked());
    tsri_stop_clear();
    tsr_context_stop(mine);
    assert_false(tsri_stop_asked());
    tsr_context_destroy(mine);
    tsr_context_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_stopped),    cmocka_unit_test(a_child_has_the_log_lock),
        cmocka_unit_test(one_has_no_memory), cmocka_unit_test(threads_inherit),
        cmocka_unit_test(blocks_go_home),    cmocka_unit_test(the_old_way),
    };
    return nothing_left(cmocka_run_group_tests(tests, setup, teardown));
}
