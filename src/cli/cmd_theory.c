/* cmd_theory.c - tessera theory: the calculator of widths, iterations and steps. */
#include "cli/commands.h"
#include "cli/args.h"
#include "cli/print.h"

#include <math.h>
#include <stdio.h>

/* A number that no double can hold is given by its logarithm. */
static void cell(cli_table *t, const tsr_doc *theory, const char *key)
{
    char log_key[40];
    (void)snprintf(log_key, sizeof log_key, "log10_%s", key);
    double value = tsr_doc_real(theory, key), logarithm = tsr_doc_real(theory, log_key);
    if (isnan(logarithm))
        cli_table_format(t, "-");
    else if (isnan(value) || value == 0)
        cli_table_format(t, "1e%+.0f", logarithm);
    else
        cli_table_format(t, "%.3g", value);
}

static tsr_status print_text(const tsr_doc *doc)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    const tsr_doc *theories = tsr_doc_get(doc, "theories");
    cli_table_head(&t, 6, "theory", "width", "iterations", "step", "fails with", "remark");
    for (int64_t i = 0; i < tsr_doc_count(theories); i++) {
        const tsr_doc *theory = tsr_doc_at(theories, i);
        cli_table_text(&t, tsr_doc_text(theory, "theory"));
        cell(&t, theory, "width");
        cell(&t, theory, "iterations");
        cell(&t, theory, "step");
        cli_table_text(&t, tsr_doc_text(theory, "probability"));
        cli_table_text(&t, tsr_doc_text(theory, "remark"));
    }
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf(
        "\nConstants, and logarithms under a tilde, are taken as 1; masked neurons and GReLU's "
        "iterations have those of the appendices, recurrent networks the least C of the proof, "
        "deep "
        "ReLU all but c_0 and C_0.\n");
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsr_status st = TSR_OK;
    char *json = NULL;
    tsr_theory_setting s = tsr_theory_setting_default();
    s.n = cli_real(args, "n", s.n);
    s.L = cli_real(args, "L", s.L);
    s.d = cli_real(args, "d", s.d);
    s.dy = cli_real(args, "dy", s.dy);
    s.epsilon = cli_real(args, "epsilon", s.epsilon);
    s.delta = cli_real(args, "delta", s.delta);
    s.lambda = cli_real(args, "lambda", s.lambda);
    s.xi = cli_real(args, "xi", s.xi);
    s.p = cli_real(args, "p", s.p);
    s.tau = cli_real(args, "tau", s.tau);
    s.kappa = cli_real(args, "kappa", s.kappa);
    s.phi = cli_real(args, "phi", s.phi);
    s.K = cli_real(args, "rounds", s.K);
    TSR_TRY(tsr_theories(&json, &s));
    TSR_TRY(cli_show(args, json, print_text));
    if (!args->json && !cli_has(args, "lambda"))
        (void)printf("A dash needs --lambda, the kernel's smallest eigenvalue: tessera ntk --kind "
                     "infinite --spectrum, or tessera certify, gives it.\n");
done:
    tsr_free(json);
    return st;
}

static const cli_option options[] = {
    {"n", 'n', "N", CLI_REAL, .help = "samples (100)", .least = 1, .most = 1e12},
    {"L", 'L', "L", CLI_REAL, .help = "hidden layers; of recurrent networks, positions (4)",
     .least = 1, .most = 1e6},
    {"d", 'd', "D", CLI_REAL, .help = "inputs (10)", .least = 1, .most = 1e12},
    {"dy", 0, "D", CLI_REAL, .help = "outputs (1)", .least = 1, .most = 1e12},
    {"epsilon", 'e', "E", CLI_REAL, .help = "error wanted (0.01)", .least = 1e-300, .most = 1},
    {"delta", 0, "D", CLI_REAL, .help = "probability of failure (0.1)", .least = 1e-300, .most = 1},
    {"lambda", 'l', "L", CLI_REAL, .help = "lambda_0, smallest eigenvalue of the kernel, with xi",
     .least = 1e-300, .most = 1e300},
    {"xi", 0, "X", CLI_REAL, .help = "masks: chance of a unit (0.5)", .least = 1e-12, .most = 1},
    {"p", 'p', "P", CLI_REAL, .help = "masks: shares (4)", .least = 1, .most = 1e12},
    {"tau", 0, "T", CLI_REAL, .help = "masks: local steps (1)", .least = 1, .most = 1e12},
    {"kappa", 0, "K", CLI_REAL, .help = "masks: deviation of the first weights (1)", .least = 1e-12,
     .most = 1e12},
    {"phi", 0, "P", CLI_REAL, .help = "deep ReLU, recurrent: separation of two inputs (0.1)",
     .least = 1e-300, .most = 1},
    {"rounds", 0, "K", CLI_REAL, .help = "masks: rounds; by default what the rate asks for",
     .least = 1, .most = 1e300},
    {0},
};

const cli_command cli_theory = {
    .name = "theory",
    .help = "how wide, how long and with which step, by eleven theories",
    .synopsis = "",
    .options = options,
    .details = "Deep networks: the five theories of Table 1 of the GReLU paper. Shallow networks"
               " trained in masked parts: Theorems 3 and 4 of the masked-neurons paper. Recurrent"
               " networks (L positions, --dy outputs at each): Theorems 1 and 2 of Allen-Zhu, Li,"
               " Song.",
    .run = run,
};
