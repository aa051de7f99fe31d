/* config_public.c - settings by key and text, and the table of keys, as programs see them. */
#include "io/config_value.h"

#include "base/alloc.h"
#include "base/sized.h"

#include <string.h>

/* ---- Values -------------------------------------------------------------------------------- */

tsr_status tsr_config_parse(tsr_config **out, const char *text)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(text);
    TSR_TRY(tsri_config_parse(out, text, (int64_t)strlen(text), "the run file"));
done:
    return st;
}

tsr_status tsr_config_copy(tsr_config **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_config_copy(out, config));
done:
    return st;
}

static tsr_status row_of(int64_t *row, const char *key)
{
    tsr_status st = TSR_OK;
    *row = key ? tsri_schema_find(key) : -1;
    TSRI_GIVEN(key);
    tsri_near near = tsri_near_to(key);
    for (int64_t i = 0; *row < 0 && i < tsri_schema_count; i++)
        tsri_near_try(&near, tsri_schema[i].key);
    TSR_CHECK(*row >= 0, TSR_USAGE, "there is no key '%s'; %s", tsri_quote(key),
              tsri_near_ask(&near, "'tessera help run-file' lists them"));
done:
    return st;
}

tsr_status tsr_config_put(tsr_config *config, const char *key, const char *value)
{
    tsr_status st = TSR_OK;
    int64_t row;
    TSRI_GIVEN(config);
    TSR_TRY(row_of(&row, key));
    TSR_TRY(value ? tsri_config_assign_key(config, "setting", key, value)
                  : tsri_config_reset(config, key));
done:
    return st;
}

tsr_status tsr_config_use_data(tsr_config *config, const char *name_or_path)
{
    tsr_status st = TSR_OK;
    TSRI_GIVEN(config);
    TSRI_GIVEN(name_or_path);
    TSR_TRY(tsri_config_set_data(config, name_or_path));
done:
    return st;
}

tsr_status tsr_config_get(char **out, const tsr_config *config, const char *key)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    int64_t row;
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(row_of(&row, key));
    const tsri_setting *value = &config->value[row];
    if (!value->present)
        goto done;
    if (value->text) { /* as it stands: put takes it back */
        TSR_TRY(tsri_strdup(out, value->text));
        goto done;
    }
    TSR_TRY(tsri_config_write_value(&text, config, key));
    TSR_TRY(tsri_text_give(out, &text));
done:
    tsri_text_fini(&text);
    return st;
}

bool tsr_config_given(const tsr_config *config, const char *key)
{
    return config && key && tsri_schema_find(key) >= 0 && tsri_config_given(config, key);
}

tsr_status tsr_config_write(char **out, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_text yaml = {0};
    TSRI_GIVEN(out);
    *out = NULL;
    TSRI_GIVEN(config);
    TSR_TRY(tsri_config_write(&yaml, config, NULL));
    TSR_TRY(tsri_text_give(out, &yaml));
done:
    tsri_text_fini(&yaml);
    return st;
}

/* ---- Keys ---------------------------------------------------------------------------------- */

_Static_assert((int)TSR_KEY_REALS == (int)TSRI_TYPE_REALS, "the two lists are one");

int64_t tsr_key_count(void)
{
    return tsri_schema_count;
}

tsr_status tsr_key_at(tsr_key *key, int64_t i)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(i >= 0 && i < tsri_schema_count, TSR_USAGE,
              "there are %lld keys, numbered from 0, and no number %lld",
              (long long)tsri_schema_count, (long long)i);
    const tsri_schema_row *row = &tsri_schema[i];
    tsr_key mine = {.key = row->key,
                    .type = (tsr_key_type)row->type,
                    .preset = row->preset,
                    .choices = row->choices,
                    .least = row->least,
                    .most = row->most,
                    .help = row->help,
                    .pace = row->pace,
                    .when = row->when,
                    .instead = row->instead};
    TSR_TRY(TSRI_SIZED_GIVE(key, &mine));
done:
    return st;
}

tsr_status tsr_key_find(tsr_key *key, const char *name)
{
    tsr_status st = TSR_OK;
    int64_t row;
    TSR_TRY(row_of(&row, name));
    TSR_TRY(tsr_key_at(key, row));
done:
    return st;
}

tsr_status tsr_key_expected(char **out, const char *name)
{
    tsr_status st = TSR_OK;
    tsri_text text = {0};
    int64_t row;
    TSRI_GIVEN(out);
    *out = NULL;
    TSR_TRY(row_of(&row, name));
    TSR_TRY(tsri_schema_expected(&text, &tsri_schema[row]));
    TSR_TRY(tsri_text_give(out, &text));
done:
    tsri_text_fini(&text);
    return st;
}
