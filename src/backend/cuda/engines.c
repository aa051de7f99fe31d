/* engines.c - which engines of cuDNN were fastest on an H200.
 *
 * cuDNN's own list begins with what its rules think is fastest. For a step of PreActResNet-18 its
 * first engines take 0.1 ms (batch 128) to 0.2 ms (batch 512) longer than the best ones. To choose
 * by the clock in each run would change bits from run to run; so they were timed once, and what was
 * found stands here: the choice follows from chip, version and shape, as all else does.
 *
 * The rows are made by bench/device/cuda-engines.py of what TESSERA_CUDNN_TUNE=1 and
 * TESSERA_CUDNN_TELL=1 say. They hold for one version of cuDNN alone, since places in its lists
 * change; with others, and for shapes that are not here, its own order is taken.
 */
#include "backend/cuda/dnn.h"

#include <stddef.h>

enum { CAPABILITY = 90, VERSION = 919 }; /* 9.19 */

/* Square images of bf16, windows padded so that one of stride 1 keeps their size. */
typedef struct row {
    int16_t n, side, in, out;
    int8_t size, stride, pass, place;
    int16_t engine;
} row;

static const row rows[] = {
    {64, 4, 512, 512, 3, 1, 2, 27, 65},   {64, 8, 256, 256, 3, 1, 0, 9, 62},
    {64, 8, 256, 256, 3, 1, 2, 1, 65},    {64, 8, 256, 512, 1, 2, 0, 31, 45},
    {64, 8, 256, 512, 1, 2, 2, 25, 65},   {64, 8, 256, 512, 3, 2, 0, 30, 62},
    {64, 8, 256, 512, 3, 2, 1, 1, 73},    {64, 8, 256, 512, 3, 2, 2, 11, 65},
    {64, 16, 128, 128, 3, 1, 0, 17, 62},  {64, 16, 128, 128, 3, 1, 1, 1, 57},
    {64, 16, 128, 256, 1, 2, 0, 10, 45},  {64, 16, 128, 256, 3, 2, 0, 4, 62},
    {64, 16, 128, 256, 3, 2, 1, 4, 73},   {64, 16, 128, 256, 3, 2, 2, 3, 65},
    {64, 32, 64, 64, 3, 1, 0, 3, 62},     {64, 32, 64, 128, 1, 2, 0, 11, 62},
    {64, 32, 64, 128, 1, 2, 2, 16, 65},   {64, 32, 64, 128, 3, 2, 0, 17, 62},
    {64, 32, 64, 128, 3, 2, 2, 7, 65},    {128, 4, 512, 512, 3, 1, 0, 27, 62},
    {128, 4, 512, 512, 3, 1, 1, 21, 67},  {128, 4, 512, 512, 3, 1, 2, 1, 65},
    {128, 8, 256, 512, 1, 2, 0, 20, 45},  {128, 8, 256, 512, 1, 2, 2, 26, 65},
    {128, 8, 256, 512, 3, 2, 0, 9, 62},   {128, 8, 256, 512, 3, 2, 1, 2, 73},
    {128, 8, 256, 512, 3, 2, 2, 18, 65},  {128, 16, 128, 128, 3, 1, 0, 7, 62},
    {128, 16, 128, 128, 3, 1, 1, 3, 67},  {128, 16, 128, 256, 1, 2, 0, 10, 45},
    {128, 16, 128, 256, 1, 2, 2, 19, 65}, {128, 16, 128, 256, 3, 2, 0, 1, 62},
    {128, 16, 128, 256, 3, 2, 1, 3, 73},  {128, 16, 128, 256, 3, 2, 2, 7, 65},
    {128, 32, 64, 64, 3, 1, 0, 1, 62},    {128, 32, 64, 64, 3, 1, 1, 2, 67},
    {128, 32, 64, 128, 1, 2, 0, 15, 62},  {128, 32, 64, 128, 1, 2, 2, 21, 65},
    {128, 32, 64, 128, 3, 2, 0, 5, 62},   {256, 4, 512, 512, 3, 1, 0, 10, 62},
    {256, 4, 512, 512, 3, 1, 1, 2, 67},   {256, 4, 512, 512, 3, 1, 2, 6, 65},
    {256, 8, 256, 256, 3, 1, 2, 4, 65},   {256, 8, 256, 512, 1, 2, 0, 16, 45},
    {256, 8, 256, 512, 1, 2, 2, 23, 65},  {256, 16, 128, 128, 3, 1, 0, 2, 62},
    {256, 16, 128, 128, 3, 1, 1, 3, 67},  {256, 16, 128, 256, 1, 2, 0, 13, 45},
    {256, 16, 128, 256, 1, 2, 2, 30, 65}, {256, 16, 128, 256, 3, 2, 0, 4, 62},
    {256, 16, 128, 256, 3, 2, 2, 5, 65},  {256, 32, 64, 64, 3, 1, 1, 4, 67},
    {256, 32, 64, 128, 1, 2, 0, 13, 62},  {256, 32, 64, 128, 1, 2, 2, 8, 65},
    {256, 32, 64, 128, 3, 2, 0, 6, 62},   {512, 4, 512, 512, 3, 1, 0, 17, 62},
    {512, 4, 512, 512, 3, 1, 1, 2, 67},   {512, 4, 512, 512, 3, 1, 2, 15, 65},
    {512, 8, 256, 256, 3, 1, 0, 2, 62},   {512, 8, 256, 512, 1, 2, 0, 20, 62},
    {512, 8, 256, 512, 1, 2, 2, 19, 65},  {512, 8, 256, 512, 3, 2, 1, 5, 73},
    {512, 8, 256, 512, 3, 2, 2, 1, 65},   {512, 16, 128, 128, 3, 1, 0, 7, 62},
    {512, 16, 128, 128, 3, 1, 1, 10, 67}, {512, 16, 128, 256, 1, 2, 0, 12, 62},
    {512, 16, 128, 256, 1, 2, 2, 19, 65}, {512, 32, 64, 64, 3, 1, 1, 4, 67},
    {512, 32, 64, 128, 1, 2, 0, 4, 62},   {512, 32, 64, 128, 1, 2, 2, 21, 65},
    {512, 32, 64, 128, 3, 2, 0, 6, 62},
};

static bool is_of(const row *r, const tsri_cuda_dnn_shape *s)
{
    return r->n == s->n && r->side == s->h && r->side == s->w && r->in == s->c && r->out == s->k &&
           r->size == s->size && r->stride == s->stride && r->pass == s->pass &&
           s->pad == s->size / 2;
}

tsri_cuda_place tsri_cuda_measured(const tsri_cuda_dnn_shape *shape, int64_t version)
{
    bool known = tsri_cuda_capability() == CAPABILITY && version / 100 == VERSION && shape->bf16 &&
                 !shape->wide;
    for (size_t i = 0; known && i < sizeof rows / sizeof *rows; i++)
        if (is_of(&rows[i], shape))
            return (tsri_cuda_place){rows[i].place, rows[i].engine};
    return (tsri_cuda_place){-1, -1};
}
