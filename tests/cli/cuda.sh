#!/usr/bin/env bash
# backend: cuda without a GPU: what each missing thing is called, and whole runs with the module's kernels on this
# machine's processors (tests/cuda/).
program=$1
. "$2/tests/cli.sh"
module=$(dirname "$program")/tests/cuda/libtessera-cuda-emulated.so
[ -f "$module" ] || skip "the emulated module needs a C++ compiler: apt-get install g++"

cat > run.yaml <<'YAML'
data: {name: glyphs, n: 64, test_n: 16}
model: {hidden: [8]}
batch: 16
rounds: 4
backend: cuda
YAML
train() { # CODE WORDS [OPTION...]
    local code=$1 words=$2
    shift 2
    refused "$code" "$words" train run.yaml --out a "$@"
}

# What is missing, in a sentence that says what to do.
mkdir away && cp "$program" away/tessera
(
    program=$PWD/away/tessera
    unset TESSERA_CUDA
    train 2 "needs the module libtessera-cuda.so, which is not in $(realpath away): build Tessera where CUDA 13"
    exit $failed
) || failed=1
TESSERA_CUDA=$PWD/none.so train 2 "its module cannot be loaded ($PWD/none.so: cannot open shared object file"
echo 'int nothing;' > other.c && cc -shared -fPIC -o other.so other.c
TESSERA_CUDA=$PWD/other.so train 2 "other.so is not a module of Tessera"
echo 'const int tsri_this_module[16] = {99};' > old.c && cc -shared -fPIC -o old.so old.c
TESSERA_CUDA=$PWD/old.so train 2 "old.so was built for another version of Tessera"
export TESSERA_CUDA=$module
TESSERA_EMULATED_FAULT=driver train 2 "no NVIDIA driver answers on this machine"
TESSERA_EMULATED_FAULT=old train 2 "the NVIDIA driver is for CUDA 12.8 and this module needs 13.0"
TESSERA_EMULATED_FAULT=device train 2 "the driver sees no GPU (no CUDA-capable device is detected)"
TESSERA_EMULATED_FAULT=memory train 4 "the GPU is out of memory"
TESSERA_EMULATED_FAULT=launch train 1 "an illegal memory access was encountered"

# `auto` takes what is there, says so, and the run file keeps it.
takes() { # FOLDER WORDS BACKEND
    "$program" train run.yaml --out "$1" --set rounds=1 --set backend=auto > said.txt 2>&1 || fail "$(cat said.txt)"
    grep -qF "backend: auto takes $3: $2" said.txt || fail "auto did not say: $2: $(cat said.txt)"
    grep -q "^backend: $3\$" "$1/run.yaml" || fail "run.yaml does not name $3"
    grep -q "\"event\":\"backend\",\"round\":0,\"backend\":\"$3\",\"why\":\"$2" "$1/metrics.jsonl" || fail "the metrics do not"
}
takes auto1 "its device answers: cuda 13.0" cuda
TESSERA_EMULATED_FAULT=device takes auto2 "backend: cuda: the driver sees no GPU" cpu
TESSERA_CUDA=$PWD/none.so takes auto3 "backend: cuda: its module cannot be loaded" cpu
TESSERA_EMULATED_FAULT=driver refused 2 "backend: cuda -> cpu" train run.yaml --out auto1 --resume --set backend=auto --set rounds=2
# What a GPU trained is used where there is none.
TESSERA_EMULATED_FAULT=driver "$program" eval auto1/model.safetensors > said.txt 2>&1 || fail "eval: $(cat said.txt)"
grep -qF "backend: auto takes cpu: backend: cuda: no NVIDIA driver answers" said.txt || fail "eval did not say what it took"
TESSERA_EMULATED_FAULT=driver refused 2 "no NVIDIA driver answers" eval auto1/model.safetensors --set backend=cuda

