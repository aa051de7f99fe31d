/* cmd_theory.c - tessera theory: the calculator of widths, iterations and steps. */
#include "cli/commands.h"
#include "cli/args.h"
#include "cli/print.h"

#include "base/status.h"
#include "io/json.h"
#include "theory/theories.h"

#include <math.h>
#include <stdio.h>

static tsr_status print_json(const tsri_theory *t, const tsri_theory_setting *s)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_key(&w, "theories");
    tsri_json_open(&w, '[');
    for (int i = 0; i < TSRI_THEORIES; i++) {
        tsri_theory_logs logs = tsri_theory_logs_of(&t[i], s);
        tsri_json_open(&w, '{');
        tsri_json_put_text(&w, "theory", t[i].name);
        tsri_json_put_text(&w, "where", t[i].where);
        tsri_json_put_real(&w, "width", t[i].width);
        tsri_json_put_real(&w, "iterations", t[i].iterations);
        tsri_json_put_real(&w, "step", t[i].step);
        tsri_json_put_real(&w, "log10_width", logs.width);
        tsri_json_put_real(&w, "log10_iterations", logs.iterations);
        tsri_json_put_real(&w, "log10_step", logs.step);
        tsri_json_put_text(&w, "probability", t[i].probability);
        tsri_json_put_text(&w, "remark", t[i].remark);
        tsri_json_close(&w, '}');
    }
    tsri_json_close(&w, ']');
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

/* What no double holds is told by its logarithm. */
static void cell(cli_table *t, double value, double logarithm)
{
    if (isnan(value))
        cli_table_format(t, "-");
    else if (isinf(value) || value == 0)
        cli_table_format(t, "1e%+.0f", logarithm);
    else
        cli_table_format(t, "%.3g", value);
}

static tsr_status print_text(const tsri_theory *theory, const tsri_theory_setting *s)
{
    tsr_status st = TSR_OK;
    cli_table t = {0};
    cli_table_head(&t, 6, "theory", "width", "iterations", "step", "fails with", "remark");
    for (int i = 0; i < TSRI_THEORIES; i++) {
        tsri_theory_logs logs = tsri_theory_logs_of(&theory[i], s);
        cli_table_text(&t, theory[i].name);
        cell(&t, theory[i].width, logs.width);
        cell(&t, theory[i].iterations, logs.iterations);
        cell(&t, theory[i].step, logs.step);
        cli_table_text(&t, theory[i].probability);
        cli_table_text(&t, theory[i].remark);
    }
    TSR_TRY(cli_table_print(&t, stdout));
    (void)printf(
        "\nConstants, and logarithms under a tilde, are taken as 1; masked neurons and GReLU's "
        "iterations have those of the appendices, recurrent networks the least C of the proof, "
        "deep "
        "ReLU all but c_0 and C_0.\n");
    if (isnan(s->lambda))
        (void)printf("A dash needs --lambda, the kernel's smallest eigenvalue: tessera ntk --kind "
                     "infinite --spectrum, or tessera certify, gives it.\n");
done:
    cli_table_fini(&t);
    return st;
}

static tsr_status run(const cli_args *args)
{
    tsri_theory theory[TSRI_THEORIES];
    tsri_theory_setting s = tsri_theory_setting_default();
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
    tsri_theories(theory, &s);
    return args->json ? print_json(theory, &s) : print_text(theory, &s);
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
