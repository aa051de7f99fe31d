/* predict.c - the time of one prediction, one sample, by tsr_predictor, as a program waits for it.
 *
 *     bench_predict CALLS THREADS INPUTS HIDDEN HIDDEN OUTPUTS [LIBRARY]
 *
 * Prints the least and the median of CALLS calls in milliseconds; with LIBRARY, ONNX Runtime's, of
 * 200 calls there. bench/predict.sh asks PyTorch in the same run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int there(const tsr_model *model, int threads, const char *library)
{
    tsr_onnx_speed speed = tsr_onnx_speed_default();
    tsr_onnx_speed_options o = tsr_onnx_speed_options_default();
    o.library = library;
    o.threads = threads;
    o.seconds = 1;
    if (tsr_onnx_measure(&speed, model, &o) != TSR_OK)
        return puts(tsr_last_error()), 1;
    if (!*speed.runtime)
        return puts(speed.missing), 1;
    printf("%.5f %.5f\n", speed.theirs_ms[0], speed.theirs_median_ms[0]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc > 8)
        return puts("bench_predict CALLS THREADS INPUTS HIDDEN HIDDEN OUTPUTS [LIBRARY]"), 2;
    int calls = atoi(argv[1]);
    int64_t shape[3] = {atoi(argv[3]), 1, 1}, outputs = atoi(argv[6]);
    char hidden[64];
    tsr_config *config = NULL;
    tsr_model *model = NULL;
    tsr_predictor *predictor = NULL;
    tsr_predictor_options o = tsr_predictor_options_default();
    float *x = malloc((size_t)shape[0] * sizeof *x), *y = malloc((size_t)outputs * sizeof *y);
    double *time = malloc((size_t)calls * sizeof *time);
    if (!x || !y || !time)
        return puts("out of memory"), 4;
    (void)snprintf(hidden, sizeof hidden, "[%s, %s]", argv[4], argv[5]);
    o.threads = atoi(argv[2]);
    for (int64_t i = 0; i < shape[0]; i++)
        x[i] = (float)(i % 7) - 3;
    tsr_array one = tsr_array_of(x, TSR_F32, 2, (int64_t[]){1, shape[0]});
    if (tsr_config_create(&config) != TSR_OK ||
        tsr_config_put(config, "model.hidden", hidden) != TSR_OK ||
        tsr_model_build(&model, config, shape, outputs, true) != TSR_OK ||
        tsr_predictor_create(&predictor, model, &o) != TSR_OK)
        return puts(tsr_last_error()), 1;
    if (argc == 8)
        return there(model, o.threads, argv[7]);
    for (int i = -20; i < calls; i++) {
        double begin = now();
        if (tsr_predictor_run(y, predictor, &one, NULL) != TSR_OK)
            return puts(tsr_last_error()), 1;
        if (i >= 0)
            time[i] = now() - begin;
    }
    qsort(time, (size_t)calls, sizeof *time, ascending);
    printf("%.5f %.5f\n", time[0], time[calls / 2]);
    tsr_predictor_destroy(predictor);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
    free(x);
    free(y);
    free(time);
    return 0;
}
