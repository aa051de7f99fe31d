#!/usr/bin/env bash
# pack.sh PROGRAM SOURCE FOLDER: FOLDER/root.tar.xz with all that `shaped.sh race` needs to run under chroot on a machine that has
# nothing but a kernel with namespaces and TUN: PROGRAM, its libraries, Debian's Open MPI, a shell, the first images of Fashion-MNIST.
# And FOLDER/go.sh, which runs it there (as root, from the folder above FOLDER's parent).
set -eu
program=$1 source=$2 folder=$3
root=$(mktemp -d) data=/usr/share/datasets/fashion-mnist
trap 'rm -rf "$root"' EXIT
mkdir -p "$folder" "$root"/{proc,sys,dev,tmp,root,etc,opt/tessera/bench/long,usr/bin,usr/lib,usr/sbin,usr/share,run,var} "$root$data"
ln -s usr/bin "$root/bin"
ln -s usr/lib "$root/lib"
ln -s usr/sbin "$root/sbin"
mkdir -p "$root/usr/lib64" "$root/usr/lib/x86_64-linux-gnu"
ln -s usr/lib64 "$root/lib64"

strip -o "$root/opt/tessera/tessera" "$program"
cc -O2 -static -s -o "$root/opt/tessera/relay" "$source/bench/long/relay.c"
cp "$source"/bench/long/{shaped.sh,network.sh} "$root/opt/tessera/bench/long/"
for tool in bash sh env cat cp rm mkdir mktemp sleep seq readlink id wc tail head tr sed grep mawk hostname taskset timeout nsenter unshare chmod dirname basename date mpirun orterun orted ls ps; do
    cp -L "$(command -v $tool)" "$root/usr/bin/"
done
ln -s mawk "$root/usr/bin/awk"
cp -a /usr/lib/x86_64-linux-gnu/{openmpi,pmix2} "$root/usr/lib/x86_64-linux-gnu/"
rm -rf "$root"/usr/lib/x86_64-linux-gnu/openmpi/include
mkdir -p "$root/usr/share/openmpi" "$root/etc/openmpi" "$root/usr/share/pmix"
cp -aL /usr/share/openmpi/. "$root/usr/share/openmpi/"
cp -aL /etc/openmpi/. "$root/etc/openmpi/"
cp -aL /usr/share/pmix*/. "$root/usr/share/pmix/" 2>/dev/null || true
find "$root/usr/lib/x86_64-linux-gnu" \( -name '*.a' -o -name '*.la' -o -name '*.mod' -o -name '*fortran*' -o -name '*java*' \) -delete
printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
printf 'passwd: files\ngroup: files\nhosts: files\n' >"$root/etc/nsswitch.conf"

# Every library that any of these names, where the loader looks without a list.
find "$root" -type f \( -perm -100 -o -name '*.so*' \) -print0 | xargs -0 -n 64 ldd 2>/dev/null |
    sed -n 's#.*=> \(/[^ ]*\) .*#\1#p; s#^\t\(/[^ ]*ld-linux[^ ]*\) .*#\1#p' | sort -u | while read -r lib; do
    case $lib in "$root"*) continue ;; esac
    case $lib in
        */x86_64-linux-gnu/*) cp -nL "$lib" "$root/usr/lib/x86_64-linux-gnu/" ;;
        *) cp -nL --parents "$lib" "$root" ;;
    esac
done
cp -L --parents /lib/x86_64-linux-gnu/libnss_files.so.2 "$root" 2>/dev/null || true

/usr/bin/python3 - "$data" "$root$data" <<'P'
import gzip, struct, sys
for name, n in (("train", 6000), ("t10k", 1000)):
    for kind, head, each in (("images-idx3", 16, 784), ("labels-idx1", 8, 1)):
        file = f"{name}-{kind}-ubyte.gz"
        raw = gzip.open(f"{sys.argv[1]}/{file}").read()
        with gzip.open(f"{sys.argv[2]}/{file}", "wb") as f:
            f.write(raw[:4] + struct.pack(">I", n) + raw[8:head] + raw[head:head + n * each])
P
du -sh "$root"
tar -C "$root" -c . | xz -T2 "${XZ:--6}" >"$folder/root.tar.xz"
cp "$source"/bench/long/{shaped.sh,network.sh} "$folder/"
cp "$root/opt/tessera/relay" "$folder/"
cat >"$folder/go.sh" <<'G'
#!/usr/bin/env bash
# go.sh: the race under chroot. $OUT gets the metrics and the table. WIDTHS, LIMITS, CORES, RELAY_CORE.
set -u
here=$(dirname "$(readlink -f "$0")") root=$(mktemp -d)
export OUT=${OUT:-/tmp} CORES=${CORES:-0,5,6 1 2 3 4} RELAY_CORE=${RELAY_CORE:-7}
uname -r; nproc; grep -m 1 'model name' /proc/cpuinfo; cat /proc/loadavg
python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$here/root.tar.xz" "$root" 2>&1 | tail -n 2
mkdir -p "$root/opt/tessera/out"
chmod +x "$here/relay"
export PYTHON=python3
RELAY=$here/relay timeout 60 bash "$here/shaped.sh" /bin/true "$here" wire
race_in() {
    unshare -m bash -c 'for d in proc dev sys; do mount --rbind /$d "$0/$d" || exit 9; done
        exec env -i PATH=/usr/bin:/usr/sbin HOME=/root RELAY=/opt/tessera/relay RELAY_CORE="$RELAY_CORE" CORES="$CORES" OUT=/opt/tessera/out NET=$NET LIMIT=$LIMIT LARGE=$LARGE LR="${LR:-}" GOAL="${GOAL:-}" \
            chroot "$0" /bin/bash /opt/tessera/bench/long/shaped.sh /opt/tessera/tessera /opt/tessera race' "$root"
}
set -- ${LIMITS:-55 55}
for NET in ${WIDTHS:-16 32}; do
    LIMIT=$1 LARGE=
    [ "$NET" != "${LARGE_AT:-16}" ] || LARGE=1
    export NET LIMIT LARGE
    shift
    echo "--- width $NET, $LIMIT s each, $(date +%T)"
    race_in 2>&1 | tail -n 60 | tee -a "$OUT/table.txt"
    for f in "$root"/opt/tessera/out/race-*.jsonl; do
        [ -e "$f" ] || continue
        mv "$f" "$OUT/$NET-$(basename "$f")"
    done
done
date +%T
rm -rf "$root"
G
chmod +x "$folder/go.sh"
ls -la "$folder"
