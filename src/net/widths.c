/* widths.c - the key model.widths: "name=size, name=size". */
#include "net/widths.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

/* One "name=size". */
typedef struct entry {
    char name[TSRI_NAME], size[32];
} entry;

/* The entry at *at, which moves after it; false at the end. What is too long for an axis's name is
 * cut: it then matches none. */
static bool next(entry *e, const char **at)
{
    *at += strspn(*at, ", ");
    if (!**at)
        return false;
    size_t n = strcspn(*at, ",= "), most = sizeof e->name - 1;
    (void)snprintf(e->name, sizeof e->name, "%.*s", (int)(n < most ? n : most), *at);
    *at += n;
    e->size[0] = '\0';
    if (**at == '=') {
        ++*at;
        n = strcspn(*at, ", ");
        most = sizeof e->size - 1;
        (void)snprintf(e->size, sizeof e->size, "%.*s", (int)(n < most ? n : most), *at);
        *at += n;
    }
    return true;
}

tsr_status tsri_widths_apply(const tsri_net *net, tsri_axis *axis)
{
    tsr_status st = TSR_OK;
    entry e;
    bool given = false;
    const char *at = net->widths;
    while (at && next(&e, &at)) {
        int64_t size;
        if (strcmp(e.name, axis->name) != 0)
            continue;
        TSR_CHECK(tsri_axis_prunable(axis), TSR_USAGE, "%s: axis %s of the model cannot be cut",
                  net->widths_place, axis->name);
        TSR_CHECK(!given, TSR_USAGE, "%s: axis %s is given twice", net->widths_place, axis->name);
        TSR_CHECK(tsri_number_int(&size, e.size) == TSRI_NUMBER_OK && size >= 1 &&
                      size <= axis->full,
                  TSR_USAGE, "%s: the size of axis %s is a whole number from 1 to %lld, not '%s'",
                  net->widths_place, axis->name, (long long)axis->full, tsri_quote(e.size));
        axis->size = size;
        given = true;
    }
done:
    return st;
}

static bool has_axis(const tsri_net *net, const char *name)
{
    for (int64_t a = 0; a < net->axes; a++)
        if (strcmp(net->axis[a].name, name) == 0)
            return true;
    return false;
}

tsr_status tsri_widths_check(const tsri_net *net)
{
    tsr_status st = TSR_OK;
    entry e;
    const char *at = net->widths;
    while (at && next(&e, &at))
        TSR_CHECK(has_axis(net, e.name), TSR_USAGE,
                  "%s: the model has no axis '%s' (docs/models.md lists them)", net->widths_place,
                  tsri_quote(e.name));
done:
    return st;
}

tsr_status tsri_widths_write(tsri_text *out, const tsri_net *net)
{
    tsr_status st = TSR_OK;
    for (int64_t a = 0; a < net->axes; a++)
        if (net->axis[a].size != net->axis[a].full)
            TSR_TRY(tsri_text_add(out, "%s%s=%lld", out->length ? ", " : "", net->axis[a].name,
                                  (long long)net->axis[a].size));
done:
    return st;
}
