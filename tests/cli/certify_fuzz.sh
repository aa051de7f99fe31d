#!/usr/bin/env bash
# Random runs of every paper against their oracles: a sample of fixed seeds, first of all those that found an error of the
# program. More of them: python3 tests/python/certificate_fuzz.py PROGRAM --seeds 1-300.
set -euo pipefail
program=$1 fuzz=$2/tests/python/certificate_fuzz.py
. "$2/tests/cli.sh"
with_python numpy yaml
export OPENBLAS_NUM_THREADS=1
sample() { python "$fuzz" "$program" --paper "$1" --seeds "$2" --keep kept >out || complain "$1: $(head -40 out)"; tail -1 out; }

# 18: null in rounds without budget; 29: (7.1) failed by rounding; 43: T of stop.below: 1; 52: LAPACK gave up on weights that
# diverge; 33: a vector of length 0; 127: weights that are no longer finite
sample rnn 18,29,33,43,52,127
# 43, 60: losses of 0 were left out; 95: one worker's shard is all; 119: patterns of a part of the samples; 77014: terms of
# the gradient cancel; 77025: an eigenvalue of 4 beside 3e14
sample grelu 43,60,95,119,77014,77025
# 8, 99: (ii) failed by rounding; 4: it was 0 by rounding; 21: not measured; 56: the pair of a single sample; 77017: slopes
# of 1e-40; 77020: the interval of a norm did not hold it, of a matrix with two columns
sample deep_relu 4,8,21,56,99,77017,77020
# 19, 42: rounding decided; 15: lambda_0 of rows that are nearly equal; 33: the factor of the whole was taken for xi; 36:
# unequal shares; 77: batches drawn with replacement; 94: (5) of steps that floats lose; 1024: Lemma 1 of a
# net from a file, whose output weights are no signs; 5029: 0 of 0
sample masked 15,19,33,36,42,77,94,1024,5029
# 5, 78: xi of unequal shares; 21: the whole without its factor; 50, 59: other draws of rounds that are not the theorems'; 1028: 0/0
sample loft 5,21,50,59,78,1028
