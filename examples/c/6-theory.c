/* 6-theory.c - what a theorem asks of a run, and the kernel that it speaks of.
 *
 * Teaches: certificates as rows, tangent kernels in the program's own memory.
 */
#include <stdio.h>
#include <tessera.h>

enum { N = 40 };

int main(void)
{
    static const char *const words[] = {"", "holds", "fails", "vacuous", "open", "does not apply"};
    static double kernel[N * N], value[N];
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_certificate *certificate = NULL;
    tsr_certificate_row row = tsr_certificate_row_default();
    tsr_ntk_options o = tsr_ntk_options_default();
    o.n = N;
    if ((st = tsr_config_parse(&config, "data: {name: sphere, n: 40, test_n: 10, dim: 8, "
                                        "task: regress}\n"
                                        "model: {name: shallow, width: 512}\n"
                                        "scheme: {name: masked, workers: 2, xi: 0.5}\n"
                                        "optim: {name: gd}\n"
                                        "epochs: 10\n")) != TSR_OK ||
        (st = tsr_config_ntk(kernel, config, &o)) != TSR_OK ||
        (st = tsr_eigenvalues(value, kernel, N)) != TSR_OK ||
        (st = tsr_certify(&certificate, config, NULL)) != TSR_OK)
        goto done;
    printf("eigenvalues of the kernel: %.3g to %.3g\n", value[0], value[N - 1]);
    printf("the paper: %s\n", tsr_certificate_paper(certificate));
    for (int64_t i = 0; i < tsr_certificate_rows(certificate); i++) {
        if ((st = tsr_certificate_at(&row, certificate, i)) != TSR_OK)
            goto done;
        if (row.sense != 0)
            printf("%-12s %-40.40s %10.3g, asked for %s %.3g: %s\n", row.theorem, row.quantity,
                   row.measured, row.sense > 0 ? "at least" : "at most", row.required,
                   words[row.verdict]);
    }
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s\n", tsr_last_error());
    tsr_certificate_destroy(certificate);
    tsr_config_destroy(config);
    return st;
}
