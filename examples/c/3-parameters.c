/* 3-parameters.c - a network from a description; its parameters read and written.
 *
 * Teaches: models without data, PyTorch's names and shapes, and model files in memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tessera.h>

int main(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_model *model = NULL, *copy = NULL;
    tsr_param p = tsr_param_default();
    void *bytes = NULL;
    int64_t n = 0;
    float bias[10] = {0};
    tsr_array zeros = tsr_array_of(bias, TSR_F32, 1, (int64_t[]){10});
    if ((st = tsr_config_parse(&config, "model: {name: resnet18, width: 8}")) != TSR_OK ||
        (st = tsr_model_build(&model, config, (int64_t[]){3, 32, 32}, 10, true)) != TSR_OK)
        goto done;
    for (int64_t i = 0; i < tsr_model_params(model) && i < 6; i++) {
        if ((st = tsr_model_param(&p, model, i)) != TSR_OK)
            goto done;
        printf("%-28s", p.name);
        for (int k = 0; k < p.values.dims; k++)
            printf(" %lld", (long long)p.values.shape[k]);
        printf("%s\n", p.trained ? "" : "  (not trained)");
    }
    printf("... %lld in all\n", (long long)tsr_model_params(model));
    bias[3] = 1;
    if ((st = tsr_model_set(model, "fc.bias", &zeros)) != TSR_OK ||
        (st = tsr_model_bytes(&bytes, &n, model)) != TSR_OK ||
        (st = tsr_model_parse(&copy, bytes, n)) != TSR_OK ||
        (st = tsr_model_find(&p, copy, "fc.bias")) != TSR_OK)
        goto done;
    printf("the file in memory has %lld bytes; fc.bias[3] = %g\n", (long long)n,
           (double)((const float *)p.values.data)[3]);
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s\n", tsr_last_error());
    tsr_free(bytes);
    tsr_model_destroy(copy);
    tsr_model_destroy(model);
    tsr_config_destroy(config);
    return st;
}