# The GPU's memory: what the run wants and which batch would fit, before it begins, with and without a GPU.
cat > large.yaml <<'YAML'
data: {name: glyphs, n: 512, test_n: 16, channels: 3}
model: {name: preresnet18, width: 8}
batch: 64
rounds: 1
backend: cuda
YAML
"$program" check large.yaml --json > check.json || fail "check"
wants=$(grep -o '"memory_device":[0-9]*' check.json | cut -d: -f2)
[ "$wants" -gt 20000000 ] || fail "it wants $wants bytes"
grep -q '"batch_fits":512' check.json || fail "all of the data would fit into a gigabyte: $(cat check.json)"
"$program" cost large.yaml | grep -q '^GPU .*batch up to about 512' || fail "cost"
small=$((wants - 10000000))
TESSERA_EMULATED_MEMORY=$small refused 4 "would fit" check large.yaml
TESSERA_EMULATED_MEMORY=$small refused 4 "would fit" train large.yaml --out large
[ ! -e large/model.safetensors ] || fail "it trained all the same"
fits=$(TESSERA_EMULATED_MEMORY=$small "$program" check large.yaml 2>&1 | sed -n 's/.*batch: \([0-9]*\) would fit.*/\1/p')
TESSERA_EMULATED_MEMORY=$small "$program" check large.yaml -q --set batch="$fits" > /dev/null || fail "batch $fits does not fit"
TESSERA_EMULATED_FAULT=device "$program" check large.yaml --memory 80 > said.txt 2>&1 || fail "planning without a GPU: $(cat said.txt)"
grep -q 'batch  *up to about 512 would fit' said.txt || fail "80 GB: $(cat said.txt)"
TESSERA_EMULATED_FAULT=device refused 4 "would fit" check large.yaml --memory 0.625
refused 2 "has no memory of its own to plan for" check large.yaml --memory 80 --set backend=cpu

