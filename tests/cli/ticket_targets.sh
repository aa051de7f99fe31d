#!/usr/bin/env bash
# Tickets asked for by what stays, of parameters, operations or time: each has no more, says what it has, and --ratio makes it
# again. What time chose is measured once: a resumed run takes it from the ticket and ends with the same bits. Little time is asked to
# go: in a guarded build most of it is the guard itself, which no ticket makes shorter.
set -eu
program=$1
. "$2/tests/cli.sh"
cat > run.yaml <<'Y'
data: {name: glyphs, n: 60, test_n: 20}
model: {name: mlp, hidden: [512, 256], norm: batch}
optim: {lr: 0.05}
ticket: {params: [0.4], ops: [0.5], time: [0.95], controls: random, seconds: 0}
epochs: 1
batch: 20
threads: 1
Y
"$program" ticket run.yaml --out a --quiet > table
cp a/ticket.json first.json
python3 - <<'P' || fail "ticket.json"
import json
rows = {r["network"]: r for r in json.load(open("a/ticket.json"))["rows"]}
assert list(rows) == ["pretrained", "ticket-params-0.4", "random-params-0.4", "ticket-ops-0.5", "random-ops-0.5",
                      "ticket-time-0.95", "random-time-0.95"], list(rows)
whole = rows.pop("pretrained")
assert whole["keep"] is None and whole["measure"] == "filters"
for name, r in rows.items():
    kind, measure, keep = name.split("-")
    assert r["measure"] == measure and r["keep"] == float(keep) and r["reached"] <= r["keep"], r
    assert r["ratio"] == rows[name.replace(kind, "ticket")]["ratio"] and 0 < r["ratio"] < 1 and r["recalibrate"] == 16, r
for name, key in ("params-0.4", "params"), ("ops-0.5", "flops"):
    r = rows["ticket-" + name]
    assert abs(r[key] / whole[key] - r["reached"]) < 1e-6 and r["reached"] > r["keep"] - 0.01, r
P
python3 - <<'P' || fail "layers"
import json
rows = json.load(open("a/ticket.json"))["rows"]
assert rows[0]["layers"] == []
for r in rows[1:]:
    assert [l["shape_before"] for l in r["layers"]] == ["512x784", "256x512", "10x256"], r
    rows_of = [int(l["shape_after"].split("x")[0]) for l in r["layers"]]
    assert rows_of[0] < 512 and r["layers"][1]["shape_after"] == f"{rows_of[1]}x{rows_of[0]}", r
    assert sum(l["flops_after"] for l in r["layers"]) <= r["flops"] <= sum(l["flops_after"] for l in r["layers"]) * 1.05, r
P
[ "$(grep -c '<summary>The layers of ticket-' a/report.html)" = 3 ] || fail "the page has no layers"
# by hand, with the ratio that was found
for name in params-0.4 ops-0.5 time-0.95; do
    read -r ratio tile < <(python3 -c "
import json, struct
raw = open('a/ticket-$name/ticket.safetensors', 'rb').read()
meta = json.loads(raw[8:8 + struct.unpack('<Q', raw[:8])[0]])['__metadata__']
t = json.loads(meta['tessera.ticket']); print(t['ratio'], t['round_to'])")
    "$program" prune a/model.safetensors --ratio "$ratio" --round-to "$tile" --out hand --seconds 0 --force > /dev/null
    python3 - "a/ticket-$name/ticket.safetensors" hand <<'P' || fail "$name by hand differs"
import struct, sys
raw = [open(p, "rb").read() for p in sys.argv[1:]]
a, b = [r[8 + struct.unpack("<Q", r[:8])[0]:] for r in raw]
assert a == b
P
done
"$program" prune a/model.safetensors --ops 0.5 --out ops --seconds 0 > out
grep -q 'target      at most 50 % of the operations stay: 4[0-9.]* % do, .* (--ratio 0.[0-9]* --round-to 1)' out || fail "prune --ops: $(cat out)"

# killed after the ticket was cut, and resumed
sum=$(cat a/*-time-0.95/{ticket,model}.safetensors | sha256sum)
for name in ticket random; do
    mv a/$name-time-0.95/ticket.safetensors kept
    rm -r a/$name-time-0.95
    mkdir a/$name-time-0.95
    mv kept a/$name-time-0.95/ticket.safetensors
done
rm a/ticket.json
"$program" ticket run.yaml --out a --resume --quiet > /dev/null
[ "$sum" = "$(cat a/*-time-0.95/{ticket,model}.safetensors | sha256sum)" ] || fail "time was measured again"
python3 - <<'P' || fail "ticket.json after resuming"
import json
a, b = [{r["network"]: r for r in json.load(open(p))["rows"]} for p in ("first.json", "a/ticket.json")]
for name in a:
    for key in "ratio", "keep", "reached", "params", "flops", "accuracy", "accuracy_before":
        assert a[name][key] == b[name][key], (name, key)
P

# what the file says counts, not what a measurement would say now
"$program" prune a/model.safetensors --time 0.85 --seconds 0 --out other --json > other.json
for name in ticket random; do rm -r a/$name-time-0.95; done
mkdir a/ticket-time-0.95
cp other a/ticket-time-0.95/ticket.safetensors
"$program" ticket run.yaml --out a --resume --quiet > /dev/null
python3 - <<'P' || fail "the recorded ratio was not taken"
import json
said = json.load(open("other.json"))
rows = {r["network"]: r for r in json.load(open("a/ticket.json"))["rows"]}
for name in "ticket", "random":
    assert rows[name + "-time-0.95"]["ratio"] == said["ratio"] and rows[name + "-time-0.95"]["reached"] == said["reached"], rows
P

refused 2 "ticket.ops is the part of the operations to keep: above 0 and below 1, not 1" ticket run.yaml --out new --set "ticket.ops=[1]"
refused 2 "ticket.params has 0.4 twice" ticket run.yaml --out new --set "ticket.params=[0.4, 0.4]"
refused 2 "even the smallest ticket has" ticket run.yaml --out new --set "ticket.params=[0.0001]"
[ ! -e new ] || fail "a folder was left"
refused 2 "a ticket has one size" prune a/model.safetensors --ops 0.5 --ratio 0.5 --out new
refused 2 "give --ratio R, the part of the filters to remove" prune a/model.safetensors --out new
echo fine
