/* loops_samples.h - steps of a shallow network seen from its samples (backend/samples.h).
 *
 * Columns are cut into tiles of 16. Of each tile the table has, group after group, sixteen rows as
 * wide as the tile: row p is the sum of those of the four samples whose bits are set in p. At 100
 * samples a tile of the table is 25 KB, which a first-level cache holds: so a block of units goes
 * through one tile after the other, four units at a time, their sums in registers.
 */
enum {
    TILE = 16,
    PART = TILE / WIDTH, /* vectors in a tile */
    BLOCK = 256,         /* units that go through the tiles together */
    ABREAST = 4          /* units in registers */
};

/* The units of some chunks that are on for one sample at least: the others do not move and add
 * nothing. */
typedef struct block {
    int64_t units, chunks;
    int64_t unit[BLOCK]; /* [units] their numbers, ascending */
    int64_t end[BLOCK];  /* [chunks] where each chunk ends in `unit` */
    /* [units][columns / 4] TILE times the row, 0 to 15, that a unit needs of a group */
    uint8_t at[BLOCK * TSRI_SAMPLES_MOST / 4];
} block;

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
    for (int64_t from = 0; from < columns; from += TILE)
        for (int64_t g = 0; g < groups; g++, table += 16 * TILE) {
            const float *x = gram + 4 * g * columns + from, *w = c + 4 * g;
            for (int64_t j = 0; j < TILE; j += WIDTH) {
                vec sum[16] = {{0}};
                UNROLL
                for (int p = 1; p < 16; p++) {
                    int bit = p & 8 ? 3 : p & 4 ? 2 : p & 2 ? 1 : 0;
                    sum[p] = sum[p & ~(1 << bit)] + splat(w[bit]) * load(x + bit * columns + j);
                }
                UNROLL
                for (int p = 0; p < 16; p++)
                    store(table + p * TILE + j, sum[p]);
            }
        }
}

/* alpha += a c where the unit is on; which rows of the table it needs. Is it on anywhere? */
ALWAYS bool open_gates(uint8_t *at, float *alpha, const float *z, const float *c, bits minus,
                       int64_t columns)
{
    unsigned any = 0;
    for (int64_t j = 0; j < columns; j += WIDTH) {
        bits on = (bits)(load(z + j) > (vec){0});
        vec part = (vec)((bits)load(c + j) & on);
        unsigned lanes = lanes_of(on);
        store(alpha + j, load(alpha + j) + flip(part, minus));
        any |= lanes;
        UNROLL
        for (int k = 0; k < WIDTH / 4; k++)
            at[j / 4 + k] = (uint8_t)((lanes >> (4 * k) & 15) * TILE);
    }
    return any != 0;
}

/* Opens the gates of as many chunks from `first` on as a block has room for; returns the
 * first chunk that is left. */
static int64_t open_block(block *b, const tsri_samples *s, int64_t first)
{
    b->units = b->chunks = 0;
    for (; first < s->chunks && b->chunks < BLOCK; first++) {
        int64_t from = s->chunk[first], to = s->chunk[first + 1];
        if (b->units + to - from > BLOCK)
            break;
        for (int64_t u = from; u < to; u++) {
            b->unit[b->units] = u;
            b->units += open_gates(b->at + b->units * s->columns / 4, s->alpha + u * s->columns,
                                   s->z + u * s->columns, s->c, minus_of(s->sign[u]), s->columns);
        }
        b->end[b->chunks++] = b->units;
    }
    return first;
}

/* z of one tile of `count` units, the k-th and those after; then what they add to the sums. */
ALWAYS void step_units(vec sums[PART], const tsri_samples *s, const block *b, int64_t k, int count,
                       int64_t from)
{
    const float *rows = s->table + from * s->groups * 16;
    const uint8_t *at[ABREAST];
    vec acc[ABREAST][PART];
    UNROLL
    for (int u = 0; u < count; u++) {
        at[u] = b->at + (k + u) * s->columns / 4;
        UNROLL
        for (int v = 0; v < PART; v++)
            acc[u][v] = load(rows + at[u][0] + v * WIDTH);
    }
    ROLLED
    for (int64_t g = 1; g < s->groups; g++) {
        rows += 16 * TILE;
        UNROLL
        for (int u = 0; u < count; u++)
            UNROLL
        for (int v = 0; v < PART; v++)
            acc[u][v] += load(rows + at[u][g] + v * WIDTH);
    }
    UNROLL
    for (int u = 0; u < count; u++) {
        float *z = s->z + b->unit[k + u] * s->columns + from;
        bits minus = minus_of(s->sign[b->unit[k + u]]);
        UNROLL
        for (int v = 0; v < PART; v++) {
            vec x = load(z + v * WIDTH) + flip(acc[u][v], minus);
            store(z + v * WIDTH, x);
            sums[v] += flip(relu(x), minus);
        }
    }
}

ALWAYS void add_up(double *total, const vec sums[PART])
{
    for (int v = 0; v < PART; v++)
        for (int l = 0; l < WIDTH; l++)
            total[v * WIDTH + l] += (double)sums[v][l];
}

static void step_tile(const tsri_samples *s, const block *b, int64_t from)
{
    for (int64_t k = 0, chunk = 0; chunk < b->chunks; chunk++) {
        vec sums[PART] = {{0}};
        for (; k + ABREAST <= b->end[chunk]; k += ABREAST)
            step_units(sums, s, b, k, ABREAST, from);
        for (; k < b->end[chunk]; k++)
            step_units(sums, s, b, k, 1, from);
        add_up(s->total + from, sums);
    }
}

static void samples_step(const tsri_samples *s)
{
    block b;
    for (int64_t chunk = 0; chunk < s->chunks;) {
        chunk = open_block(&b, s, chunk);
        for (int64_t from = 0; from < s->columns; from += TILE)
            step_tile(s, &b, from);
    }
}

static void samples_outputs(const tsri_samples *s)
{
    for (int64_t chunk = 0; chunk < s->chunks; chunk++)
        for (int64_t from = 0; from < s->columns; from += TILE) {
            vec sums[PART] = {{0}};
            for (int64_t u = s->chunk[chunk]; u < s->chunk[chunk + 1]; u++)
                UNROLL
            for (int v = 0; v < PART; v++)
                sums[v] += flip(relu(load(s->z + u * s->columns + from + v * WIDTH)),
                                minus_of(s->sign[u]));
            add_up(s->total + from, sums);
        }
}

static void samples_awake(uint8_t *awake, const float *z, int64_t units, int64_t columns)
{
    for (int64_t u = 0; u < units; u++, z += columns) {
        bits on = {0};
        if (!awake[u])
            continue;
        for (int64_t j = 0; j < columns; j += WIDTH)
            on |= (bits)(load(z + j) > (vec){0});
        awake[u] = lanes_of(on) != 0;
    }
}
