#!/usr/bin/env bash
# Other ways to a ticket: rewound to the first weights or to those of an epoch, pruned in steps, scored by gradients, and the
# control whose filters were largest before pretraining. Weights are compared number by number.
set -eu
program=$1
. "$2/tests/cli.sh"
with_python
cat > run.yaml <<'Y'
data: {name: glyphs, n: 240, test_n: 60}
model: {name: mlp, hidden: [24, 16]}
optim: {lr: 0.05}
ticket: {ratios: [0.75], epochs: 1, seconds: 0}
epochs: 3
batch: 20
threads: 1
checkpoint: {every: 1, keep: 10}
Y
"$program" train run.yaml --out first --quiet --set optim.lr=1e-30 --set epochs=1 >/dev/null # its weights are the first ones
"$program" ticket run.yaml --out zero --quiet --set ticket.rewind=0 --set ticket.controls=all >table
grep -q '^init-0.75 ' table || fail "no control of first weights: $(cat table)"
"$program" ticket run.yaml --out one --quiet --set ticket.rewind=1 >/dev/null
"$program" ticket run.yaml --out steps --quiet --set ticket.steps=2 --set ticket.rewind=0 >/dev/null
"$program" ticket run.yaml --out plain --quiet >/dev/null
# Pretraining that began with a model: its tickets were "rewound" to weights that it never had, the seed's.
"$program" ticket run.yaml --out onward --init plain/model.safetensors --quiet --set checkpoint.keep=1 --set ticket.rewind=0 >/dev/null
"$program" ticket run.yaml --out snip --quiet --set ticket.criterion=snip >/dev/null
"$program" prune plain/model.safetensors --ratio 0.75 --criterion grasp --seconds 0 --out grasp.safetensors >/dev/null
python - <<'P'
import glob, json, math, struct
def load(path):
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    head = json.loads(data[8:8 + size])
    meta = head.pop("__metadata__", {})
    def numbers(t):
        a, b = t["data_offsets"]
        return struct.unpack("<%df" % ((b - a) // 4), data[8 + size + a:8 + size + b])
    return {k: (t["shape"], numbers(t)) for k, t in head.items() if t["dtype"] == "F32"}, meta
def rows(tensors, units):  # of the first layer
    [(name, (shape, w))] = [(k, t) for k, t in tensors.items() if len(t[0]) == 2 and t[0][0] == units and k.startswith(("model.", "")) and t[0][1] > 100][:1]
    return [w[i * shape[1]:(i + 1) * shape[1]] for i in range(units)]
def ticket(path, units=6):
    tensors, meta = load(path)
    return rows(tensors, units), json.loads(meta["tessera.ticket"])["kept"]
length = lambda f: math.sqrt(sum(x * x for x in f))
first = rows(load("first/model.safetensors")[0], 24)
last = rows(load("plain/model.safetensors")[0], 24)
axis = [a for a in ticket("plain/ticket-0.75/ticket.safetensors")[1] if len(ticket("plain/ticket-0.75/ticket.safetensors")[1][a]) == 6][0]
largest = lambda f, n: sorted(sorted(range(24), key=lambda i: -length(f[i]))[:n])
w, kept = ticket("plain/ticket-0.75/ticket.safetensors")
assert kept[axis] == largest(last, 6) and w == [last[i] for i in kept[axis]], kept
w, kept = ticket("zero/ticket-0.75/ticket.safetensors")  # chosen by the last weights, with the first ones
assert kept[axis] == largest(last, 6) and w == [first[i] for i in kept[axis]], kept
w, kept = ticket("zero/init-0.75/ticket.safetensors")  # chosen by the first ones, too
assert kept[axis] == largest(first, 6) and w == [first[i] for i in kept[axis]] and largest(first, 6) != largest(last, 6), kept
saved = rows({k: t for k, t in load(sorted(glob.glob("one/checkpoints/ckpt-*.safetensors"))[0])[0].items() if k.startswith("model.")}, 24)
w, kept = ticket("one/ticket-0.75/ticket.safetensors")
assert kept[axis] == largest(last, 6) and w == [saved[i] for i in kept[axis]] and saved != first, kept
w, kept = ticket("onward/ticket-0.75/ticket.safetensors")
assert w == [last[i] for i in kept[axis]] and w != [first[i] for i in kept[axis]], "not the weights that pretraining began with"
half, before = ticket("steps/ticket-0.75/step-1/ticket.safetensors", 12)
w, kept = ticket("steps/ticket-0.75/ticket.safetensors")
assert half == [first[i] for i in before[axis]] and w == [first[i] for i in kept[axis]], "steps are not rewound"
assert set(kept[axis]) < set(before[axis]) and before[axis] == largest(last, 12), (kept, before)
for path in ("snip/ticket-0.75/ticket.safetensors", "grasp.safetensors"):
    w, kept = ticket(path)
    assert w == [last[i] for i in kept[axis]] and len(kept[axis]) == 6, path
assert kept[axis] != largest(last, 6)
P
sum=$(cat steps/ticket-0.75/model.safetensors zero/*/model.safetensors | sha256sum)
"$program" ticket run.yaml --out steps --resume --quiet --set ticket.steps=2 --set ticket.rewind=0 >/dev/null
"$program" ticket run.yaml --out zero --resume --quiet --set ticket.rewind=0 --set ticket.controls=all >/dev/null
[ "$sum" = "$(cat steps/ticket-0.75/model.safetensors zero/*/model.safetensors | sha256sum)" ] || fail "other bits when resumed"
refused 2 'set checkpoint.every to 1' ticket run.yaml --out new --set ticket.rewind=2 --set checkpoint.keep=1
refused 2 'rewind to one before its end' ticket run.yaml --out new --set ticket.rewind=3
refused 2 'steps lead to ratios' ticket run.yaml --out new --set 'ticket.params=[0.5]' --set ticket.steps=2
refused 2 'snip' distance plain/model.safetensors zero/model.safetensors --criterion snip
[ ! -e new ] || fail "refused, but begun"
echo "ticket-ways: ok"
