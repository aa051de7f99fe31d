/* 1-arrays.c - from two arrays to a trained network and its answers.
 *
 *     cc 1-arrays.c $(pkg-config --cflags --libs tessera) && ./a.out
 *
 * Teaches: data sets from arrays, a run, a model, a prediction; and that one label, done, ends all
 * handles, on success and failure alike.
 */
#include <stdio.h>
#include <tessera.h>

enum { N = 400 };

int main(void)
{
    static float x[N][2];
    static int32_t y[N];
    for (int i = 0; i < N; i++) { /* is the point inside the circle? */
        x[i][0] = (float)(i % 20) - 9.5f;
        x[i][1] = (float)(i / 20) - 9.5f;
        y[i] = x[i][0] * x[i][0] + x[i][1] * x[i][1] < 40;
    }
    tsr_data *data = NULL;
    tsr_config *config = NULL;
    tsr_run *run = NULL;
    tsr_model *model = NULL;
    tsr_predictor *predictor = NULL;
    tsr_result result = tsr_result_default();
    tsr_data_options d = tsr_data_options_default();
    d.x = tsr_array_of(x, TSR_F32, 2, (int64_t[]){N, 2});
    d.y = tsr_array_of(y, TSR_I32, 1, (int64_t[]){N});
    if (tsr_data_create(&data, &d) != TSR_OK || tsr_config_create(&config) != TSR_OK ||
        tsr_config_set(config, "model.hidden=[32, 32]") != TSR_OK ||
        tsr_config_set(config, "epochs=60") != TSR_OK ||
        tsr_config_set(config, "batch=20") != TSR_OK)
        goto done;
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    if (tsr_run_create(&run, config, &o) != TSR_OK || tsr_run_finish(&result, run) != TSR_OK ||
        tsr_run_model(&model, run) != TSR_OK ||
        tsr_predictor_create(&predictor, model, NULL) != TSR_OK)
        goto done;
    float points[2][2] = {{1, 2}, {9, 9}};
    int32_t inside[2];
    tsr_array two = tsr_array_of(points, TSR_F32, 2, (int64_t[]){2, 2});
    if (tsr_predictor_classes(inside, predictor, &two, NULL) != TSR_OK)
        goto done;
    printf("accuracy %.2f on points it has not seen\n", result.accuracy);
    printf("(1, 2) is %s, (9, 9) is %s\n", inside[0] ? "inside" : "outside",
           inside[1] ? "inside" : "outside");
done:
    if (*tsr_last_error())
        fprintf(stderr, "%s\n", tsr_last_error());
    tsr_predictor_destroy(predictor);
    tsr_model_destroy(model);
    tsr_run_destroy(run);
    tsr_config_destroy(config);
    tsr_data_destroy(data);
    return *tsr_last_error() != '\0';
}
