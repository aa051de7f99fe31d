/* grid.c - one axis of a sweep.
 *
 * The values of a range are first + i step, in twelve significant digits: 0.1:1:0.1 means 0.3, not
 * 0.30000000000000004, in the run file, in the results and in what people type to run one cell.
 */
#include "sweep/grid.h"

#include "base/alloc.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_VALUES = 100000 };

void tsri_grid_fini(tsri_grid *grid)
{
    for (int64_t i = 0; i < grid->count; i++)
        tsri_free(grid->value[i]);
    tsri_free(grid->value);
    tsri_free(grid->key);
    *grid = (tsri_grid){0};
}

static tsr_status add_value(tsri_grid *grid, int64_t *room, const char *text, size_t n)
{
    tsr_status st = TSR_OK;
    TSR_CHECK(grid->count < MOST_VALUES, TSR_USAGE, "--grid %s: more than %d values", grid->key,
              MOST_VALUES);
    TSR_TRY(tsri_reserve(&grid->value, room, grid->count, sizeof *grid->value));
    TSR_TRY(tsri_strndup(&grid->value[grid->count], text, n));
    grid->count++;
done:
    return st;
}

/* ---- Ranges ------------------------------------------------------------------------------- */

/* "a:b:c" as three numbers; false when it is not three numbers. */
static bool three_numbers(double out[3], const char *text)
{
    char part[TSRI_NUMBER_TEXT];
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(text, ":");
        if (n >= sizeof part || (text[n] == ':') != (i < 2))
            return false;
        memcpy(part, text, n);
        part[n] = '\0';
        if (tsri_number_real(&out[i], part) != TSRI_NUMBER_OK)
            return false;
        text += n + 1;
    }
    return true;
}

static tsr_status read_range(tsri_grid *grid, int64_t *room, const char *text)
{
    tsr_status st = TSR_OK;
    double r[3] = {0};
    TSR_CHECK(three_numbers(r, text), TSR_USAGE,
              "--grid %s=%s: a range is FIRST:LAST:STEP, such as 0.1:1:0.1", grid->key,
              tsri_quote(text));
    TSR_CHECK(r[2] > 0 || r[2] < 0, TSR_USAGE, "--grid %s=%s: the step is 0", grid->key,
              tsri_quote(text));
    double steps = (r[1] - r[0]) / r[2] + 1e-9; /* 0.1:1:0.1 has ten values, rounding or not */
    TSR_CHECK(steps >= 0, TSR_USAGE,
              "--grid %s=%s: the range is empty: no step leads from %g to %g", grid->key,
              tsri_quote(text), r[0], r[1]);
    TSR_CHECK(steps < MOST_VALUES, TSR_USAGE, "--grid %s=%s: more than %d values", grid->key,
              tsri_quote(text), MOST_VALUES);
    for (int64_t i = 0; i <= (int64_t)floor(steps); i++) {
        char value[TSRI_NUMBER_TEXT];
        int n = snprintf(value, sizeof value, "%.12g", r[0] + (double)i * r[2]);
        TSR_TRY(add_value(grid, room, value, (size_t)n));
    }
done:
    return st;
}

/* ---- Lists -------------------------------------------------------------------------------- */

/* The bytes up to the next comma outside brackets. */
static size_t item_length(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (text[n] != ',' || depth > 0); n++)
        depth += text[n] == '[' ? 1 : text[n] == ']' ? -1 : 0;
    return n;
}

static tsr_status read_list(tsri_grid *grid, int64_t *room, const char *text)
{
    tsr_status st = TSR_OK;
    for (;;) {
        size_t n = item_length(text);
        TSR_CHECK(n > 0, TSR_USAGE, "--grid %s: there is an empty value in the list", grid->key);
        TSR_TRY(add_value(grid, room, text, n));
        if (!text[n])
            break;
        text += n + 1;
    }
done:
    return st;
}

/* ---- Checks ------------------------------------------------------------------------------- */

tsr_status tsri_grid_set(const tsri_grid *grid, int64_t i, tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsri_text assignment = {0};
    TSR_TRY(tsri_text_add(&assignment, "%s=%s", grid->key, grid->value[i]));
    TSR_TRY(tsri_config_assign(config, "--grid", assignment.data));
done:
    tsri_text_fini(&assignment);
    return st;
}

/* Every value fits its key; none is there twice, however it is written. Each is replaced by what
 * the config makes of it: 1e-1 and .10 are 0.1. */
static tsr_status check_values(tsri_grid *grid, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsr_config *copy = NULL;
    tsri_text text = {0};
    TSR_TRY(tsri_config_copy(&copy, config));
    for (int64_t i = 0; i < grid->count; i++) {
        char *plain = NULL;
        text.length = 0;
        TSR_TRY(tsri_grid_set(grid, i, copy));
        const tsri_schema_row *row = &tsri_schema[tsri_schema_find(grid->key)];
        if (row->type == TSRI_TYPE_TEXT || row->type == TSRI_TYPE_CHOICE)
            TSR_TRY(tsri_text_add(&text, "%s", grid->value[i]));
        else
            TSR_TRY(tsri_config_write_value(&text, copy, grid->key));
        TSR_TRY(tsri_strdup(&plain, text.data));
        tsri_free(grid->value[i]);
        grid->value[i] = plain;
        for (int64_t k = 0; k < i; k++)
            TSR_CHECK(strcmp(grid->value[k], plain) != 0, TSR_USAGE, "--grid %s: %s appears twice",
                      grid->key, tsri_quote(plain));
    }
done:
    tsri_text_fini(&text);
    tsr_config_destroy(copy);
    return st;
}

static tsr_status check_key(const tsri_grid *grid, tsr_config *config)
{
    tsr_status st = TSR_OK;
    int64_t row = tsri_schema_find(grid->key);
    if (row < 0 || strchr(grid->key, '.') == grid->key)
        return tsri_grid_set(&(tsri_grid){.key = grid->key, .value = &(char *){"0"}}, 0, config);
    TSR_CHECK(strcmp(grid->key, "seed") != 0, TSR_USAGE,
              "--grid seed: every cell is run with several seeds anyway: use --seeds N");
    TSR_CHECK(!tsri_schema[row].pace, TSR_USAGE,
              "--grid %s: it changes how fast a run is, not what comes out: use --set", grid->key);
done:
    return st;
}

tsr_status tsri_grid_read(tsri_grid *grid, const char *text, const tsr_config *config)
{
    tsr_status st = TSR_OK;
    tsr_config *copy = NULL;
    int64_t room = 0;
    size_t n = strcspn(text, "=");
    *grid = (tsri_grid){0};
    TSR_CHECK(n > 0 && text[n] == '=' && text[n + 1], TSR_USAGE,
              "--grid %s: expected KEY=FIRST:LAST:STEP or KEY=VALUE,VALUE,...", tsri_quote(text));
    TSR_TRY(tsri_strndup(&grid->key, text, n));
    TSR_TRY(tsri_config_copy(&copy, config));
    TSR_TRY(check_key(grid, copy));
    tsri_type type = tsri_schema[tsri_schema_find(grid->key)].type;
    bool number = type == TSRI_TYPE_INT || type == TSRI_TYPE_REAL;
    if (number && strchr(text, ':'))
        TSR_TRY(read_range(grid, &room, text + n + 1));
    else
        TSR_TRY(read_list(grid, &room, text + n + 1));
    TSR_TRY(check_values(grid, config));
done:
    tsr_config_destroy(copy);
    if (st != TSR_OK)
        tsri_grid_fini(grid);
    return st;
}
