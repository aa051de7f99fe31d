/* 4-shares.c - a round of subnetwork training, written out: draw, take, train, put.
 *
 * Teaches: shares as objects. Each of four workers gets another quarter of the hidden units and
 * trains a small network of its own; what they learnt goes back into the whole.
 */
#include <stdio.h>
#include <tessera.h>

enum { WORKERS = 4, ROUNDS = 6 };

/* One worker's turn: its share of `whole`, trained for an epoch. */
static tsr_status work(tsr_model **trained, const tsr_share *share, const tsr_model *whole,
                       const tsr_data *data)
{
    tsr_status st;
    tsr_model *small = NULL;
    tsr_run *run = NULL;
    tsr_result result = tsr_result_default();
    tsr_run_options o = tsr_run_options_default();
    if ((st = tsr_share_take(&small, share, whole)) != TSR_OK)
        goto done;
    o.data = data;
    o.model = small;
    if ((st = tsr_run_create(&run, tsr_model_config(small), &o)) != TSR_OK ||
        (st = tsr_run_finish(&result, run)) != TSR_OK)
        goto done;
    st = tsr_run_model(trained, run);
done:
    tsr_run_destroy(run);
    tsr_model_destroy(small);
    return st;
}

int main(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    tsr_data *data = NULL;
    tsr_model *whole = NULL, *trained[WORKERS] = {0};
    tsr_share *share[WORKERS] = {0};
    tsr_draw draw = tsr_draw_default();
    tsr_result result = tsr_result_default();
    draw.kind = TSR_DRAW_CHUNKS;
    draw.workers = WORKERS;
    if ((st = tsr_config_parse(&config, "data: {name: glyphs, n: 1500, test_n: 500}\n"
                                        "model: {hidden: [128]}\n"
                                        "epochs: 1\n")) != TSR_OK ||
        (st = tsr_data_read(&data, config)) != TSR_OK ||
        (st = tsr_model_create(&whole, config, data)) != TSR_OK)
        goto done;
    for (int l = 0; l < WORKERS; l++)
        if ((st = tsr_share_create(&share[l], whole)) != TSR_OK)
            goto done;
    for (draw.round = 0; draw.round < ROUNDS; draw.round++) {
        for (int l = 0; l < WORKERS; l++) {
            draw.worker = l;
            if ((st = tsr_share_draw(share[l], &draw)) != TSR_OK ||
                (st = work(&trained[l], share[l], whole, data)) != TSR_OK)
                goto done;
        }
        if ((st = tsr_share_put(whole, share, trained, WORKERS)) != TSR_OK ||
            (st = tsr_model_judge(&result, whole, data)) != TSR_OK)
            goto done;
        printf("round %lld: the whole network's accuracy is %.3f\n", (long long)draw.round + 1,
               result.accuracy);
        for (int l = 0; l < WORKERS; l++) {
            tsr_model_destroy(trained[l]);
            trained[l] = NULL;
        }
    }
done:
    if (st != TSR_OK)
        fprintf(stderr, "%s\n", tsr_last_error());
    for (int l = 0; l < WORKERS; l++) {
        tsr_share_destroy(share[l]);
        tsr_model_destroy(trained[l]);
    }
    tsr_model_destroy(whole);
    tsr_data_destroy(data);
    tsr_config_destroy(config);
    return st;
}
