/* date.h - days and times of day as people write them in tables.
 *
 *     2024-05-31    31.05.2024    31-May-2024    May 31, 2024    2024-05-31T12:30:05+02:00    12:30
 *     5/6/2024 and 05/06/24 are dates, too, but do not say which is the month
 */
#ifndef TSRI_DATE_H
#define TSRI_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Is the cell a date or a time of day? *days is then the days since 1970-01-01, a time being a part
 * of a day; NaN when day, month and year cannot be told apart. A day that no calendar has
 * (2024-02-30) is not a date. */
bool tsri_date(double *days, const char *cell, size_t length);

#endif
