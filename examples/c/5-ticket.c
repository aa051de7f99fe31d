/* 5-ticket.c - the winning ticket: train, prune in memory, fine-tune, compare.
 *
 * Teaches: tickets without files, and that a model carries the settings that made it.
 */
#include <stdio.h>
#include <tessera.h>

static tsr_status train(tsr_model **out, tsr_result *result, const tsr_config *config,
                        const tsr_data *data, const tsr_model *first)
{
    tsr_status st;
    tsr_run *run = NULL;
    tsr_run_options o = tsr_run_options_default();
    o.data = data;
    o.model = first;
    if ((st = tsr_run_create(&run, config, &o)) == TSR_OK &&
        (st = tsr_run_finish(result, run)) == TSR_OK)
        st = tsr_run_model(out, run);
    tsr_run_destroy(run);
    return st;
}

int main(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    tsr_model *whole = NULL, *ticket = NULL, *tuned = NULL;
    tsr_result before = tsr_result_default(), after = tsr_result_default();
    tsr_model_info large = tsr_model_info_default(), small = tsr_model_info_default();
    tsr_prune_options how = tsr_prune_options_default();
    how.ratio = 0.75; /* of the units go, those with the least l2 norm */
    if ((st = tsr_config_parse(&config, "data: {name: glyphs, n: 1500, test_n: 500}\n"
                                        "model: {hidden: [128]}\n"
                                        "epochs: 5\n")) != TSR_OK ||
        (st = tsr_data_read(&data, config)) != TSR_OK ||
        (st = train(&whole, &before, config, data, NULL)) != TSR_OK ||
        (st = tsr_model_prune(&ticket, whole, &how)) != TSR_OK ||
        (st = tsr_config_finetune(tsr_model_config(ticket), 3, 0.02)) != TSR_OK ||
        (st = train(&tuned, &after, tsr_model_config(ticket), data, ticket)) != TSR_OK ||
        (st = tsr_model_look(&large, whole)) != TSR_OK ||
        (st = tsr_model_look(&small, tuned)) != TSR_OK)
        goto done;
    printf("the whole: accuracy %.3f with %lld numbers\n", before.accuracy,
           (long long)large.numbers);
    printf("its ticket: accuracy %.3f with %lld numbers\n", after.accuracy,
           (long long)small.numbers);
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s\n", tsr_last_error());
    tsr_model_destroy(whole);
    tsr_model_destroy(ticket);
    tsr_model_destroy(tuned);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}
