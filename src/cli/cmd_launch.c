/* cmd_launch.c - tessera launch: a run on many processes or hosts, by mpirun with the options that
 * it needs. */
#include "cli/alive.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "cli/string.h"
#include "cli/training.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Seconds; after the first a worker gives up a host that does not answer, too (lifeline.c). */
enum { SILENCE = 180, LEAST_SILENCE = 5 * CLI_ALIVE_SECONDS };

typedef struct plan {
    const cli_args *args;
    tsr_config *config;
    cli_host host[CLI_HOSTS_MAX];
    int hosts; /* 0 = all here */
    int first; /* of them, the coordinator's */
    int ranks;
    char token[40];
    cli_words words; /* of mpirun */
} plan;

/* ---- How many, and where -------------------------------------------------------------------- */

/* mpirun begins with its own host, where that is among them, and else with the first. The
 * coordinator, which mostly waits, is one process more there. */
static void place_coordinator(plan *p)
{
    p->first = 0;
    for (int i = p->hosts - 1; i >= 0; i--)
        if (cli_host_is_here(&p->host[i]))
            p->first = i;
    p->host[p->first].workers++;
}

static tsr_status count_ranks(plan *p)
{
    tsr_status st = TSR_OK;
    const char *hosts = cli_text(p->args, "hosts");
    int workers = 0;
    if (hosts)
        TSR_TRY(cli_hosts_read(p->host, &p->hosts, hosts));
    for (int i = 0; i < p->hosts; i++)
        workers += p->host[i].workers;
    if (!hosts)
        workers = (int)cli_setting_real(p->config, "scheme.workers");
    p->ranks = (int)cli_int(p->args, "ranks", workers + 1);
    TSR_CHECK(p->ranks >= 2, TSR_USAGE,
              "launch: one process needs no mpirun: say how many with -n, or use tessera train");
    if (p->hosts > 0)
        place_coordinator(p);
done:
    return st;
}

/* The most workers that share a machine. */
static int crowd(const plan *p)
{
    int most = p->hosts == 0 ? p->ranks - 1 : 1;
    for (int i = 0; i < p->hosts; i++) {
        int here = p->host[i].workers - (i == p->first);
        most = here > most ? here : most;
    }
    return most;
}

/* ---- The command line ----------------------------------------------------------------------- */

static tsr_status add_all(cli_words *words, const char *const *word)
{
    tsr_status st = TSR_OK;
    for (; *word; word++)
        TSR_TRY(cli_words_add(words, "%s", *word));
done:
    return st;
}

static tsr_status add_setting(cli_words *words, const char *name, const char *value)
{
    return add_all(words, (const char *const[]){"--mca", name, value, NULL});
}

static tsr_status add_number(cli_words *words, const char *name, int value)
{
    char word[16];
    (void)snprintf(word, sizeof word, "%d", value);
    return add_setting(words, name, word);
}

static tsr_status add_range(cli_words *words, const char *name, int from, int to)
{
    char word[32];
    (void)snprintf(word, sizeof word, "%d-%d", from, to);
    return add_setting(words, name, word);
}

/* Ports A to B: the last one is the lifeline's, the four before it mpirun's, the four before those
 * mpirun's again, by IPv6, and the rest MPI's. IPv6 is not used, but Open MPI listens there
 * whatever it is told: so it is told where. */
static tsr_status add_ports(plan *p, int *lifeline)
{
    tsr_status st = TSR_OK;
    const char *text = cli_text(p->args, "ports"), *at = text;
    int from = 0, to = 0;
    if (!text)
        return TSR_OK;
    bool fine = cli_number_at(&from, &at) && *at++ == '-' && cli_number_at(&to, &at) && !*at;
    TSR_CHECK(fine && from >= 1024 && to - from >= 9 + p->ranks, TSR_USAGE,
              "launch: --ports must be a range like 20000-20999 of at least %d ports from 1024 to "
              "65535, not '%s'",
              10 + p->ranks, tsr_quote(text));
    TSR_TRY(add_number(&p->words, "btl_tcp_port_min_v4", from));
    TSR_TRY(add_number(&p->words, "btl_tcp_port_range_v4", to - 9 - from + 1));
    TSR_TRY(add_number(&p->words, "btl_tcp_port_min_v6", from));
    TSR_TRY(add_number(&p->words, "btl_tcp_port_range_v6", to - 9 - from + 1));
    TSR_TRY(add_range(&p->words, "oob_tcp_dynamic_ipv4_ports", to - 4, to - 1));
    TSR_TRY(add_range(&p->words, "oob_tcp_dynamic_ipv6_ports", to - 8, to - 5));
    TSR_TRY(add_setting(&p->words, "btl_tcp_disable_family", "6"));
    *lifeline = to;
done:
    return st;
}

