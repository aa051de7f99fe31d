"""Hostile calls from Python: each is an exception with a sentence (or, marked so, works), never a crash and never a hang.

    PYTHONPATH=python TESSERA_LIBRARY=libtessera.so.0 python3 tests/python/hostile.py [PATTERN]

Each call runs in a process of its own, which must end by itself within SECONDS.
"""
import faulthandler
import os
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np  # noqa: E402

import tessera  # noqa: E402

SECONDS = 60
SENTENCE = (tessera.TesseraError, ValueError, TypeError, OSError, MemoryError, ArithmeticError, KeyError, ImportError,
            Warning)

# A line each: what is wrong with it | the call. "ok:" = it is odd, but must work.
CALLS = r"""
dtype words | net.predict(np.array([["a"] * 6]))
dtype objects | net.predict(np.array([[object()] * 6]))
dtype complex | net.predict(X.astype(complex))
dtype dates | net.predict(np.zeros((2, 6), "datetime64[s]"))
dtype records | net.predict(np.zeros(3, [("a", "f4"), ("b", "f4")]))
dtype bytes | net.predict(np.zeros((2, 6), "S3"))
dtype beyond 63 bits | net.predict(np.full((2, 6), 2**64 - 1, np.uint64))
ok: dtype bool | assert net.predict(X > 0).shape == (240,)
ok: dtype float16 | assert net.predict(X.astype(np.float16)).shape == (240,)
ok: dtype int8 | assert net.predict(X.astype(np.int8)).shape == (240,)
ok: dtype long double | np.testing.assert_array_equal(net.outputs(X.astype(np.longdouble)), net.outputs(X))
ok: dtype big-endian | np.testing.assert_array_equal(net.outputs(X.astype(">f8")), net.outputs(X))
ok: not contiguous | np.testing.assert_array_equal(net.outputs(np.repeat(X, 3, axis=1)[:, ::3]), net.outputs(X))
ok: backwards | np.testing.assert_array_equal(net.outputs(X[::-1]), net.outputs(X)[::-1])
ok: read only | X.flags.writeable = False; net.predict(X); tessera.train("mlp", X, Y, **SMALL)
ok: one row for all | assert net.predict(np.broadcast_to(X[:1], (5, 6))).shape == (5,)
ok: one number for all | np.testing.assert_array_equal(net.outputs(np.broadcast_to(X[0, 0], (500, 6))), net.outputs(np.full((500, 6), X[0, 0])))
ok: one target for all | assert (tessera.data(X, np.broadcast_to(np.float64(7.5), 240)).y == 7.5).all()
ok: a tensor that is one number for all | import torch; assert net.predict(torch.tensor(1.0).expand(500, 6)).shape == (500,)
ok: a list of tensors | import torch; np.testing.assert_array_equal(net.outputs([torch.tensor(row) for row in X]), net.outputs(X))
ok: no samples | assert net.predict(X[:0]).shape == (0,)
ok: not aligned | b = np.zeros(6 * 4 * 2 + 1, np.uint8)[1:].view("<f4").reshape(2, 6); assert net.predict(b).shape == (2,)
shape one number | net.predict(1.0)
shape one dimension | net.predict(X[0])
ok: shape of more dimensions | net.predict(X[:, :, None, None, None])
shape too narrow | net.predict(X[:, :5])
shape too wide | net.predict(np.hstack([X, X]))
shape no columns | net.predict(X[:, :0])
shape channels last | tessera.model("mlp", shape=(3, 8, 8), outputs=2, hidden=[4]).predict(np.zeros((2, 8, 8, 3)))
shape positions last | tessera.model("rnn", tessera.data(rng.normal(size=(9, 5, 2)), rng.integers(0, 2, 9), form="sequences"), width=4, batch=4).predict(np.zeros((4, 2, 5)))
ok: shape of rows in one | assert tessera.model("mlp", shape=(3, 8, 8), outputs=2, hidden=[4]).predict(np.zeros((2, 3, 64))).shape == (2,)
ok: shape of vectors as pictures | assert tessera.model("mlp", shape=(64,), outputs=2, hidden=[4]).predict(np.zeros((2, 1, 8, 8))).shape == (2,)
shape nine dimensions | net.predict(np.zeros((1,) * 9))
ragged list | net.predict([[1, 2, 3, 4, 5, 6], [1, 2]])
None | net.predict(None)
a dictionary | net.predict({"x": X})
a text | net.predict("X")
a generator | net.predict(i for i in range(6))
a class | net.predict(int)
NaN to predict | net.predict(X * np.nan)
infinity to predict | net.predict(X * np.inf)
NaN to train on | tessera.train("mlp", np.where(X > 2, np.nan, X), Y, **SMALL)
NaN as targets | tessera.train("mlp", X, np.where(Y, np.nan, 1.0), **SMALL)
NaN among words | tessera.train("mlp", X, np.array(["a", float("nan")] * 120, object), **SMALL)
None among words | tessera.train("mlp", X, np.array(["a", None] * 120, object), **SMALL)
words and numbers | tessera.train("mlp", X, np.array(["a", 1] * 120, object), **SMALL)
masked cells | net.predict(np.ma.masked_greater(X, 1))
masked targets | tessera.data(X, np.ma.masked_greater(Y, 0))
a sparse matrix | import scipy.sparse; net.predict(scipy.sparse.csr_matrix(X))
y too short | tessera.data(X, Y[:-1])
y a column too many | tessera.data(X, np.stack([Y, Y], 1))
ok: y negative | tessera.data(X, Y - 5)
ok: y of large numbers | tessera.data(X, np.arange(240) * 10**12)
y a text | tessera.data(X, "target")
y empty | tessera.data(X[:0], Y[:0])
x a scalar | tessera.data(5, 5)
x of no columns | tessera.data(X[:, :0], Y)
classes too few | tessera.data(X, Y, classes=["a"])
classes twice | tessera.train("mlp", X, Y, data={"classes": ["a", "a"]}, **SMALL)
classes no list | tessera.data(X, Y, classes=5)
class with a NUL | tessera.data(X, Y, classes=["a\0b", "c"])
columns too few | tessera.data(X, Y, columns=["a"])
columns of pictures | tessera.data(np.zeros((4, 1, 2, 2), np.uint8), [0, 1, 0, 1], columns=["a"] * 4)
borrowed the wrong way round | tessera.data(np.asfortranarray(X), Y, copy=False)
borrowed doubles | tessera.data(X.astype(float), Y, copy=False)
form unknown | tessera.data(X, Y, form="cubes")
lengths of vectors | tessera.data(X, Y, lengths=Y)
lengths beyond | tessera.data(np.zeros((4, 3, 2)), [0, 1, 0, 1], form="sequences", lengths=[1, 2, 3, 9])
lengths negative | tessera.data(np.zeros((2, 3, 2)), [0, 1], form="sequences", lengths=[-1, 2])
lengths real | tessera.data(np.zeros((2, 3, 2)), [0, 1], form="sequences", lengths=[1.5, 2])
test without y | tessera.data(X, Y, X)
test of another width | tessera.data(X, Y, X[:, :3], Y)
test of another class | tessera.data(X, WORDS, X, np.array(["other"] * 240))
unknown set | tessera.data("gliphs")
unknown file | tessera.data("/proc/nowhere/table.csv")
a folder without data | tessera.data(FOLDER + "/")
a file with a NUL in its name | tessera.data("a\0b.csv")
a file that is no table | open(FOLDER + "/t.csv", "wb").write(bytes(range(256)) * 9); tessera.data(FOLDER + "/t.csv", target="a")
settings for arrays | tessera.data(X, Y, n=5)
set of 10^12 samples | tessera.data("glyphs", n=10**12)
set of -1 samples | tessera.data("glyphs", n=-1)
key unknown | tessera.Config(epoch=5)
key no text | tessera.Config()[5]
key None | tessera.Config()[None] = 1
value a dictionary | tessera.Config(lr={"a": 1})
value an object | tessera.Config(lr=object())
value NaN | tessera.Config(lr=float("nan"))
value infinite | tessera.Config(epochs=float("inf"))
value out of range | tessera.Config(epochs=-3)
value a wrong word | tessera.Config(scheme="loff")
value with a NUL | tessera.Config(model="mlp\0")
value a lone surrogate | tessera.Config(model="\ud800")
value with a line break | tessera.Config(model="mlp\nlr: 5")
settings no dictionary | tessera.Config([("lr", 1)])
settings deep | tessera.Config(hidden=[[1], [2]])
parse a number | tessera.Config.parse(5)
parse rubbish | tessera.Config.parse("{{{{")
parse 10^5 brackets | tessera.Config.parse("[" * 100000)
read a folder | tessera.Config.read(FOLDER)
read nothing | tessera.Config.read(None)
config closed | c = tessera.Config(); c.close(); c["lr"] = 1
config closed, printed | c = tessera.Config(); c.close(); str(c)
model closed | net.close(); net.predict(X)
model closed, saved | net.close(); net.save(FOLDER + "/m")
model closed, pruned | net.close(); net.prune(0.5)
model closed, shared | net.close(); tessera.Share(net)
data closed | data.close(); tessera.train("mlp", data)
data closed, read | data.close(); data.x
run closed | r = run(); r.close(); r.step()
run closed, stopped | r = run(); r.close(); r.stop()
run closed in its own loop | r = run(); [r.close() for _ in r]
share closed | s = tessera.Share(net); s.close(); s.take(net)
certificate of nothing | tessera.Certificate(5)
model from a number | tessera.Model(12345).numbers
data from a number | tessera.Data(1)
config from a number | tessera.Config(_address=7)
a model where data are needed | tessera.train("mlp", net)
a model where data are needed, evaluated | net.evaluate(net)
data where a model is needed | tessera.Share(data)
data where a model is needed, taken | tessera.Share(net).take(data)
data where a model is needed, ranked | tessera.rankings(data, data)
data where a model is needed, in distance | net.distance(data)
data where a config is needed | tessera.Run(data)
a model where a config is needed | tessera.certify(net)
a config where a model is needed | tessera.gates(config)
a share where a model is needed | tessera.put(tessera.Share(net), [tessera.Share(net)], [net])
models where shares are needed | tessera.put(net, [net], [net])
numbers where shares are needed | tessera.put(net, [1], [2])
None for a config | tessera.certify(None)
None for a model | tessera.Share(None)
None for data | tessera.describe(None)
None to train | tessera.train(None, X, Y)
a number to train | tessera.train(5, X, Y)
model like a model | tessera.model("mlp", like=net)
model without a shape | tessera.model("mlp")
model of a wrong shape | tessera.model("mlp", shape=(0,), outputs=2)
model of a negative shape | tessera.model("mlp", shape=(-3,), outputs=2)
model of four dimensions | tessera.model("mlp", shape=(1, 2, 3, 4), outputs=2)
model of a real shape | tessera.model("mlp", shape=(1.5,), outputs=2)
model of no outputs | tessera.model("mlp", shape=(3,), outputs=0)
model of 2^70 outputs | tessera.model("mlp", shape=(3,), outputs=2**70)
model of 10^9 units | tessera.model("mlp", shape=(3,), outputs=2, hidden=[10**9, 10**9])
model unknown | tessera.model("mpl", shape=(3,), outputs=2)
load a number | tessera.load(5)
load nothing | tessera.load(b"")
load rubbish | tessera.load(b"\xff" * 1000)
load a cut file | tessera.load(net.to_bytes()[:-7])
load a changed file | b = bytearray(net.to_bytes()); b[-3] ^= 1; tessera.load(b)
load a folder | tessera.load(FOLDER)
save into nowhere | net.save("/proc/nowhere/m.safetensors")
save on a folder | net.save(FOLDER)
save with a NUL | net.save(FOLDER + "/a\0b")
state of a list | net.load_state_dict([1])
state of words | net.load_state_dict({**net.parameters(), "layers.0.bias": ["a"] * 16})
state of a wrong shape | net.load_state_dict({**net.parameters(), "layers.0.bias": np.zeros((16, 1))})
state with NaN | net.load_state_dict({**net.parameters(), "layers.0.bias": np.full(16, np.nan)})
state that is short | net.load_state_dict({})
write into a view | net.parameters(copy=False)["layers.0.bias"][0] = 1
write into data | data.x[0] = 1
ok: view after close | v = net.parameters(copy=False)["layers.0.weight"]; w = v.copy(); net.close(); gc.collect(); assert (v == w).all()
ok: view of data after close | v = data.x; w = v.copy(); data.close(); del data; gc.collect(); assert (v == w).all()
prune all | net.prune(1.0)
prune below nothing | net.prune(-0.1)
prune a word | net.prune("half")
prune NaN | net.prune(float("nan"))
prune to keep a part of nothing | net.prune(keep=0.3)
prune by an unknown option | net.prune(0.5, colour=1)
prune by an unknown criterion | net.prune(0.5, criterion="l7")
prune by an unknown axis | net.prune(0.5, axes="nothing")
ok: prune to a multiple of 0 | net.prune(0.5, round_to=0)
prune with a negative seed | net.prune(0.5, criterion="random", seed=-1)
prune with 2^64 | net.prune(0.5, round_to=2**64)
share drawn by dice | tessera.Share(net).draw("dice")
share of no workers | tessera.Share(net).draw("chunks", workers=0)
share of worker 5 of 2 | tessera.Share(net).draw("chunks", workers=2, worker=5)
share with xi 2 | tessera.Share(net).draw("bernoulli", xi=2.0)
share with weights NaN | tessera.Share(net).draw("categorical", workers=2, weights=[np.nan, 1])
share of an axis unknown | tessera.Share(net).give("hidden.7", [1])
share of units beyond | tessera.Share(net).give("hidden.0", [99])
share of units below | tessera.Share(net).give("hidden.0", [-1])
share of units twice | tessera.Share(net).give("hidden.0", [1, 1])
share of real units | tessera.Share(net).give("hidden.0", [1.5])
share of no units | tessera.Share(net).give("hidden.0", []).take(net)
share of too many | tessera.Share(net).best("hidden.0", np.arange(16.0), 99)
share of -1 | tessera.Share(net).best("hidden.0", np.arange(16.0), -1)
share of scores NaN | tessera.Share(net).best("hidden.0", np.full(16, np.nan), 3)
share of too few scores | tessera.Share(net).best("hidden.0", [1.0], 1)
share of another network | tessera.Share(tessera.model("mlp", shape=(3,), outputs=2, hidden=[4])).take(net)
put another network | s = tessera.Share(net); tessera.put(net, [s], [tessera.model("mlp", shape=(3,), outputs=2, hidden=[4])])
kernel of 0 | tessera.ntk(net, data, n=0)
kernel of -1 | tessera.ntk(net, data, n=-1)
kernel of a word | tessera.ntk(net, data, n="all")
kernel of too many | tessera.ntk(net, data, n=5000)
kernel of 10^9 | tessera.ntk(net, data, n=10**9)
kernel of an unknown kind | tessera.ntk(net, data, kind="odd")
kernel of output 99 | tessera.ntk(net, data, n=5, output=99)
kernel of arrays | tessera.ntk(net, X)
eigenvalues of NaN | tessera.eigenvalues(np.full((3, 3), np.nan))
eigenvalues of words | tessera.eigenvalues([["a"]])
eigenvalues of a row | tessera.eigenvalues([[1.0, 2.0]])
eigenvalues of nothing | tessera.eigenvalues([])
callback that raises | tessera.train("mlp", X, Y, on_round=lambda p: 1 / 0, **SMALL)
callback of messages that raises | tessera.train("mlp", X, Y, messages=lambda *a: 1 / 0, **NOISY)
callback of messages that exits | tessera.train("mlp", X, Y, messages=lambda *a: exit("mine"), **NOISY)
callback of the wrong arity | tessera.train("mlp", X, Y, messages=lambda: 0, **NOISY)
callback that is none | tessera.train("mlp", X, Y, on_round=5, **SMALL)
callback that calls its run | hear(lambda r: r.step())
callback that asks its run | hear(lambda r: r.progress)
callback that finishes its run | hear(lambda r: r.finish())
ok: callback that closes its run | r = hear(lambda r: r.close(), raises=False)
ok: callback that trains another | tessera.train("mlp", X, Y, on_round=lambda p: bool(tessera.train("mlp", X, Y, **SMALL)), **{**SMALL, "epochs": 1})
warnings that are errors | warnings.simplefilter("error"); tessera.train("mlp", X.astype(float) * 0.01 + 1e9, Y, **SMALL)
diverges | tessera.train("mlp", X, Y, **{**SMALL, "lr": 1e9})
batch beyond all samples | tessera.train("mlp", X, Y, **{**SMALL, "batch": 10**9})
more workers than units | tessera.train("mlp", X, Y, scheme="ist", workers=50, **SMALL)
10^6 threads | tessera.train("mlp", X, Y, **{**SMALL, "threads": 10**6})
folder is a file | open(FOLDER + "/f", "w").close(); tessera.train("mlp", X, Y, folder=FOLDER + "/f", **SMALL)
folder has a run | [tessera.train("mlp", X, Y, folder=FOLDER + "/r", **SMALL) for _ in range(2)]
ok: folder to resume is empty | tessera.train("mlp", X, Y, folder=FOLDER + "/none", resume=True, **SMALL)
folder below nowhere | tessera.train("mlp", X, Y, folder="/proc/nowhere/run", **SMALL)
start from another network | tessera.train("mlp", X, Y, start=tessera.model("mlp", shape=(3,), outputs=2), **SMALL)
start from arrays | tessera.train("mlp", X, Y, start=X, **SMALL)
run file of a name that is none | tessera.train("nowhere.yaml", X, Y)
data and y | tessera.train("mlp", data, Y)
pictures for a recurrence | tessera.train("rnn", X, Y)
finetune less than nothing | net.finetune(X, Y, epochs=-1)
finetune 2^63 | net.finetune(X, Y, epochs=2**63)
finetune on other inputs | net.finetune(X[:, :3], Y)
evaluate on other inputs | net.evaluate(X[:, :3], Y)
evaluate on other classes | net.evaluate(X, Y + 7)
evaluate without y | net.evaluate(X)
predictor of 10^6 threads | net.predict(X, threads=10**6)
predictor of -1 threads | net.predict(X, threads=-1)
predictor of 2^40 threads | net.predict(X, threads=2**40)
predictor of half a thread | net.predict(X, threads=0.5)
probabilities of targets | tessera.train("mlp", X, X[:, 0], **SMALL).predict_proba(X)
lengths for vectors | net.predict(X, lengths=Y)
copy of data | copy.copy(data)
copy of a run | copy.deepcopy(run())
pickle of data | pickle.dumps(data)
pickle of a share | pickle.dumps(tessera.Share(net))
ok: copy of a model | np.testing.assert_array_equal(copy.copy(net).outputs(X), copy.deepcopy(net).outputs(X))
ok: close twice | net.close(); net.close(); data.close(); data.close()
ok: closed by a with | exec("with net: pass"); assert net._owner is None
report of nothing | tessera.report(FOLDER + "/nothing")
compare nothing | tessera.compare([], FOLDER + "/p.html")
compare a text | tessera.compare(["/proc/nowhere"], FOLDER + "/p.html")
watch nothing | tessera.Watch("/proc/nowhere")
watch closed | w = tessera.Watch(FOLDER); w.close(); w.look()
study unknown | tessera.reproduce("loft/figg4", FOLDER)
sweep of nothing | tessera.sweep(config, {})
sweep of a word | tessera.sweep(config, "lr")
sweep of an unknown key | tessera.sweep(config, {"lrr": [1]})
theories of a word | tessera.theories(n="many")
theories of -1 | tessera.theories(n=-1)
widths of nothing | tessera.certify_widths(config, [])
widths of -1 | tessera.certify_widths(config, [-1, 2, 3])
bench of -1 | tessera.bench(config, repeats=-1)
ticket of no size | net.save(FOLDER + "/m.safetensors"); tessera.ticket(FOLDER + "/t.safetensors", FOLDER + "/m.safetensors")
ticket of nothing | tessera.ticket(FOLDER + "/t.safetensors", FOLDER + "/none.safetensors", ratio=0.5)
import of a folder | tessera.import_network(FOLDER)
import of rubbish | tessera.import_network({"a": X})
import with one mean | tessera.import_network("x.pth", mean=[1], deviation=[1, 2])
import of a side of -5 | tessera.import_network("x.pth", side=-5)
ONNX into nowhere | net.export_onnx("/proc/nowhere/net.onnx")
ONNX at a batch of 0 | net.onnx_speed(batch=0)
ONNX at 2^40 threads | net.onnx_speed(threads=2**40, seconds=0.01)
ok: threads step one run | threads(lambda r=run(epochs=60): r.step() or None, 8, 40)
ok: threads change one config | threads(lambda: (config.update(lr=0.1, hidden=[3]), str(config), config["lr"]), 8, 60)
ok: threads draw one share | s = tessera.Share(net); threads(lambda: (s.draw("chunks", workers=2), s.axes), 8, 60)
ok: threads put and predict | s = tessera.Share(net); m = s.take(net); threads(lambda: (tessera.put(net, [s], [m]), net.predict(X)), 8, 40)
ok: threads load and predict | p = net.parameters(); threads(lambda: (net.load_state_dict(p), net.predict(X), net.classes), 8, 40)
ok: threads close what others use | threads(lambda: closing(net.copy()), 8, 30)
ok: threads close a run that steps | stepping(lambda r: r.close())
ok: threads stop a run | stepping(lambda r: r.stop())
ok: fork, then predict | fork(lambda: net.predict(X, threads=2))
ok: fork, then train | fork(lambda: tessera.train("mlp", X, Y, **{**SMALL, "threads": 2}))
ok: fork after training on threads | tessera.train("mlp", X, Y, **{**SMALL, "threads": 2}); fork(lambda: tessera.train("mlp", X, Y, **{**SMALL, "threads": 2}))
ok: fork after predicting on threads | net.predict(X, threads=2); fork(lambda: net.predict(X, threads=2))
ok: fork, and the child ends everything | r = run(threads=2); r.step(); fork(lambda: (r.close(), net.close(), data.close(), gc.collect()))
ok: fork while another thread trains | while_training(lambda: fork(lambda: (net.predict(X), tessera.train("mlp", X, Y, **SMALL))))
fork, and the child goes on with the run | r = run(threads=2); r.step(); fork(r.step)
frame of words | import pandas; net.predict(pandas.DataFrame({c: ["x"] for c in "abcdef"}))
frame of two equal names | import pandas; tessera.data(pandas.DataFrame(X, columns=list("aabcde")), Y)
frame without a target | import pandas; tessera.data(pandas.DataFrame(X), target="price")
frame with a NUL | import pandas; tessera.data(pandas.DataFrame(X, columns=["a\0b", *"cdefg"]), Y)
frame of dates | import pandas; tessera.data(pandas.DataFrame({"d": pandas.to_datetime(["2020-01-01"] * 240)}), Y)
torch on no device | import torch; net.predict(torch.zeros(2, 6, device="meta"))
torch sparse | import torch; net.predict(torch.zeros(2, 6).to_sparse())
ok: torch that needs a gradient | import torch; net.predict(torch.zeros(2, 6, requires_grad=True))
ok: torch conjugate | import torch; net.predict(torch.zeros(2, 6, dtype=torch.bfloat16))
"""

