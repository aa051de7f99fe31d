# shellcheck shell=bash
# Parts of cuda-tests.sh: everything that is not the speed of convolutions. Sourced there; it has check, out and bench.
#
#   breadth   every model with every scheme, certificates, kernels, tickets, conversions, beside ref and cpu
#   rnn       the recurrent network of bench/rnn.yaml, beside nn.RNN and loops
#   ntk       exact tangent kernels: a 4-layer MLP beside torch.func, width 8,192, PreActResNet-18
#   gates     GReLU beside its ReLU twin
#   sweep     240 masked-neuron runs on the GPU and on the processors
#   faults    a GPU that is not there, too small, full or taken away, a module of another version, kill -9
#   bf16      compute-sanitizer (memcheck, initcheck, racecheck at once) on each kernel for bf16, small cases alone

part_breadth() {
    check timeout 100 ./test_breadth > breadth.log 2>&1
    grep -vE 'RUN|====|^$' breadth.log | head -20
}

part_rnn() {
    file=rnn.yaml
    bench "rnn, bf16" precision=bf16
    grep -vE 'warning' bench.one | cut -c1-110 | tail -20
    bench "rnn, f32" precision=f32
    file=""
    timeout 100 python3 cuda-torch-wide.py rnn 2>&1 | grep torch | tee -a "$out/torch.txt"
}

# kernel NAME ARGUMENT...: the time of an exact kernel.
kernel() {
    local name=$1
    shift
    timeout 60 ./tessera ntk "$@" --kind exact --repeats 3 --json -q > ntk.json 2> ntk.err || { tail -2 ntk.err; failed=$((failed + 1)); return; }
    python3 -c 'import json, sys; b = json.load(open("ntk.json")); print(sys.argv[1], "%.1f ms" % b["kernel_min_ms"], "peak of the host %.0f MB" % b["peak_mb"])' "$name" |
        tee -a "$out/ntk.txt"
}

part_ntk() {
    kernel "4-layer MLP of width 1024, n = 2000, cuda" ntk-mlp.yaml -n 2000 --set backend=cuda
    kernel "4-layer MLP of width 8192, n = 2000, cuda" ntk-mlp.yaml -n 2000 --set backend=cuda --set 'model.hidden=[8192,8192,8192]'
    kernel "PreActResNet-18, one output, n = 500, cuda" speed.yaml -n 500 --output 0 --set backend=cuda
    kernel "4-layer MLP of width 1024, n = 500, cuda" ntk-mlp.yaml -n 500 --set backend=cuda
    kernel "4-layer MLP of width 1024, n = 500, cpu" ntk-mlp.yaml -n 500 --set backend=cpu
    timeout 60 python3 cuda-torch-wide.py ntk 1024 2000 2>&1 | grep torch | tee -a "$out/torch.txt"
}

part_gates() {
    file=grelu.yaml
    for width in 4096 10000; do
        for precision in bf16 f32; do
            for name in grelu relu_twin; do
                bench "$name, width $width, $precision" model.name=$name model.width=$width precision=$precision
            done
        done
    done
    file=""
}

part_sweep() {
    for backend in cuda cpu; do
        SECONDS_BEFORE=$(date +%s.%N)
        timeout 90 ./tessera sweep sweep.yaml --grid scheme.xi=0.1:1:0.1 --grid scheme.workers=1:8:1 --seeds 3 --set rounds=200 \
            --set backend=$backend --set threads=16 --out sweep-$backend -q > sweep.txt 2>&1 || { tail -2 sweep.txt; failed=$((failed + 1)); }
        echo "240 runs, $backend: $(python3 -c "import time; print('%.1f s' % (time.time() - $SECONDS_BEFORE))")"
    done
}

# ends CODE WORDS COMMAND...: it ends so, and says so.
ends() {
    local code=$1 words=$2
    shift 2
    "$@" > said.txt 2>&1
    local was=$?
    if [ $was -ne "$code" ] || ! grep -qF "$words" said.txt; then
        echo "FAILED: ended with $was instead of $code: $(tail -1 said.txt)"
        failed=$((failed + 1))
    else
        echo "ok: $words"
    fi
}

