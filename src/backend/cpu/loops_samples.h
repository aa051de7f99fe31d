/* loops_samples.h - steps of a shallow network seen from its samples (backend/samples.h).
 *
 * Columns are cut into tiles of TILE floats, the last one narrower, so that the sums of a unit stay
 * in registers while it goes through the groups. Of each tile the table has, group after group,
 * sixteen rows as wide as the tile: row p is the sum of those of the four samples whose bits are
 * set in p.
 */
enum { TILE = 64, PART = 16 / WIDTH }; /* vectors in 16 columns */

/* Rows of a unit in the table, one for each group: numbers from 0 to 15. */
typedef struct pattern {
    uint8_t row[TSRI_SAMPLES_MOST / 4];
} pattern;

ALWAYS vec flip(vec x, bits minus)
{
    return (vec)((bits)x ^ minus);
}

ALWAYS bits minus_of(float sign)
{
    return (bits){0} + (sign < 0 ? INT32_MIN : 0);
}

static void samples_table(float *table, const float *c, const float *gram, int64_t groups,
                          int64_t columns)
{
    for (int64_t from = 0; from < columns; from += TILE) {
        int64_t width = columns - from < TILE ? columns - from : TILE;
        for (int64_t g = 0; g < groups; g++) {
            float *rows = table + groups * 16 * from + g * 16 * width;
            const float *x = gram + 4 * g * columns + from, *w = c + 4 * g;
            for (int64_t j = 0; j < width; j += WIDTH) {
                vec sum[16] = {{0}};
                UNROLL
                for (int p = 1; p < 16; p++) {
                    int bit = p & 8 ? 3 : p & 4 ? 2 : p & 2 ? 1 : 0;
                    sum[p] = sum[p & ~(1 << bit)] + splat(w[bit]) * load(x + bit * columns + j);
                }
                UNROLL
                for (int p = 0; p < 16; p++)
                    store(rows + p * width + j, sum[p]);
            }
        }
    }
}

/* alpha += a c where the unit is on; which rows of the table it needs. */
ALWAYS void open_gates(pattern *p, float *alpha, const float *z, const float *c, bits minus,
                       int64_t columns)
{
    for (int64_t j = 0; j < columns; j += WIDTH) {
        bits on = (bits)(load(z + j) > (vec){0});
        vec part = (vec)((bits)load(c + j) & on);
        store(alpha + j, load(alpha + j) + flip(part, minus));
        unsigned lanes = lanes_of(on);
        UNROLL
        for (int k = 0; k < WIDTH / 4; k++)
            p->row[j / 4 + k] = (uint8_t)(lanes >> (4 * k) & 15);
    }
}

/* z of one tile of `parts` times 16 columns; then what it adds to the sums. */
ALWAYS void step_tile(float *z, float *sums, const float *rows, const pattern *p, bits minus,
                      int64_t groups, int parts)
{
    int64_t width = 16 * parts;
    vec acc[TILE / WIDTH];
    UNROLL
    for (int v = 0; v < parts * PART; v++)
        acc[v] = load(rows + p->row[0] * width + v * WIDTH);
    ROLLED
    for (int64_t g = 1; g < groups; g++) {
        const float *row = rows + (g * 16 + p->row[g]) * width;
        UNROLL
        for (int v = 0; v < parts * PART; v++)
            acc[v] += load(row + v * WIDTH);
    }
    UNROLL
    for (int v = 0; v < parts * PART; v++) {
        vec x = load(z + v * WIDTH) + flip(acc[v], minus);
        store(z + v * WIDTH, x);
        if (sums)
            store(sums + v * WIDTH, load(sums + v * WIDTH) + flip(relu(x), minus));
    }
}

static void samples_step(const tsri_samples *s)
{
    pattern p;
    for (int64_t u = 0; u < s->units; u++) {
        float *z = s->z + u * s->columns;
        bits minus = minus_of(s->sign[u]);
        open_gates(&p, s->alpha + u * s->columns, z, s->c, minus, s->columns);
        for (int64_t from = 0; from < s->columns; from += TILE) {
            const float *rows = s->table + s->groups * 16 * from;
            float *sums = s->sums ? s->sums + from : NULL;
            int64_t left = (s->columns - from) / 16;
            if (left >= 4)
                step_tile(z + from, sums, rows, &p, minus, s->groups, 4);
            else if (left == 3)
                step_tile(z + from, sums, rows, &p, minus, s->groups, 3);
            else if (left == 2)
                step_tile(z + from, sums, rows, &p, minus, s->groups, 2);
            else
                step_tile(z + from, sums, rows, &p, minus, s->groups, 1);
        }
    }
}

static void samples_outputs(const tsri_samples *s)
{
    for (int64_t u = 0; u < s->units; u++) {
        const float *z = s->z + u * s->columns;
        bits minus = minus_of(s->sign[u]);
        for (int64_t j = 0; j < s->columns; j += WIDTH)
            store(s->sums + j, load(s->sums + j) + flip(relu(load(z + j)), minus));
    }
}