PRELUDE = """
import copy, gc, pickle, threading, warnings
rng = np.random.default_rng(1)
X = rng.normal(size=(240, 6)).astype(np.float32)
Y = (X[:, 0] > 0).astype(int)
WORDS = np.where(Y, "yes", "no")
SMALL = dict(hidden=[16], epochs=2, batch=20, lr=0.05, threads=1)
NOISY = {**SMALL, "optim": "gd", "optim_momentum": 0.9}  # it says something of that
del NOISY["batch"]
config = tessera.Config({"data.name": "glyphs", "data.n": 60, "data.test_n": 20}, **SMALL)
data = tessera.data(X, Y, X[:20], Y[:20])
net = tessera.train("mlp", data, **SMALL)

def run(**more):
    return tessera.Run(tessera.Config(model="mlp", **{**SMALL, **more}), data)

def hear(what, raises=True):
    made = []
    def messages(*_):
        if made:
            what(made[0])
    made.append(tessera.Run(tessera.Config({**SMALL, "eval.every": 1}, model="mlp"), data, messages=messages))
    made[0]._hear_message(None, 1, b"a warning")  # as the library would, from whatever thread
    made[0]._raise()
    if raises:
        raise AssertionError("the callback was let in")

def threads(what, count, times):
    wrong = []
    def one():
        try:
            for _ in range(times):
                what()
        except BaseException as problem:
            wrong.append(problem)
    all = [threading.Thread(target=one) for _ in range(count)]
    [t.start() for t in all], [t.join() for t in all]
    assert not wrong, wrong

def closing(made):
    late = threading.Thread(target=made.close)
    late.start()
    try:
        made.predict(X), made.parameters(), made.prune(0.5)
    except ValueError as problem:
        assert "closed" in str(problem), problem
    late.join()

def stepping(what):
    made = run(epochs=100000)
    ended = []
    def go():
        try:
            made.finish()
        except (ValueError, tessera.Interrupted) as problem:
            ended.append(problem)
    t = threading.Thread(target=go)
    t.start()
    time.sleep(0.3)
    what(made)
    t.join()
    assert ended

def while_training(what):
    made = run(epochs=100000, threads=2)
    t = threading.Thread(target=lambda: next((0 for _ in made if stop), None), daemon=True)
    stop = []
    t.start()
    for _ in range(20):
        what()
    stop.append(1)
    t.join()

def fork(what):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            what()
            os.write(writing, b"well")
        except BaseException as problem:
            os.write(writing, f"{type(problem).__name__}: {problem}".encode())
        os._exit(0)
    os.close(writing)
    said = b"".join(iter(lambda: os.read(reading, 4096), b"")).decode()
    assert os.waitpid(child, 0)[1] == 0, "the child was killed"
    if said != "well":
        raise ValueError("in the child: " + said)
"""