static tsr_status add_hosts(plan *p)
{
    tsr_status st = TSR_OK;
    cli_string list = {0};
    const char *wire = cli_text(p->args, "interface");
    if (p->hosts == 0)
        return TSR_OK;
    for (int i = 0; i < p->hosts; i++)
        TSR_TRY(cli_string_add(&list, "%s%.*s:%d", i ? "," : "", p->host[i].length, p->host[i].name,
                               p->host[i].workers));
    TSR_TRY(add_all(&p->words, (const char *const[]){"--host", list.data, NULL}));
    if (wire) {
        TSR_TRY(add_setting(&p->words, "btl_tcp_if_include", wire));
        TSR_TRY(add_setting(&p->words, "oob_tcp_if_include", wire));
    }
    if (getenv("TESSERA_DATA"))
        TSR_TRY(add_all(&p->words, (const char *const[]){"-x", "TESSERA_DATA", NULL}));
done:
    cli_string_fini(&list);
    return st;
}

/* Options of train are passed on as they were given. */
static tsr_status add_train(plan *p, int lifeline)
{
    tsr_status st = TSR_OK;
    char self[4096] = "";
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    TSR_CHECK(n > 0, TSR_FAILURE, "cannot find the file of this program: %s", strerror(errno));
    TSR_TRY(add_all(&p->words, (const char *const[]){self, "train", p->args->operand[0], NULL}));
    for (int64_t i = 0; i < p->args->given_count; i++) {
        const cli_given *g = &p->args->given[i];
        if (!cli_find_option(cli_train.options, g->option->name) &&
            !cli_find_option(cli_common, g->option->name))
            continue;
        TSR_TRY(cli_words_add(&p->words, "--%s", g->option->name));
        if (g->value)
            TSR_TRY(cli_words_add(&p->words, "%s", g->value));
    }
    if (cli_setting_real(p->config, "threads") == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN) / crowd(p);
        TSR_TRY(cli_words_add(&p->words, "--set"));
        TSR_TRY(cli_words_add(&p->words, "threads=%ld", cores > 1 ? cores : 1));
    }
    if (lifeline > 0) {
        TSR_TRY(cli_words_add(&p->words, "--set"));
        TSR_TRY(cli_words_add(&p->words, "cluster.port=%d", lifeline));
    }
done:
    return st;
}

/* More ranks than cores are fine, threads go where there is room, and a dead rank ends nobody
 * else. */
static tsr_status build(plan *p)
{
    tsr_status st = TSR_OK;
    int lifeline = 0;
    TSR_TRY(cli_words_add(&p->words, "mpirun"));
    if (geteuid() == 0)
        TSR_TRY(cli_words_add(&p->words, "--allow-run-as-root"));
    TSR_TRY(add_all(&p->words,
                    (const char *const[]){"--oversubscribe", "--bind-to", "none",
                                          "--enable-recovery", "-x", CLI_LAUNCH_TOKEN, NULL}));
    TSR_TRY(add_ports(p, &lifeline));
    TSR_TRY(add_hosts(p));
    TSR_TRY(cli_words_add(&p->words, "-n"));
    TSR_TRY(cli_words_add(&p->words, "%d", p->ranks));
    TSR_TRY(add_train(p, lifeline));
done:
    return st;
}

/* ---- Shipping ------------------------------------------------------------------------------- */

static tsr_status add_path(cli_words *paths, const char *path)
{
    tsr_status st = TSR_OK;
    char *whole = path && *path ? realpath(path, NULL) : NULL;
    TSR_CHECK(!path || !*path || whole, TSR_BAD_FILE, "%s: cannot be shipped: %s", tsr_quote(path),
              strerror(errno));
    if (whole)
        TSR_TRY(cli_words_add(paths, "%s", whole));
done:
    free(whole);
    return st;
}

