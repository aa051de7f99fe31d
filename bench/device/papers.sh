#!/usr/bin/env bash
# Makes cells of a study at the paper's size on a machine with a GPU, from binaries that were built on another one
# (bench/device/cuda-pack.sh), within a limit of time.
#
#   papers.sh FOLDER SECONDS [-j N] [--study NAME] [--set KEY=VALUE]... CELLS...
#
# FOLDER holds what cuda-pack.sh packed. Each CELLS is a list of patterns (tessera reproduce --cells) that one process makes
# one after the other; N of them run at once, by MPS where it answers. What is finished lies in $OUT/cells.tar.gz at any
# moment; runs that the limit cut off lie in $WORK and go on in the next call, if the machine is still the same. Cells in
# FOLDER/cells are taken as made. The data are looked for in $CIFAR (/tmp/cifar10).
set -u
pack=$(cd "$1" && pwd) limit=$2
shift 2
out=${OUT:-$PWD} work=${WORK:-/tmp/papers-work} data=${CIFAR:-/tmp/cifar10} study=loft/table1 jobs=1
settings=(--set backend=cuda --set precision=bf16)
groups=()
while [ $# -gt 0 ]; do
    case $1 in
    -j) jobs=$2 && shift ;;
    --study) study=$2 && shift ;;
    --set) settings+=(--set "$2") && shift ;;
    *) groups+=("$1") ;;
    esac
    shift
done
libraries=$pack/lib
for folder in /usr/local/cuda/lib64 $(python3 -c 'import glob, sysconfig
print(*glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))' 2>/dev/null); do
    libraries+=:$folder
done
export LD_LIBRARY_PATH=$libraries TESSERA_CUDA=${TESSERA_CUDA:-$pack/libtessera-cuda.so}
mkdir -p "$work/cells"
[ -d "$pack/cells" ] && cp -n "$pack"/cells/*.json "$work/cells/"

# What is finished, and how the runs went, whatever happens next: the archive is replaced in one step.
keep() {
    local new=$out/cells.$BASHPID
    (cd "$work" && find . \( -path './cells/*.json' -o -name metrics.jsonl -o -name ticket.json -o -name '*.log' -o -name summary.md -o -name accuracy-table.csv \) -print0 |
        tar --null -czf "$new" -T - 2>/dev/null) && mv "$new" "$out/cells.tar.gz"
}
left() { echo $((limit - SECONDS)); }

# Several processes share the GPU at once only by MPS; without it they take turns, so there is no use in them.
start_mps() {
    command -v nvidia-cuda-mps-control > /dev/null || return 1
    export CUDA_MPS_PIPE_DIRECTORY=/tmp/papers-mps CUDA_MPS_LOG_DIRECTORY=/tmp/papers-mps
    mkdir -p /tmp/papers-mps
    timeout 10 nvidia-cuda-mps-control -d > "$work/mps.log" 2>&1 || return 1
    timeout 30 "$pack/tessera" bench "$pack/mlp.yaml" --set backend=cuda --set precision=bf16 --set batch=64 -n 1 >> "$work/mps.log" 2>&1
}
stop_mps() {
    [ -n "${CUDA_MPS_PIPE_DIRECTORY:-}" ] || return 0
    echo quit | timeout 10 nvidia-cuda-mps-control > /dev/null 2>&1
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}
if [ "$jobs" -gt 1 ] && [ -z "${PAPERS_NO_MPS:-}" ]; then
    if start_mps; then
        echo "MPS answers: $jobs processes at once"
    else
        stop_mps
        echo "no MPS (see mps.log): one process after the other"
        jobs=1
    fi
fi

make() { # CELLS: asked to stop 20 s before the limit, it saves what it has
    local log
    log=$work/$(tr -c 'A-Za-z0-9\n' _ <<< "$1" | cut -c1-80).log
    timeout -s TERM -k 12 $(($(left) > 40 ? $(left) - 20 : 20)) "$pack/tessera" reproduce "$study" --paper --out "$work" \
        --data "$data" "${settings[@]}" --cells "$1" ${PAPERS_COMMIT:+--commit "$PAPERS_COMMIT"} > "$log" 2>&1
    local rc=$?
    grep -aE 'seed[0-9]+: [0-9.]+ %' "$log"
    [ $rc = 0 ] || tail -2 "$log"
    keep
    return $rc
}
(while sleep 15; do keep; done) &
keeper=$!
failed=0 running=0
for cells in "${groups[@]}"; do
    [ "$(left)" -gt 40 ] || { echo "not begun: $cells" && continue; }
    while [ "$running" -ge "$jobs" ]; do
        wait -n || failed=$((failed + 1))
        running=$((running - 1))
    done
    [ "$(left)" -gt 40 ] || { echo "not begun: $cells" && continue; }
    make "$cells" &
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
    wait -n || failed=$((failed + 1))
    running=$((running - 1))
done
kill $keeper
stop_mps
keep
echo "papers: $(find "$work/cells" -name '*.json' | wc -l) cells, $failed groups not finished, $SECONDS s"
exit $((failed > 0))
