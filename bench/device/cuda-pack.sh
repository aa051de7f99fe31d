#!/usr/bin/env bash
# Packs what cuda-tests.sh and papers.sh need into FOLDER/pack.tar.xz: stripped programs, the module, their libraries.
#
#   cuda-pack.sh BUILD FOLDER
#
# The C library and CUDA's are the other machine's own.
set -euo pipefail
source=$(cd "$(dirname "$0")" && pwd) build=$(cd "$1" && pwd) to=$2
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/lib" "$to"
for program in tessera libtessera-cuda.so tests/test_device tests/test_kernels tests/test_backends tests/test_breadth; do
    strip -o "$room/$(basename $program)" "$build/$program"
done
openblas=$(ldconfig -p | awk '/libopenblas.so.0/ && !found { print $NF; found = 1 }')
for library in $(ldd "$room/tessera" "$room/test_device" "$openblas" | awk '/=> \// { print $3 }' | sort -u) "$openblas"; do
    case $(basename "$library") in
    libc.so* | libm.so* | libpthread* | libdl.so* | librt.so* | libstdc++* | libgcc_s*) ;;
    *) cp -L "$library" "$room/lib/$(basename "$library")" ;;
    esac
done
echo 'const int tsri_this_module[16] = {99};' | cc -x c -shared -fPIC -o "$room/old.so" - # a module of another version
if [ -f /usr/local/cuda/include/cupti.h ]; then
    cc -O2 -shared -fPIC -I/usr/local/cuda/include -o "$room/libcuda-trace.so" "$source/cuda-trace.c" -L/usr/local/cuda/lib -lcupti
    cp -L /usr/local/cuda/lib/libcupti.so.13 "$room/lib"
fi
cp "$source"/cuda-shares.sh "$source"/cuda-trace.py "$source"/cuda-engines.py "$room"
cp "$source"/cuda-runs.py "$source"/cuda-torch.py "$source"/cuda-tests.sh "$source"/papers.sh "$source"/cuda-torch-wide.py "$source"/cuda-wide.sh "$room"
cp "$source"/fast.sh "$source"/fast.yaml "$source"/../rnn.yaml "$source"/../ntk-mlp.yaml "$source"/../grelu.yaml "$room"
cat > "$room/speed.yaml" <<'YAML'
data: {name: glyphs, n: 2048, test_n: 64, channels: 3}
model: {name: preresnet18}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 5.0e-4}
YAML
cat > "$room/loft.yaml" <<'YAML'
data: {name: glyphs, n: 2048, test_n: 64, channels: 3}
model: {name: preresnet18, width: 16}
optim: {lr: 0.05, momentum: 0.9, weight_decay: 5.0e-4}
scheme: {name: loft, workers: 4, local_steps: 10}
batch: 64
rounds: 20
checkpoint: {every: 1}
YAML
cat > "$room/sweep.yaml" <<'YAML'
data: {name: sphere, n: 100, dim: 122, task: regress}
model: {name: shallow, width: 4000, kappa: 0.1}
optim: {name: gd, lr: 0.01, momentum: 0}
scheme: {name: masked, local_steps: 5}
YAML
cat > "$room/mlp.yaml" <<'YAML'
data: {name: glyphs, n: 2048, test_n: 64, channels: 3}
model: {name: mlp, hidden: [4096, 4096, 4096, 4096, 4096, 4096, 4096]}
optim: {lr: 0.01, momentum: 0.9, weight_decay: 5.0e-4}
YAML
tar -C "$room" -c . | xz -T2 -1 > "$to/pack.tar.xz"
cat > "$to/go" <<'GO'
#!/usr/bin/env bash
# go [PART ...]: unpacks beside itself into /tmp/cuda-tests and runs cuda-tests.sh there.
set -e
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/cuda-tests
tar -C /tmp/cuda-tests -xJf "$here/pack.tar.xz"
exec bash /tmp/cuda-tests/cuda-tests.sh /tmp/cuda-tests "$@"
GO
chmod +x "$to/go"
ls -l "$to"
