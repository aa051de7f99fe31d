# shellcheck shell=bash
# Parts of cuda-tests.sh: four LoFT-4 shares of PreActResNet-18 at once.
#
#   shares    rounds of ours, beside PyTorch's steps in turn and on four streams
#   trace     every kernel of these rounds, alone and at once (cuda-trace.c), in $OUT/trace.txt

# four NAME [SETTING...]: rounds of 50 steps, all workers at once, and a share's step alone.
four() {
    local name=$1
    shift
    timeout 60 ./tessera bench speed.yaml --share -n 3 --set backend=cuda --set precision=bf16 --set batch=128 --set scheme.name=loft \
        --set scheme.workers=4 --set scheme.local_steps="${steps_of_round:-50}" --set data.n=6400 "${@/#/--set=}" > four.one 2>&1
    { echo "== $name" && cat four.one; } >> "$out/four.txt"
    printf '%-40s %s | %s\n' "$name" "$(grep -o 'round of all.*' four.one | sed 's/round of all workers at once: //')" \
        "$(grep -o 'step: min [0-9.]* ms' four.one || tail -1 four.one)"
}

# Under CUPTI, which makes it a little slower.
part_trace() {
    [ -f libcuda-trace.so ] || return 0
    steps_of_round=10 CUDA_INJECTION64_PATH=$PWD/libcuda-trace.so CUDA_TRACE=$PWD/trace.csv four "four shares, traced"
    python3 cuda-trace.py trace.csv 60 > "$out/trace.txt" 2>&1
    head -20 "$out/trace.txt"
}

part_shares() {
    four "four shares, once"
    four "four shares, again"
    for case in shares:128 share:128; do
        timeout 60 python3 cuda-torch.py $case 2>&1 | tail -2 | tee -a "$out/torch.txt"
    done
}