def child(call, writing, folder):
    """Runs one call; says what became of it."""
    faulthandler.enable()
    signal.alarm(SECONDS)
    names = {"np": np, "tessera": tessera, "os": os, "signal": signal, "time": time, "FOLDER": folder}
    said = "nothing was wrong"
    try:
        warnings.simplefilter("ignore")
        exec(PRELUDE, names)
        exec(call, names)
    except SystemExit as problem:
        said = f"sentence SystemExit: {problem}"
    except BaseException as problem:  # noqa: the point of it
        kind = "sentence" if isinstance(problem, SENTENCE) and len(str(problem)) >= 8 else "poor"
        said = f"{kind} {type(problem).__name__}: {problem}"
        if kind == "poor":
            said += "".join(traceback.format_exc().splitlines(True)[-6:])
    os.write(writing, said.encode("utf-8", "replace"))
    os._exit(0)


def attempt(call, folder):
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        child(call, writing, folder)
    os.close(writing)
    said = b"".join(iter(lambda: os.read(reading, 65536), b"")).decode("utf-8", "replace")
    os.close(reading)
    status = os.waitpid(process, 0)[1]
    return said if status == 0 else f"ended by signal {status & 127}"


def missing(call):
    """A library that the call needs and this machine lacks."""
    for name in re.findall(r"\bimport (\w+)", call):
        try:
            __import__(name)
        except ImportError:
            return name
    return None


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    failed, tried, skipped = 0, 0, 0
    for line in CALLS.strip().splitlines():
        name, _, call = (p.strip() for p in line.partition(" | "))
        if not re.search(pattern, name):
            continue
        if missing(call):
            skipped += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            said = attempt(call, folder)
        fine = said.startswith("nothing was wrong") if name.startswith("ok:") else said.startswith("sentence")
        tried += 1
        failed += not fine
        if not fine or pattern:
            print(f"{'' if fine else 'WRONG '}{name}: {call}\n    {said}")
    print(f"hostile: {tried} calls, {failed} wrong, {skipped} left out for want of a library")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
