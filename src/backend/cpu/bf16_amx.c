/* bf16_amx.c - the bf16 loops on AMX: tiles of 16 rows and 64 bytes, 8192 multiplications and
 * additions in one instruction.
 *
 * A block of 32 x 32 sums is four tiles, 0 to 3; a step loads two tiles of a (4 and 5) and two of b
 * (6 and 7) and multiplies each with each.
 */
#include "backend/cpu/bf16_rows.h"

/* What LDTILECFG reads. */
typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_config;

static void begin(void)
{
    tile_config config = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        config.bytes[i] = 64;
        config.rows[i] = 16;
    }
    _tile_loadconfig(&config);
}

static void end(void)
{
    _tile_release();
}

static void product(float *c, int64_t ldc, const tsri_bf16 *a, int64_t row, const int64_t *at,
                    int64_t steps, const tsri_bf16 *b, bool add)
{
    size_t a_bytes = (size_t)row * sizeof *a, c_bytes = (size_t)ldc * sizeof *c, b_bytes = 64;
    float *lower = c + TSRI_HALF * ldc;
    if (add) {
        _tile_loadd(0, c, c_bytes);
        _tile_loadd(1, c + TSRI_HALF, c_bytes);
        _tile_loadd(2, lower, c_bytes);
        _tile_loadd(3, lower + TSRI_HALF, c_bytes);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t s = 0; s < steps; s++, b += TSRI_STEP) {
        const tsri_bf16 *as = a + at[s];
        _tile_loadd(6, b, b_bytes);
        _tile_loadd(4, as, a_bytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, b + TSRI_TILE, b_bytes);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, as + TSRI_HALF * row, a_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, c_bytes);
    _tile_stored(1, c + TSRI_HALF, c_bytes);
    _tile_stored(2, lower, c_bytes);
    _tile_stored(3, lower + TSRI_HALF, c_bytes);
}

const tsri_bf16_loops tsri_bf16_amx = {.name = "amx",
                                       .begin = begin,
                                       .end = end,
                                       .product = product,
                                       .convert = convert,
                                       .pairs = pairs,
                                       .turn = turn};