/* Run file, data where they lie here, and the model to begin with. */
static tsr_status ship(const plan *p)
{
    tsr_status st = TSR_OK;
    cli_words paths = {0};
    char *located = NULL, *folder = getcwd(NULL, 0);
    TSR_CHECK(folder, TSR_FAILURE, "cannot tell the current folder: %s", strerror(errno));
    TSR_CHECK(p->hosts > 0, TSR_USAGE,
              "launch: --ship copies to other hosts: name them with --hosts");
    TSR_TRY(add_path(&paths, p->args->operand[0]));
    TSR_TRY(add_path(&paths, cli_text(p->args, "init")));
    TSR_TRY(tsr_data_where(&located, p->config));
    TSR_TRY(add_path(&paths, located));
    TSR_TRY(cli_ship(p->host, p->hosts, &paths, folder));
done:
    tsr_free(located);
    free(folder);
    cli_words_fini(&paths);
    return st;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* A random token, so that nothing else that a run prints is taken for its last line. */
static tsr_status make_token(plan *p)
{
    tsr_status st = TSR_OK;
    uint64_t number[2];
    TSR_CHECK(getrandom(number, sizeof number, 0) == (ssize_t)sizeof number, TSR_RESOURCES,
              "the system has no random bytes: %s", strerror(errno));
    (void)snprintf(p->token, sizeof p->token, "%016llx%016llx", (unsigned long long)number[0],
                   (unsigned long long)number[1]);
    (void)setenv(CLI_LAUNCH_TOKEN, p->token, 1);
done:
    return st;
}

static tsr_status prepare(plan *p)
{
    tsr_status st = TSR_OK;
    const char *out = cli_text(p->args, "out");
    TSR_CHECK(cli_built_with("mpi"), TSR_USAGE,
              "launch: this program was built without MPI: install libopenmpi-dev openmpi-bin and "
              "build it again");
    TSR_CHECK(out && *out, TSR_USAGE, "give --out DIR, the folder of the run");
    TSR_TRY(tsr_config_read(&p->config, p->args->operand[0]));
    TSR_TRY(cli_settings(p->config, p->args));
    TSR_TRY(count_ranks(p));
    TSR_TRY(build(p));
done:
    return st;
}

/* A coordinator on this host cannot be out of reach. */
static cli_far far_from(const plan *p)
{
    cli_far far = {.host = p->host[p->first],
                   .start = cli_setting_real(p->config, "cluster.start")};
    if (p->hosts > 0 && !cli_host_is_here(&far.host))
        far.silence = (double)cli_int(p->args, "silence", SILENCE);
    return far;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    plan p = {.args = args};
    cli_far far;
    cli_string line = {0};
    int code = 0;
    TSR_TRY(prepare(&p));
    TSR_TRY(cli_words_line(&line, &p.words));
    if (cli_has(args, "dry-run")) {
        (void)printf("%s\n", line.data);
        goto done;
    }
    if (cli_has(args, "ship"))
        TSR_TRY(ship(&p));
    if (!args->quiet)
        cli_say("%s", line.data);
    TSR_TRY(make_token(&p));
    far = far_from(&p);
    TSR_TRY(cli_launch(&code, &p.words, p.token, p.ranks, &far));
    if (code != 0)
        exit(code); /* the run has said why, as text and as JSON */
done:
    cli_string_fini(&line);
    cli_words_fini(&p.words);
    tsr_config_destroy(p.config);
    return st;
}

static const cli_option options[] = {
    {"ranks", 'n', "N", CLI_INT,
     .help = "processes in all: one coordinates, the others work (usually scheme.workers + 1)",
     .least = 1, .most = 4096},
    {"hosts", 'H', "A,B:4,...", CLI_TEXT,
     .help = "hosts, each with its number of workers (1); the coordinator runs on this host if it "
             "is listed, else on the first"},
    {"ship", 0, NULL, CLI_FLAG,
     .help = "first copy the run file and the data to the same paths on the hosts"},
    {"interface", 0, "NAME", CLI_TEXT,
     .help = "with --hosts: the network to use, as eth0 or 10.1.0.0/24"},
    {"silence", 0, "SECONDS", CLI_INT,
     .help = "give up a coordinator on another host after so long without word from it (180)",
     .least = LEAST_SILENCE, .most = 86400},
    {"ports", 0, "FROM-TO", CLI_TEXT, .help = "use only these ports, as a firewall allows"},
    {"dry-run", 0, NULL, CLI_FLAG, .help = "print the mpirun command and do nothing"},
    CLI_OPTIONS_TRAIN,
    {0},
};

const cli_command cli_launch_command = {
    .name = "launch",
    .help = "train on many processes or hosts, by mpirun",
    .synopsis = "RUN-FILE --out DIR",
    .least = 1,
    .most = 1,
    .operand = CLI_FILE,
    .options = options,
    .details =
        "Calls mpirun with the options a run needs: more ranks than cores are allowed, no "
        "binding, a dead rank does not end the others, and the ranks of a machine share its "
        "threads. The whole call is printed first. All options of train may be given; the bits "
        "are those of train.\n\n"
        "Ctrl-C lets the run save and stop (exit 130; --resume continues); a second one ends it "
        "at once. The exit code is the run's own.\n\n"
        "Hosts are reached by ssh without a password and need the same version of this program at "
        "the same path; --ship copies the run file and the data, nothing else.",
    .run = run,
};
