/* scaling.h - how raw numbers became what the network sees: measured on the training part once,
 * kept in the model file, and applied again to whatever the model is shown later. */
#ifndef TSRI_SCALING_H
#define TSRI_SCALING_H

#include "io/json.h"

typedef struct tsri_scaling {
    int64_t groups; /* columns, channels or coordinates; 0 = inputs are not scaled by groups */
    float *shift, *scale;             /* [groups]: x = (raw - shift) scale */
    int64_t columns;                  /* 0 = no table */
    float *fill;                      /* [columns]: the mean, for cells that are missing */
    float target_shift, target_scale; /* real targets: y = (raw - shift) scale */
    bool target_log;                  /* y = log(raw), before that */
} tsri_scaling;

void tsri_scaling_fini(tsri_scaling *s);

/* As one JSON object, and back. BAD_FILE, naming `path`, when the text is not such an object. */
void tsri_scaling_write(tsri_json *w, const tsri_scaling *s);
tsr_status tsri_scaling_read(tsri_scaling *s, const char *text, const char *path);

/* A target as it was before scaling. */
float tsri_scaling_original(const tsri_scaling *s, float y);

#endif
