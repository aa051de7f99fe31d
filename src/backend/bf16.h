/* bf16.h - bfloat16, the upper half of a float: what `scheme.wire: bf16` sends (subnet/wire.h), and
 * what `precision: bf16` means.
 *
 * There operands of convolutions and linear layers (inputs, weights, gradients of outputs) are
 * rounded to the nearest bf16, ties to even. A product of two of them has 16 significant bits and
 * is exact in float; sums are float. All else is float as before: weights between steps, the loss,
 * norms, sums of biases, the update.
 *
 * Processors count operands below 1.2e-38 as zero in such products; this definition does not.
 */
#ifndef TSRI_BF16_H
#define TSRI_BF16_H

#include <stdint.h>
#include <string.h>

typedef uint16_t tsri_bf16;

static inline tsri_bf16 tsri_bf16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (tsri_bf16)(bits >> 16 | 0x40); /* NaN stays one, whatever its lower half was */
    return (tsri_bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float tsri_bf16_float(tsri_bf16 x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline float tsri_bf16_round(float x)
{
    return tsri_bf16_float(tsri_bf16_of(x));
}

#endif
