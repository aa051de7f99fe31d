#!/usr/bin/env bash
# The guide's pages work as written: their commands are run, in a folder of each page's own, say what the pages show and make
# their pictures (tests/python/pages.py).
set -eu
program=$1 source=$2
. "$source/tests/cli.sh"
PATH=$(dirname "$program"):/usr/bin:$PATH
left_out=()

# run_page NAME
run_page() {
    mkdir "$1"
    (cd "$1" && ln -s "$source/examples" examples && python "$source/tests/python/pages.py" "$source/docs/guide/$1.md") ||
        complain "docs/guide/$1.md"
}

for page in first-ticket table pictures certificate; do run_page $page; done
if python -c 'import torch' 2>/dev/null; then run_page checkpoint; else left_out+=("checkpoint (python3-torch)"); fi
if command -v mpirun >/dev/null && ldd "$program" | grep -q libmpi; then run_page machines; else left_out+=("machines (openmpi-bin)"); fi
# Kernels for a GPU on this machine's processors.
TESSERA_CUDA=$(dirname "$program")/tests/cuda/libtessera-cuda-emulated.so
TESSERA_CUDNN=${TESSERA_CUDA%/*}/libcudnn_emulated.so
export TESSERA_CUDA TESSERA_CUDNN
if [ -f "$TESSERA_CUDA" ]; then run_page gpu; else left_out+=("gpu (g++)"); fi

# ... and the check sees what is wrong.
mkdir wrong
while IFS='|' read -r what text; do
    printf '# A page\n\n%b' "$text" >wrong/page.md
    ! (cd wrong && python "$source/tests/python/pages.py" page.md >out) || complain "not noticed: $what"
done <<'T'
a command that fails|```sh\nfalse\n```\n
a line that is not said|```sh\necho one 1\n```\n```\ntwo 1\n```\n
lines in another order|```sh\necho one; echo two\n```\n```\ntwo\none\n```\n
another percentage|```sh\necho 50 %\n```\n```\n60 %\n```\n
a picture that is not made|```sh\ntrue\n```\n![x](pictures/x.svg)\n
T
printf '# A page\n\n```sh\necho 50.5 %% in 3 s\n```\n```\n51 %% in 4 s\n```\n' >wrong/page.md
(cd wrong && python "$source/tests/python/pages.py" page.md) || complain "other times are not allowed"
[ ${#left_out[@]} = 0 ] || skip "pages left out: ${left_out[*]}"
