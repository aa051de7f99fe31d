#!/usr/bin/env bash
# Bad run files, as a user meets them: each is refused by `tessera check` with exit code 2 and one
# sentence that names file:line:column and what was expected, in under a second. The table has three
# columns separated by '@': place, words of the sentence, the file (as printf %b takes it).
set -u
program=$1
. "$2/tests/cli.sh"
tried=0

# A second of processor time at most (a sanitizer, which cannot run in little address space, takes
# more); the wall clock is left some room for a busy machine.
cpu=1
(ulimit -v 2000000; exec "$program" version) >/dev/null 2>&1 || cpu=5
check() { (ulimit -t $cpu; exec timeout 20 "$program" check "$@" >out 2>err </dev/null); }

# try PLACE WORDS: bad.yaml is refused.
try() {
    local rc
    check bad.yaml
    rc=$?
    tried=$((tried + 1))
    if [ $rc -ne 2 ] || ! grep -qF -- "tessera: bad.yaml:$1: " err || ! grep -qF -- "$2" err; then
        complain "$(head -c 100 bad.yaml): exit $rc, expected $1 '$2'; it said: $(head -c 400 err)"
    fi
}

while IFS='@' read -r place words text; do
    [ -n "$place" ] || continue
    printf '%b' "$text" >bad.yaml
    try "$place" "$words"
done <<'EOT'
1:1@empty@
1:1@empty@\n\n# nothing yet\n
1:1@empty@---\n
1:1@empty@{}\n
1:1@keys and values@train\n
1:1@keys and values@- seed: 1\n
1:1@did you mean seed?@sed: 1\n
1:1@did you mean epochs?@epoch: 10\n
1:1@did you mean batch?@bach: 10\n
2:1@did you mean model?@seed: 1\nmodell: {name: mlp}\n
2:1@did you mean optim?@seed: 1\noptm:\n  lr: 0.1\n
1:1@did you mean optim.lr?@lr: 0.1\n
1:1@write optim: {lr: ...}@optim.lr: 0.1\n
3:3@did you mean optim.momentum?@optim:\n  lr: 0.1\n  momentm: 0.9\n
2:3@did you mean optim.weight_decay?@optim:\n  weight-decay: 1e-4\n
1:9@unknown key 'lookahead' in optim; expected one of name, lr@optim: {lookahead: 0.9}\n
1:8@write model: {name: mlp}@model: mlp\n
1:7@write data: {name: mnist}@data: mnist\n
1:8@not a list@optim: [sgd, 0.1]\n
1:7@has no keys@model:\n
3:1@given twice, first at line 1@seed: 1\nbatch: 8\nseed: 1\n
2:18@given twice@seed: 1\noptim: {lr: 0.1, lr: 0.2}\n
1:11@given twice@{"seed":1,"seed":2}
1:9@a whole number from 0 to 1000000000, not 'ten'@epochs: ten\n
1:9@in digits only@epochs: 1.0\n
1:9@in digits only@epochs: 1e2\n
1:9@a whole number@epochs: 0x10\n
1:9@leading zeros@epochs: 010\n
1:9@without separators@epochs: 1_000\n
1:9@without separators@epochs: 1,000\n
1:9@from 0 to@epochs: -1\n
1:8@from 1 to 1000000000@batch: 0\n
1:8@from 1 to 1000000000@batch: 99999999999999999999\n
1:7@to 9007199254740992@seed: 9007199254740993\n
1:8@remove the quotes@batch: "128"\n
1:8@a whole number@batch: true\n
1:8@has no value@batch: ~\n
1:7@has no value@batch:\n
1:8@not a list@batch: [128]\n
1:8@not a mapping@batch: {size: 128}\n
1:13@a number from 0 to 1000000, not 'fast'@optim: {lr: fast}\n
1:13@a number@optim: {lr: 1e}\n
1:13@a number@optim: {lr: nan}\n
1:13@a number@optim: {lr: .inf}\n
1:13@a number@optim: {lr: 1e400}\n
1:13@from 0 to 1000000@optim: {lr: -0.1}\n
2:7@decimal point as '.'@optim:\n  lr: 0,1\n
1:19@to 0.9999999@optim: {momentum: 1.0}\n
1:19@true or false, not 'yes'@optim: {nesterov: yes}\n
1:19@true or false@optim: {nesterov: TRUE}\n
1:15@did you mean sgd?@optim: {name: sdg}\n
1:7@did you mean cross_entropy?@loss: crossentropy\n
1:14@leave the key out@data: {path: ''}\n
1:14@a text, not a list@data: {path: [a]}\n
1:17@write [256]@model: {hidden: 256}\n
1:22@'b' is not one@model: {hidden: [64, b]}\n
1:18@'[0' is not one@model: {hidden: ["[0"]}\n
1:18@from 1 to@model: {hidden: [0]}\n
1:27@from 0 to 1@optim: {milestones: [0.5, 2]}\n
1:8@anchors@batch: &b 128\n
2:7@aliases@batch: 128\nseed: *b\n
1:8@tags@batch: !!int 128\n
1:8@tags@model: !python/object:os.system {name: mlp}\n
2:1@second document@seed: 1\n---\nseed: 2\n
2:1@not valid YAML@optim: {lr: 0.1\n
2:1@spaces, not tabs@optim:\n\tlr: 0.1\n
3:3@not valid YAML@optim:\n   lr: 0.1\n  gamma: 0.5\n
1:5@indentation@a: b: c\n
1:14@in quotes@data: {path: @home}\n
1:3@a key must be a word@? {a: 1}\n: 2\n
1:14@UTF-8@data: {path: \xff\xfe}\n
1:1@UTF-8@\xff\xfes\x00e\x00
1:15@control character@data: {path: a\x08}\n
1:14@zero byte@data: {path: "a\\0b"}\n
1:1@'\x1b]0;owned@"\\e]0;owned": 1\n
EOT

# Files made to hurt: deep, long, many, and the billion laughs.
head -c 200000 /dev/zero | tr '\0' '[' >bad.yaml
try 1:17 "nested deeper than 16"
{ printf 'data: {path: '; head -c 200000 /dev/zero | tr '\0' x; printf '}\n'; } >bad.yaml
try 1:14 "longer than 65536 bytes"
{ printf 'model: {hidden: ['; yes 1, | head -60000 | tr '\n' ' '; printf '1]}\n'; } >bad.yaml
try 1:30009 "more than 10000 values"
seq -f 'key%g: 1' 50000 >bad.yaml
try 10000:11 "more than 10000 values"
printf 'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n' >bad.yaml
try 1:4 "anchors"

# One that is no file of text at all: too large, a folder, not there.
truncate -s 3G large.yaml
refused 2 "large.yaml: larger than 1.00 MB, the most that a run file may have" check large.yaml
refused 3 ". is a folder" check .
refused 3 "absent.yaml: cannot open" check absent.yaml
tried=$((tried + 3))

# --set is refused by its own name.
printf 'seed: 1\n' >good.yaml
refused 2 '--set optim.lr: optim.lr must be a number' check good.yaml --set optim.lr=fast
echo "$tried bad run files refused"
[ $tried -ge 50 ] || complain "only $tried were tried"
