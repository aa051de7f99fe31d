/* result.c - a tsr_result as text or JSON. */
#include "cli/result.h"
#include "cli/print.h"

#include <math.h>
#include <stdio.h>

tsr_status cli_result_json(const tsr_result *r, const char *model)
{
    tsr_json *w = tsr_json_create();
    tsr_json_int(w, "n", r->n);
    tsr_json_real(w, "loss", r->loss);
    tsr_json_real(w, "accuracy", r->accuracy);
    if (!isnan(r->rmse))
        tsr_json_real(w, "rmse", r->rmse);
    tsr_json_real(w, "seconds", r->seconds);
    if (model) {
        tsr_json_int(w, "rounds", r->rounds);
        tsr_json_int(w, "bytes_total", r->bytes_total);
        if (r->bytes_collected > 0)
            tsr_json_int(w, "bytes_collected", r->bytes_collected);
        tsr_json_text(w, "model", model);
    }
    return cli_json_print(w);
}

void cli_result_text(char *text, size_t room, const tsr_result *r, const char *unit)
{
    if (!isnan(r->rmse))
        (void)snprintf(text, room, "error %.6g%s%s (root mean square), loss %.6g on %lld samples",
                       r->rmse, unit ? " " : "", unit ? unit : "", r->loss, (long long)r->n);
    else if (isnan(r->accuracy))
        (void)snprintf(text, room, "loss %.6g on %lld samples", r->loss, (long long)r->n);
    else
        (void)snprintf(text, room, "loss %.4f, accuracy %.2f %% of %lld samples", r->loss,
                       100 * r->accuracy, (long long)r->n);
}
