/* scaling.c - a scaling on its way into a model file and back. */
#include "data/scaling.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

void tsri_scaling_fini(tsri_scaling *s)
{
    tsri_free(s->shift);
    tsri_free(s->scale);
    tsri_free(s->fill);
    *s = (tsri_scaling){0};
}

static void write_list(tsri_json *w, const char *key, const float *values, int64_t n)
{
    tsri_json_key(w, key);
    tsri_json_open(w, '[');
    for (int64_t i = 0; i < n; i++)
        tsri_json_float(w, values[i]);
    tsri_json_close(w, ']');
}

void tsri_scaling_write(tsri_json *w, const tsri_scaling *s)
{
    tsri_json_open(w, '{');
    write_list(w, "shift", s->shift, s->groups);
    write_list(w, "scale", s->scale, s->groups);
    write_list(w, "fill", s->fill, s->columns);
    tsri_json_key(w, "target_shift");
    tsri_json_float(w, s->target_shift);
    tsri_json_key(w, "target_scale");
    tsri_json_float(w, s->target_scale);
    tsri_json_put_bool(w, "target_log", s->target_log);
    tsri_json_close(w, '}');
}

static tsr_status read_list(float **out, int64_t *n, const tsri_json_value *root, const char *key,
                            const char *path)
{
    tsr_status st = TSR_OK;
    const tsri_json_value *list = tsri_json_get(root, key);
    TSR_CHECK(list && tsri_json_is_array(list), TSR_BAD_FILE, "%s: tessera.scaling lacks %s", path,
              key);
    *n = tsri_json_length(list);
    TSR_TRY(tsri_alloc(out, *n, sizeof **out));
    for (int64_t i = 0; i < *n; i++) {
        double v;
        TSR_CHECK(tsri_json_as_real(tsri_json_at(list, i), &v) && isfinite((float)v), TSR_BAD_FILE,
                  "%s: tessera.scaling: number %lld of %s is not one", path, (long long)i + 1, key);
        (*out)[i] = (float)v;
    }
done:
    return st;
}

static tsr_status read_number(double *out, const tsri_json_value *root, const char *key,
                              const char *path)
{
    if (tsri_json_as_real(tsri_json_get(root, key), out) && isfinite((float)*out))
        return TSR_OK;
    return tsri_fail(TSR_BAD_FILE, "%s: tessera.scaling lacks %s", path, key);
}

tsr_status tsri_scaling_read(tsri_scaling *s, const char *text, const char *path)
{
    tsr_status st = TSR_OK;
    tsri_json_value *root = NULL;
    double shift, scale;
    int64_t scales = 0;
    *s = (tsri_scaling){0};
    st = tsri_json_parse(&root, text, (int64_t)strlen(text), "tessera.scaling");
    if (st != TSR_OK) {
        tsri_fail_prefix("%s: ", path);
        goto done;
    }
    TSR_TRY(read_list(&s->shift, &s->groups, root, "shift", path));
    TSR_TRY(read_list(&s->scale, &scales, root, "scale", path));
    TSR_TRY(read_list(&s->fill, &s->columns, root, "fill", path));
    TSR_TRY(read_number(&shift, root, "target_shift", path));
    TSR_TRY(read_number(&scale, root, "target_scale", path));
    TSR_CHECK(tsri_json_as_bool(tsri_json_get(root, "target_log"), &s->target_log), TSR_BAD_FILE,
              "%s: tessera.scaling lacks target_log", path);
    TSR_CHECK(scales == s->groups && (float)scale != 0, TSR_BAD_FILE,
              "%s: tessera.scaling has %lld shifts and %lld scales", path, (long long)s->groups,
              (long long)scales);
    s->target_shift = (float)shift;
    s->target_scale = (float)scale;
done:
    tsri_json_destroy(root);
    if (st != TSR_OK)
        tsri_scaling_fini(s);
    return st;
}

float tsri_scaling_original(const tsri_scaling *s, float y)
{
    float raw = y / s->target_scale + s->target_shift;
    return s->target_log ? expf(raw) : raw;
}
