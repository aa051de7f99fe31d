# kernels.sh - PyTorch gets the kernels that we have. Sourced by every benchmark that measures it, after `program=$1`:
#
#     . "$source/bench/kernels.sh"
#
# OpenBLAS 0.3.21 does not know some processors and falls back to kernels of 2004. Our program then loads it again
# with another OPENBLAS_CORETYPE; PyTorch, which calls the same library, does not, and would be measured at a fifth of its
# speed. So the core type that our program ends up with (`tessera version --json`) goes into the environment of both.
# PYTHON names another interpreter than Debian's, one with a newer PyTorch.
# shellcheck shell=bash disable=SC2154 # $program is the caller's
python=${PYTHON:-/usr/bin/python3}
OPENBLAS_CORETYPE=$("$program" version --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["core"])')
export OPENBLAS_CORETYPE
echo "kernels of OpenBLAS, ours and PyTorch's: $OPENBLAS_CORETYPE"
