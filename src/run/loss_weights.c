/* loss_weights.c - how training changes the cross entropy: smoothed labels, weights of classes. */
#include "run/loss_choice.h"

#include "base/alloc.h"
#include "base/number.h"

#include <string.h>

/* n / (K n_c): every class counts alike. A class without samples gets 1: only smoothing sees it. */
static void balance(double *weight, const tsri_part *part, int64_t classes)
{
    for (int64_t i = 0; i < part->n; i++)
        weight[part->label[i]]++;
    for (int64_t c = 0; c < classes; c++)
        weight[c] = weight[c] > 0 ? (double)part->n / ((double)classes * weight[c]) : 1;
}

/* The number before a comma or the end; *rest is after it, NULL at the end. */
static bool next_number(double *value, const char *at, const char **rest)
{
    char text[TSRI_NUMBER_TEXT];
    const char *comma = strchr(at, ',');
    at += strspn(at, " ");
    size_t n = comma && comma < at ? 0 : comma ? (size_t)(comma - at) : strlen(at);
    *rest = comma ? comma + 1 : NULL;
    while (n > 0 && at[n - 1] == ' ')
        n--;
    if (n >= sizeof text)
        return false;
    memcpy(text, at, n);
    text[n] = 0;
    return tsri_number_real(value, text) == TSRI_NUMBER_OK;
}

/* "1, 2.5, 1" */
static tsr_status read_list(double *weight, const tsri_settings *s, const tsr_data *data,
                            const char *text)
{
    tsr_status st = TSR_OK;
    int64_t classes = data->classes, count = 0;
    const char *place = tsri_config_place(s->config, "class_weights");
    for (const char *at = text; at; count++) {
        double value = 0;
        TSR_CHECK(next_number(&value, at, &at) && value > 0 && value <= 1e9, TSR_USAGE,
                  "%s: class_weights is none, balanced or a number above 0 for each class, \"1, "
                  "2.5, 1\"; not %s",
                  place, tsri_quote(text));
        if (count < classes)
            weight[count] = value;
    }
    TSR_CHECK(count == classes, TSR_USAGE,
              "%s: class_weights has %lld numbers, but %s has %lld classes: give one for each",
              place, (long long)count, data->name, (long long)classes);
done:
    return st;
}

tsr_status tsri_choose_weights(tsri_settings *s, const tsr_data *data)
{
    tsr_status st = TSR_OK;
    const char *text = tsri_config_text(s->config, "class_weights");
    bool weighted = strcmp(text, "none") != 0;
    s->smoothing = tsri_config_real(s->config, "label_smoothing");
    TSR_CHECK((s->smoothing == 0 && !weighted) || s->loss->softens, TSR_USAGE,
              "%s: only loss: cross_entropy reads it, and the loss here is another: take it out",
              tsri_config_place(s->config, weighted ? "class_weights" : "label_smoothing"));
    if (!weighted)
        return TSR_OK;
    TSR_TRY(tsri_alloc(&s->class_weight, data->classes, sizeof *s->class_weight));
    if (strcmp(text, "balanced") == 0)
        balance(s->class_weight, &data->train, data->classes);
    else
        TSR_TRY(read_list(s->class_weight, s, data, text));
done:
    return st;
}
