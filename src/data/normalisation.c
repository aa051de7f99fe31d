/* normalisation.c - the rows of the ways to normalise inputs. */
#include "data/normalisation.h"

#include <stddef.h>
#include <string.h>

/* The first row is what unknown names stand for. */
static const tsri_normalisation rows[] = {
    {.name = "none"},
    {.name = "unit", .each_row = true},
    {.name = "patch", .each_row = true, .wanted_length = true},
    {.name = "standardize", .grouping = TSRI_BY_COLUMN},
    {.name = "channel", .grouping = TSRI_BY_CHANNEL},
    {.name = "minmax", .grouping = TSRI_BY_CHANNEL, .range = true},
};

const tsri_normalisation *tsri_normalisation_named(const char *name)
{
    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return &rows[0];
}

bool tsri_normalises_nothing(const tsri_normalisation *how)
{
    return how->grouping == TSRI_NO_GROUPS && !how->each_row;
}
