/* data_testing.h - small files for tests of the data room, and the shortest way to load them. */
#ifndef TSRI_DATA_TESTING_H
#define TSRI_DATA_TESTING_H

#include "scratch.h"

#include "net/net.h"

/* Loads with settings "a.b=c", for a model or (NULL) for none; the list ends with NULL.
 * "data.path=FILE" is taken in the scratch folder (and data.test_path). */
static inline tsr_status load_settings_like(tsr_data **out, const char *const *setting,
                                            const tsri_like *like)
{
    tsr_status st = TSR_OK;
    tsr_config *config = NULL;
    *out = NULL;
    TSR_TRY(tsr_config_create(&config));
    for (int i = 0; setting[i]; i++) {
        char text[512];
        const char *value = strchr(setting[i], '=') + 1;
        bool path = strncmp(setting[i], "data.path=", 10) == 0 ||
                    strncmp(setting[i], "data.test_path=", 15) == 0;
        (void)snprintf(text, sizeof text, "%.*s%s%s%s", (int)(value - setting[i]), setting[i],
                       path ? scratch_folder : "", path ? "/" : "", value);
        TSR_TRY(tsr_config_set(config, text));
    }
    tsri_wants wants = tsri_model_wants(config);
    TSR_TRY(tsri_data_load_like(out, config, &wants, like));
done:
    tsr_config_destroy(config);
    return st;
}

static inline tsr_status load_settings(tsr_data **out, const char *const *setting)
{
    return load_settings_like(out, setting, NULL);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void put_text(const char *name, const char *text)
{
    (void)scratch_put(name, text, strlen(text));
}

static inline void put_folder(const char *name)
{
    assert_ok(tsri_make_folder(scratch_path(name)));
}

/* An IDX file: `dims` sizes, then n bytes as they are. */
static inline void put_idx(const char *name, int type, int dims, const uint32_t *size,
                           const void *bytes, size_t n)
{
    uint8_t file[65536] = {0, 0, (uint8_t)type, (uint8_t)dims};
    size_t used = 4;
    for (int i = 0; i < dims; i++)
        for (int b = 24; b >= 0; b -= 8)
            file[used++] = (uint8_t)(size[i] >> b);
    assert_true(used + n <= sizeof file);
    if (n > 0)
        memcpy(file + used, bytes, n);
    (void)scratch_put(name, file, used + n);
}

/* A version 1.0 .npy file with this dictionary inside and n bytes behind it. */
static inline void put_npy(const char *name, const char *header, const void *bytes, size_t n)
{
    uint8_t file[65536] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    size_t length = strlen(header), padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    file[8] = (uint8_t)padded;
    file[9] = (uint8_t)(padded >> 8);
    memset(file + 10, ' ', padded);
    memcpy(file + 10, header, length);
    file[10 + padded - 1] = '\n';
    assert_true(10 + padded + n <= sizeof file);
    if (n > 0)
        memcpy(file + 10 + padded, bytes, n);
    (void)scratch_put(name, file, 10 + padded + n);
}

/* Every allocation on the way fails once: an error each time, and nothing stays behind. */
static inline void walk_failures(const char *const *settings)
{
    int64_t n = 0;
    for (;; n++) {
        tsr_data *data = NULL;
        int64_t before = tsri_alloc_blocks();
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = load_settings(&data, settings);
        int64_t calls = tsri_alloc_fail_after(-1, false);
        tsr_data_destroy(data);
        assert_int_equal(tsri_alloc_blocks(), before);
        if (calls <= n) { /* not reached any more */
            assert_int_equal(st, TSR_OK);
            break;
        }
        if (st != TSR_RESOURCES)
            fail_msg("%s, allocation %lld: status %d, %s", settings[0], (long long)n, (int)st,
                     tsr_last_error());
    }
    assert_true(n > 20);
}

#endif
