/* test_lib_config.c - settings by key and text, and the table of keys. */
#include "library_testing.h"

static void put_and_get(void **state)
{
    (void)state;
    tsr_config *config = small_config(NULL), *copy = NULL, *back = NULL;
    char *text = NULL, *yaml = NULL, *again = NULL;
    assert_ok(tsr_config_put(config, "optim.lr", "0.25"));
    assert_ok(tsr_config_get(&text, config, "optim.lr"));
    assert_string_equal(text, "0.25");
    tsr_free(text);
    assert_true(tsr_config_given(config, "optim.lr"));
    assert_ok(tsr_config_put(config, "optim.lr", NULL));
    assert_false(tsr_config_given(config, "optim.lr"));
    assert_ok(tsr_config_get(&text, config, "model.hidden"));
    assert_string_equal(text, "[8]");
    tsr_free(text);
    assert_ok(tsr_config_put(config, "data.path", "a b: c.csv"));
    assert_ok(tsr_config_get(&text, config, "data.path"));
    assert_string_equal(text, "a b: c.csv");
    tsr_free(text);
    assert_ok(tsr_config_get(&text, config, "data.test_path"));
    assert_null(text);
    assert_ok(tsr_config_copy(&copy, config));
    assert_ok(tsr_config_write(&yaml, copy));
    assert_ok(tsr_config_parse(&back, yaml));
    assert_ok(tsr_config_write(&again, back));
    assert_string_equal(yaml, again);
    tsr_free(yaml);
    tsr_free(again);
    tsr_config_destroy(config);
    tsr_config_destroy(copy);
    tsr_config_destroy(back);
}

static void wrong_keys_and_values(void **state)
{
    (void)state;
    tsr_config *config = small_config(NULL), *none = NULL;
    char *text = NULL;
    assert_fails(tsr_config_put(config, "optim.lrr", "1"), TSR_USAGE, "did you mean optim.lr");
    assert_fails(tsr_config_put(config, "optim.lr", "fast"), TSR_USAGE, "optim.lr");
    assert_fails(tsr_config_put(config, NULL, "1"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_put(NULL, "optim.lr", "1"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_get(&text, config, "no.key"), TSR_USAGE, "no key");
    assert_fails(tsr_config_get(NULL, config, "optim.lr"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_parse(&none, "epochs: many"), TSR_USAGE, "epochs");
    assert_fails(tsr_config_create(NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_context_create(NULL), TSR_USAGE, "NULL");
    tsr_cost_predict(NULL, NULL, NULL);
    assert_fails(tsr_config_parse(&none, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_config_copy(&none, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_config_write(&text, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_config_write(NULL, config), TSR_USAGE, "NULL");
    assert_fails(tsr_config_use_data(NULL, "glyphs"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_set(config, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_config_set(NULL, "a=b"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_read(&none, NULL), TSR_USAGE, "NULL");
    assert_fails(tsr_config_read(NULL, "run.yaml"), TSR_USAGE, "NULL");
    assert_fails(tsr_config_get(&text, NULL, "optim.lr"), TSR_USAGE, "NULL");
    assert_fails(tsr_key_expected(NULL, "optim.lr"), TSR_USAGE, "NULL");
    assert_fails(tsr_doc_parse(NULL, "{}"), TSR_USAGE, "NULL");
    assert_fails(tsr_model_read(NULL, "model.safetensors"), TSR_USAGE, "NULL");
    assert_fails(tsr_import(NULL, "resnet.pth", NULL), TSR_USAGE, "NULL");
    assert_false(tsr_config_given(config, "no.key") || tsr_config_given(NULL, "epochs"));
    assert_null(none);
    tsr_config_destroy(config);
    tsr_config_destroy(NULL);
}

/* Each key has a help and takes its own default back. */
static void every_key(void **state)
{
    (void)state;
    tsr_config *config = small_config(NULL);
    tsr_key key = tsr_key_default();
    assert_true(tsr_key_count() > 50);
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        char *text = NULL;
        assert_ok(tsr_key_at(&key, i));
        assert_true(key.key && key.help && *key.help);
        assert_ok(tsr_config_put(config, key.key, NULL));
        assert_ok(tsr_config_get(&text, config, key.key));
        assert_true(!text == !key.preset);
        if (text)
            assert_ok(tsr_config_put(config, key.key, text));
        tsr_free(text);
    }
    assert_fails(tsr_key_at(&key, tsr_key_count()), TSR_USAGE, "and no number");
    assert_fails(tsr_key_at(&key, -1), TSR_USAGE, "and no number");
    assert_ok(tsr_key_find(&key, "scheme.workers"));
    assert_int_equal(key.type, TSR_KEY_INT);
    assert_fails(tsr_key_find(&key, "scheme.worker"), TSR_USAGE, "did you mean scheme.workers");
    tsr_config_destroy(config);
}

static void failing_callbacks_say_why(void **state)
{
    (void)state;
    assert_int_equal(tsr_fail(TSR_FAILURE, "no more %s", "milk"), TSR_FAILURE);
    assert_string_equal(tsr_last_error(), "no more milk");
}

static tsr_status all_calls(void)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL, *copy = NULL, *back = NULL;
    char *text = NULL, *yaml = NULL;
    if ((st = tsr_config_create(&config)) == TSR_OK &&
        (st = tsr_config_put(config, "model.hidden", "[3, 4]")) == TSR_OK &&
        (st = tsr_config_get(&text, config, "model.hidden")) == TSR_OK &&
        (st = tsr_config_copy(&copy, config)) == TSR_OK &&
        (st = tsr_config_write(&yaml, copy)) == TSR_OK)
        st = tsr_config_parse(&back, yaml);
    tsr_free(text);
    tsr_free(yaml);
    tsr_config_destroy(config);
    tsr_config_destroy(copy);
    tsr_config_destroy(back);
    return st;
}

static void memory_may_fail(void **state)
{
    (void)state;
    int64_t calls = 0;
    (void)tsri_alloc_fail_after(-1, false);
    assert_ok(all_calls());
    calls = tsri_alloc_fail_after(-1, false);
    for (int64_t n = 0; n < calls; n += 1 + n / 16) { /* each early one, then ever fewer */
        (void)tsri_alloc_fail_after(n, false);
        assert_int_equal(all_calls(), TSR_RESOURCES);
        (void)tsri_alloc_fail_after(-1, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_and_get),     cmocka_unit_test(wrong_keys_and_values),
        cmocka_unit_test(every_key),       cmocka_unit_test(failing_callbacks_say_why),
        cmocka_unit_test(memory_may_fail),
    };
    return nothing_left(cmocka_run_group_tests(tests, NULL, NULL));
}