# A GPU that is taken away: a sentence, and nothing that was saved is lost.
"$program" train run.yaml --out whole -q --set checkpoint.every=0.25 --set rounds=8 || fail "whole"
TESSERA_EMULATED_LOST=200 refused 1 "a checkpoint can be resumed" train run.yaml --out lost --set checkpoint.every=0.25 --set rounds=8
ls lost/checkpoints/*.safetensors > /dev/null || fail "nothing was saved"
"$program" train run.yaml --out lost --resume -q --set checkpoint.every=0.25 --set rounds=8 || fail "resuming"
cmp whole/model.safetensors lost/model.safetensors || fail "other bits after the GPU came back"

# Without cuDNN it goes on with slower kernels, and says so.
says() { # WORDS: a run that ends well and warns so
    "$program" train run.yaml --out "c$1" --set rounds=1 > said.txt 2>&1 || fail "$(cat said.txt)"
    grep -qF "$2" said.txt || fail "not said: $2"
}
TESSERA_CUDNN=$PWD/none.so says 1 "convolutions are computed by slower kernels: install cuDNN 9"
TESSERA_CUDNN=$PWD/other.so says 2 "has no cudnnGetVersion: it is not cuDNN 9"
export TESSERA_CUDNN=${module%/*}/libcudnn_emulated.so
TESSERA_EMULATED_DNN=version says 3 "is version 80907, not cuDNN 9"

# A small network of convolutions in bf16, on two queues at once: as on one.
cat > conv.yaml <<'YAML'
data: {name: glyphs, n: 32, test_n: 16, channels: 3}
model: {name: preresnet18, width: 4}
scheme: {name: loft, workers: 2, local_steps: 1}
batch: 4
rounds: 2
backend: cuda
precision: bf16
YAML
for threads in 1 2; do
    "$program" train conv.yaml --out "t$threads" --set threads=$threads -q || fail "bf16"
done
cmp t1/model.safetensors t2/model.safetensors || fail "other bits with two workers at once"
# Engines of shares are timed several at once, those of one network alone.
for workers in 2 1; do
    TESSERA_CUDNN_TUNE=1 TESSERA_CUDNN_TELL=1 "$program" train conv.yaml --out "tuned$workers" --set rounds=1 --set scheme.workers=$workers > said.txt 2>&1 ||
        fail "tuning: $(cat said.txt)"
    [ "$(grep -c 'cudnn .* us, four at once' said.txt)" -gt 0 ] || [ $workers = 1 ] || fail "no engine was timed at once"
    [ "$(grep -c 'cudnn .*at once' said.txt)" = 0 ] || [ $workers = 2 ] || fail "one worker has no company"
done

# The chip is shown: while it trains, in the metrics, on the page, and in a step layer by layer.
"$program" train run.yaml --out shown > said.txt 2>&1 || fail "$(cat said.txt)"
grep -q "training on emulated" said.txt || fail "it did not say on what: $(cat said.txt)"
grep -q '"event":"device","round":0,"chip":"emulated","kernels":"cuda.*,"memory":[0-9]' shown/metrics.jsonl || fail "no event device"
grep '"test_loss"' shown/metrics.jsonl | grep -Eq '"samples_per_second":[0-9]+.*"step_ms":[0-9.]+,"device_memory":[1-9]' || fail "no pace"
grep -q "Trained on emulated" shown/report.html || fail "the page does not name the chip"
"$program" train run.yaml --out plain -q --set backend=cpu || fail "cpu"
! grep -q 'device' plain/metrics.jsonl || fail "processors have no chip of their own"
"$program" bench conv.yaml -n 1 > bench.txt || fail "bench"
grep -Eq '^layer .*TFLOP/s +TB/s +%' bench.txt || fail "no rates of memory: $(head -1 bench.txt)"
grep -Eq '^emulated: a [0-9]+\^3 product at .* TFLOP/s, a copy at .* TB/s' bench.txt || fail "no limits"

# A sweep whose runs train in the space of their samples does so on the processors, says so, and has their numbers.
cat > shallow.yaml <<'YAML'
data: {name: sphere, n: 20, dim: 8, task: regress}
model: {name: shallow, width: 40, kappa: 0.2}
optim: {name: gd, lr: 0.05, momentum: 0}
scheme: {name: masked, local_steps: 2}
rounds: 5
YAML
for backend in cuda cpu; do
    "$program" sweep shallow.yaml --grid scheme.xi=0.5,1 --out "sweep-$backend" --set backend=$backend > "$backend.txt" 2>&1 || fail "sweep: $(cat $backend.txt)"
done
grep -qF "backend: cuda: these runs train in the space of their samples" cuda.txt || fail "the sweep did not say where: $(cat cuda.txt)"
! grep -qF "space of their samples" cpu.txt || fail "said of processors"
numbers() { sed 's/,[^,]*$//' "$1/sweep.csv"; } # without seconds
[ "$(numbers sweep-cuda)" = "$(numbers sweep-cpu)" ] || fail "other numbers than with cpu"
"$program" sweep shallow.yaml --grid optim.momentum=0.5 --out sweep-steps --set backend=cuda > cuda.txt 2>&1 || fail "sweep: $(cat cuda.txt)"
! grep -qF "space of their samples" cuda.txt || fail "momentum has no place in that space"

# What it trained is a model like others.
"$program" train run.yaml --out b -q || fail "train"
"$program" eval b/model.safetensors --json > eval.json || fail "eval"
"$program" prune b/model.safetensors --ratio 0.5 --out small.safetensors -q || fail "prune"

# It trains as cpu does, keeps its bits, and goes on with what cpu began.
with_python numpy
python "$2/bench/device/cuda-runs.py" "$program" "mlp dense" "mlp adamw clip" "mlp ist" grelu rnn > runs.txt ||
    fail "$(cat runs.txt)"

# Ranks of a host take its GPUs in turn, and each of a rank's threads works on that rank's.
export TESSERA_EMULATED_GPUS=2
SLURM_LOCALID=3 "$program" train conv.yaml --out turn --set threads=2 > said.txt 2>&1 || fail "the second GPU: $(cat said.txt)"
grep -q 'takes GPU 1 of 2' said.txt || fail "it did not say which GPU: $(cat said.txt)"
cmp t1/model.safetensors turn/model.safetensors || fail "other bits on the second GPU"
SLURM_LOCALID=3 "$program" ntk run.yaml > /dev/null 2> said.txt || fail "kernels on the second GPU: $(cat said.txt)"
SLURM_LOCALID=x "$program" train conv.yaml --out first > said.txt 2>&1 || fail "$(cat said.txt)"
grep -q 'takes GPU 0 of 2' said.txt || fail "a number that is none was taken for one: $(cat said.txt)"
if command -v mpirun > /dev/null && ldd "$program" | grep -q libmpi; then
    mpirun --allow-run-as-root --oversubscribe -n 3 "$program" train conv.yaml --out ranks --set threads=1 > said.txt 2>&1 || fail "$(cat said.txt)"
    for gpu in 0 1; do grep -q "takes GPU $gpu of 2" said.txt || fail "no rank took GPU $gpu: $(cat said.txt)"; done
    cmp t1/model.safetensors ranks/model.safetensors || fail "other bits with a GPU for each rank"
fi