# A run of four shares at once that is killed, resumed without a GPU, and then with one: the bits of one that nobody disturbed.
killed() {
    local run=(./tessera train loft.yaml --set backend=cuda --set precision=bf16)
    check timeout 60 "${run[@]}" --out faults-whole -q
    "${run[@]}" --out faults-killed -q &
    local pid=$!
    for _ in $(seq 600); do
        compgen -G 'faults-killed/checkpoints/*.safetensors' > /dev/null && break
        sleep 0.05
    done
    kill -9 $pid
    wait $pid 2> /dev/null
    [ ! -e faults-killed/model.safetensors ] || echo "it was over before it was killed"
    CUDA_VISIBLE_DEVICES="" ends 2 "the driver sees no GPU" "${run[@]}" --out faults-killed --resume
    check timeout 60 "${run[@]}" --out faults-killed --resume -q
    check cmp faults-whole/model.safetensors faults-killed/model.safetensors
    echo "killed and resumed: $(cksum < faults-killed/model.safetensors), undisturbed: $(cksum < faults-whole/model.safetensors)"
}

# Somebody else has taken all but 2 GiB.
full() {
    python3 -c 'import torch, time
free, _ = torch.cuda.mem_get_info()
held = torch.empty(free - (2 << 30), dtype=torch.uint8, device="cuda")
print("held", flush=True)
time.sleep(60)' > held.txt 2>&1 &
    local pid=$!
    for _ in $(seq 300); do
        grep -q held held.txt && break
        sleep 0.1
    done
    ends 4 "would fit" ./tessera train speed.yaml --out faults-5 --set backend=cuda --set precision=bf16 --set batch=2048 --set rounds=1
    kill $pid
    wait $pid 2> /dev/null
}

part_faults() {
    local run=(./tessera train rnn.yaml --set backend=cuda --set rounds=2 --set data.n=256)
    CUDA_VISIBLE_DEVICES="" ends 2 "the driver sees no GPU" "${run[@]}" --out faults-1
    CUDA_VISIBLE_DEVICES="" ends 0 "backend: auto takes cpu" "${run[@]}" --out faults-2 --set backend=auto --set model.width=32
    ends 0 "backend: auto takes cuda" "${run[@]}" --out faults-3 --set backend=auto
    ends 4 "no batch would fit" "${run[@]}" --out faults-4 --set model.width=200000
    TESSERA_CUDA=$PWD/old.so ends 2 "was built for another version of Tessera" "${run[@]}" --out faults-6
    full
    killed
}

# Libraries' own kernels are most of the time and are left out where the tool can; not of initcheck, which must see who writes.
part_bf16() {
    local skip=() tool
    if compute-sanitizer --help 2>&1 | grep -q -- --kernel-name-exclude; then
        for name in xmma cutlass cudnn cublas gemm; do skip+=(--kernel-name-exclude "kns=$name"); done
    fi
    sanitize16 memcheck ${skip[@]+"${skip[@]}"} > bf16-memcheck.txt 2>&1 &
    sanitize16 racecheck ${skip[@]+"${skip[@]}"} > bf16-racecheck.txt 2>&1 &
    sanitize16 initcheck > bf16-initcheck.txt 2>&1 &
    wait
    for tool in memcheck racecheck initcheck; do
        sed "s/^/$tool: /" "bf16-$tool.txt"
        grep -q FAILED "bf16-$tool.txt" && failed=$((failed + 1))
    done
}

# sanitize16 TOOL [OPTION...]: the tests of kernels for bf16 under it.
sanitize16() {
    local tool=$1 from=$SECONDS one test filter
    shift
    for one in test_kernels:equals_ref test_backends:recorded_steps_agree test_device:sequences_agree_in_bf16; do
        test=${one%:*} filter=${one#*:}
        TESSERA_TEST_CASES=bf16 TESSERA_TEST_FILTER=$filter timeout 60 compute-sanitizer --tool "$tool" "$@" --error-exitcode 9 "./$test" > "$tool-$test.log" 2>&1
        echo "$test $filter: exit $?, $((SECONDS - from)) s, $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$tool-$test.log" | tail -1)"
        grep -q 'PASSED  \] 1' "$tool-$test.log" && grep -qE 'SUMMARY: 0 (errors|hazards)' "$tool-$test.log" || echo "FAILED: $(tail -1 "$tool-$test.log")"
        cp "$tool-$test.log" "$out/" 2> /dev/null
    done
}
