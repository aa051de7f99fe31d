"""What the program says of data that may be meant otherwise than they are read: schema_doubts.py PROGRAM

Beside schema_pairs.py, which asks for right answers or a refusal: here the answer follows from what the files say, and a
remark must stand beside it. Each remark has a neighbour, data of which nothing is to be said, where it must not stand.
"""
import os
import random
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

PROGRAM = sys.argv[1]
random.seed(11)
rng = np.random.default_rng(11)
failures = []
count = 0


def run(*args):
    done = subprocess.run([PROGRAM, *args], capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name, text):
    with open(name, "w", newline="") as f:
        f.write(text)


def table(header, rows):
    return "\n".join([",".join(header)] + [",".join(str(c) for c in r) for r in rows]) + "\n"


def train(name, yaml):
    write(name + ".yaml", yaml)
    code, out, err = run("train", name + ".yaml", "--out", name, "--quiet")
    assert code == 0, (name, out, err)
    return err


def model(name):
    return name + "/model.safetensors"


def told(what, command, says=None, never=None, code=0):
    """`says` must stand in what the command says, `never` must not."""
    global count
    count += 1
    shutil.rmtree("tuned", ignore_errors=True)
    rc, out, err = run(*command)
    if rc != code or (says is not None and says not in err) or (never is not None and never in err):
        failures.append(f"{what}: exit {rc}, expected {code} with '{says}' and without '{never}': {(err + out)[:400]}")
    return out


def folder(name, **arrays):
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    for key, value in arrays.items():
        np.save(f"{name}/{key}.npy", value)


def png(path, pixels):
    """pixels [h, w, 1, 3 or 4]"""
    h, w, c = pixels.shape
    raw = b"".join(b"\0" + row.astype("u1").tobytes() for row in pixels)

    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))

    kind = {1: 0, 3: 2, 4: 6}[c]
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, kind, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


# ---- Units of images ------------------------------------------------------------------------------------------------
# A model of real pixels 0 .. 1 took bytes for numbers 255 times as large, without a word.
half = rng.random((200, 1, 6, 6)).astype("f4")
side = (half[:, 0, :, 0].mean(1) > 0.5).astype(int)
folder("fractions", x=half, y=side)
folder("bytes", x=(255 * half).astype("u1"), y=side)
np.save("fractions.npy", half[:20])
np.save("bytes.npy", (255 * half[:20]).astype("u1"))
np.save("numbers.npy", 255 * half[:20])
os.makedirs("pictures", exist_ok=True)
for i in range(3):
    png(f"pictures/{i}.png", 255 * half[i].transpose(1, 2, 0))
for data in ("fractions", "bytes"):
    for how in ("channel", "minmax", "standardize", "none"):
        train(f"{data}-{how}", f"data: {{path: {data}, normalize: {how}}}\nmodel: {{hidden: [8]}}\nepochs: 2\nbatch: 20\n")
unit = "are they in another unit"
for how in ("channel", "minmax", "standardize"):
    for path in ("bytes.npy", "numbers.npy", "pictures"):
        told(f"{path} for fractions, {how}", ("predict", model("fractions-" + how), "--data", path), unit)
    told(f"fractions for fractions, {how}", ("predict", model("fractions-" + how), "--data", "fractions.npy"), never=unit)
    told(f"fractions for bytes, {how}", ("predict", model("bytes-" + how), "--data", "fractions.npy"), unit)
    for path in ("bytes.npy", "numbers.npy", "pictures"):
        told(f"{path} for bytes, {how}", ("predict", model("bytes-" + how), "--data", path), never=unit)
told("fractions for bytes as they are", ("predict", model("bytes-none"), "--data", "fractions.npy"), "vary much less")
told("numbers for bytes as they are", ("predict", model("bytes-none"), "--data", "numbers.npy"), never=unit)
told("bytes for bytes as they are", ("predict", model("bytes-none"), "--data", "bytes.npy"), never="divided by 255")
told("bytes for fractions as they are", ("predict", model("fractions-none"), "--data", "bytes.npy"), "are divided by 255 for this")
told("fractions as they are", ("predict", model("fractions-none"), "--data", "fractions.npy"), never="divided by 255")

# ---- Units of sequences ---------------------------------------------------------------------------------------------
walks = rng.normal(size=(200, 6, 2)).astype("f4")
walks[:, :, 1] += 40
folder("walks", x=walks, y=(walks[:, -1, 0] > 0).astype(int))
train("walks-run", "data: {path: walks, format: sequences, normalize: standardize}\n"
      "model: {name: rnn, width: 8, train: all}\noptim: {lr: 0.01}\nepochs: 2\nbatch: 20\n")
folder("far", x=walks * np.float32([1, 100]))
told("sequences in another unit", ("predict", model("walks-run"), "--data", "far"), "coordinate 2: 1200 of 1200 values")
folder("far", x=walks[:30, :4])
told("sequences in the same unit", ("predict", model("walks-run"), "--data", "far"), never=unit)

# ---- What nobody could compare ------------------------------------------------------------------------------------------
rows = rng.random((300, 3)).astype("f4")
folder("rows", x=rows, y=(rows @ np.float32([1, 2, 3])).astype("f4"))
train("rows-run", "data: {path: rows}\nmodel: {hidden: [8]}\nepochs: 5\n")
write("rows.csv", table(["c", "b", "a", "y"], [(*r[::-1], r.sum()) for r in rows[:9]]))
told("a table for a model of arrays", ("predict", model("rows-run"), "--data", "rows.csv"),
     "knows no names of columns: those of rows.csv are taken in their order, unchecked")
told("the same, judged", ("eval", model("rows-run"), "--data", "rows.csv"), "in their order, unchecked")
np.save("four.npy", rng.random((5, 4)).astype("f4"))
np.save("three.npy", rows[:5])
last = "the last of its 4 columns is taken for the target"
told("an array that is wider by one", ("predict", model("rows-run"), "--data", "four.npy"), last)
told("an array of the model's width", ("predict", model("rows-run"), "--data", "three.npy"), never=last)

# --set data.path named other data, of which only a fifth was looked at, and nothing was said of what could not be compared.
folder("others", x=rows[:50], y=rows[:50].sum(1))
part = "only the 10 samples of its test part are taken; --data takes all"
for command in ("predict", "eval"):
    said = told(command + " by --set", (command, model("rows-run"), "--set", "data.path=others"), part)
    told(command + " by --set, unchecked", (command, model("rows-run"), "--set", "data.path=others"), "only its shape was compared")
    told(command + " of its own data", (command, model("rows-run")), never="test part")
    told(command + " by --data", (command, model("rows-run"), "--data", "others"), never="test part")

# A set that brings names of its own was taken by the numbers of its classes: cat answered for dog.
names = [f"kind{k}" for k in range(10)]
images = rng.integers(0, 256, (40, 3, 32, 32)).astype("u1")
for k, name in enumerate(names):
    os.makedirs("kinds/" + name)
    for i in range(4):
        png(f"kinds/{name}/{i}.png", images[4 * k + i].transpose(1, 2, 0))
train("kinds-run", "data: {path: kinds}\nmodel: {hidden: [8]}\nepochs: 1\nbatch: 8\n")
os.makedirs("cifar")
for part in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
    with open(f"cifar/{part}.bin", "wb") as f:
        for i in range(40):
            f.write(bytes([i % 10]) + images[i].tobytes())
write("cifar/batches.meta.txt", "\n".join(names) + "\n")
told("CIFAR's files with the model's classes", ("eval", model("kinds-run"), "--data", "cifar"), never="class")
write("cifar/batches.meta.txt", "\n".join(names[::-1]) + "\n")
told("with others", ("eval", model("kinds-run"), "--data", "cifar"), "class 0 is kind9, but", code=3)
given = told("with others, only asked about", ("predict", model("kinds-run"), "--data", "cifar"), "its classes are not those of")
write("cifar/batches.meta.txt", "\n".join(f"other{k}" for k in range(10)) + "\n")
told("with names that the model has nowhere", ("eval", model("kinds-run"), "--data", "cifar"), "classes are taken by their numbers")
if "(given)" in given:
    failures.append("labels of other classes stand beside predictions")


def idx(path, kind, numbers, form):
    with open(path, "wb") as f:
        f.write(bytes([0, 0, kind, numbers.ndim]) + struct.pack(f">{numbers.ndim}I", *numbers.shape) + numbers.astype(form).tobytes())


# Labels that were saved as real numbers were targets, and what a model of classes said of them was no class.
for part, kind, form in (("whole", 8, ">u1"), ("real", 13, ">f4")):
    idx(f"{part}-images-idx3-ubyte", 8, images[:, 0], ">u1")
    idx(f"{part}-labels-idx1-ubyte", kind, np.arange(40) % 4, form)
train("idx-run", "data: {path: whole-images-idx3-ubyte}\nmodel: {hidden: [8]}\nepochs: 1\nbatch: 8\n")
if "probability" not in told("labels as real numbers", ("predict", model("idx-run"), "--data", "real-images-idx3-ubyte")):
    failures.append("a model of classes answers with numbers")

folder("tested", x=rows[:50], y=rows[:50].sum(1), x_test=rows[50:60], y_test=rows[50:60].sum(1))
told("by --set, a test part of its own", ("eval", model("rows-run"), "--set", "data.path=tested"), never="only the 10 samples")
# What training took of its own data was taken of others, too: 40 of 300 rows.
train("few", "data: {path: rows, limit: 40}\nmodel: {hidden: [8]}\nepochs: 1\nbatch: 10\n")
for path, more, steps in ("rows", (), 24), ("rows", ("--set", "data.limit=50"), 5):
    said = told("trained on with other data", ("finetune", model("few"), "--data", path, "--epochs", "1", "--out", "tuned", "--json", *more))
    if f'"rounds":{steps},' not in said:
        failures.append(f"trained on with other data {more}: not {steps} steps: {said}")

# finetune compares names with names, and said nothing where one side has none.
write("named.csv", table(["a", "b", "c", "y"], [(*r, r.sum()) for r in rows]))
train("named", "data: {path: named.csv}\nmodel: {hidden: [8]}\nepochs: 1\n")
order = "taken in their order, unchecked"
for name, path, says in (("named", "rows", order), ("rows-run", "named.csv", order), ("named", "named.csv", None), ("rows-run", "rows", None)):
    told(f"{name} trained on with {path}", ("finetune", model(name), "--data", path, "--epochs", "1", "--out", "tuned"), says,
         never=None if says else order)

# ---- Columns that say nothing ---------------------------------------------------------------------------------------
# A column of crosses and gaps was filled with crosses.
many = [(round(random.random(), 3), "x" if random.random() > 0.5 else "", 7, random.randrange(9)) for _ in range(100)]
yes = ["yes" if a > 0.5 else "no" for a, *_ in many]
write("crosses.csv", table(["a", "flag", "b", "y"], [(a, flag, b, y) for (a, flag, _, b), y in zip(many, yes)]))
gaps = "column 2 (flag) holds one value and"
told("crosses and gaps", ("data", "info", "crosses.csv"), gaps)
told("crosses and zeros", ("data", "info", "crosses.csv", "--set", "data.missing=zero"), never=gaps)
write("words.csv", table(["a", "flag", "b", "y"], [(a, flag or "o", b, y) for (a, flag, _, b), y in zip(many, yes)]))
told("crosses and words", ("data", "info", "words.csv"), never="flag")
write("signs.csv", table(["a", "sign", "y"], [(a, "+" if flag else "-", y) for (a, flag, *_), y in zip(many, yes)]))
told("plus and minus", ("data", "info", "signs.csv"), "column 2 (sign) holds one value and")
write("sevens.csv", table(["a", "k", "b", "y"], [(a, k, b, y) for (a, _, k, b), y in zip(many, yes)]))
told("sevens", ("data", "info", "sevens.csv"), "column 2 (k) is the same in all rows")
write("more.csv", table(["a", "k", "l", "m", "y"], [(a, k, k, k, y) for (a, _, k, _), y in zip(many, yes)]))
told("three of one value", ("data", "info", "more.csv"), "column 2 (k) and 2 more are the same in all rows")

# The minus sign of typographers made words of numbers.
write("minus.csv", table(["t", "y"], [(f"\u2212{1 + i % 30}", y) for i, y in enumerate(yes)]))
told("typographers' minus", ("data", "info", "minus.csv"), 'is a number with "\u2212" at it', code=3)
for mark in "~", "'", "\u2248":
    write("minus.csv", table(["t", "y"], [(f"{mark}{1 + i % 30}", y) for i, y in enumerate(yes)]))
    told(f"numbers behind {mark}", ("data", "info", "minus.csv"), f'is a number with "{mark}" at it', code=3)
# Names that a program gave to columns without names were a row of data.
write("counted.csv", "0,1,2,3\n" + "".join(f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(100)))
told("columns that are counted", ("data", "info", "counted.csv"), "line 1 is taken for data, but counts its columns")
told("the same, a header", ("data", "info", "counted.csv", "--set", "data.header=yes"), never="line 1")
write("counted.csv", ",0,1,2,3\n" + "".join(f"{i},{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(100)))
told("columns that are counted behind numbers of rows", ("data", "info", "counted.csv"), "but counts its columns")
write("plain.csv", "".join(f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(100)))
told("columns that are not counted", ("data", "info", "plain.csv"), never="line 1")

# ---- Units of targets ---------------------------------------------------------------------------------------------------
def price(x, z):
    return round(1000 + 300 * x - 200 * z, 2)


pairs = rng.random((200, 2)).round(4)
write("euros.csv", table(["x", "z", "price"], [(x, z, price(x, z)) for x, z in pairs]))
write("cents.csv", table(["x", "z", "price"], [(x, z, 100 * price(x, z)) for x, z in pairs]))
train("euros", "data: {path: euros.csv, unit: EUR}\nmodel: {hidden: [8]}\nepochs: 3\n")
tune = ("finetune", model("euros"), "--epochs", "1", "--out", "tuned", "--data")
told("trained on with targets in cents", (*tune, "cents.csv"), "targets are near 1.0")
told("trained on with targets in euros", (*tune, "euros.csv"), never="targets are near")
told("another unit's name", ("eval", model("euros"), "--set", "data.unit=USD"), "a trained model keeps it", code=2)

# ---- Pictures ---------------------------------------------------------------------------------------------------------
for colour, rgb in (("blue", (20, 20, 230)), ("red", (230, 20, 20))):
    os.makedirs("album/" + colour)
    for i in range(20):
        png(f"album/{colour}/{i}.png", (np.array(rgb) + rng.integers(-15, 15, (8, 8, 3))).clip(0, 255))
train("album-run", "data: {path: album}\nmodel: {hidden: [8]}\nepochs: 10\nbatch: 8\n")
os.makedirs("glass")
red = np.full((8, 8, 4), 255)
red[..., 1:3] = 20
png("glass/solid.png", red)
told("pictures with an alpha channel and nothing behind it", ("predict", model("album-run"), "--data", "glass"), never="transparent")
red[0, 0, 3] = 0
png("glass/clear.png", red)
told("transparent pictures", ("predict", model("album-run"), "--data", "glass"), "1 pictures like clear.png have transparent parts")
os.rename("glass/clear.png", "glass/clear.jxl")
told("pictures of a kind that is not read", ("predict", model("album-run"), "--data", "glass"), "1 pictures like clear.jxl are neither")

# Networks without layers of a fixed size took pictures of another size without a word.
for colour, rgb in (("blue", (20, 20, 230)), ("red", (230, 20, 20))):
    os.makedirs("larger/" + colour)
    for i in range(8):
        png(f"larger/{colour}/{i}.png", (np.array(rgb) + rng.integers(-15, 15, (12, 12, 3))).clip(0, 255))
train("residual", "data: {path: album}\nmodel: {name: resnet18, width: 2}\nrounds: 2\nbatch: 8\n")
tune = ("finetune", model("residual"), "--epochs", "1", "--set", "batch=4", "--out", "tuned", "--data", "larger")
size = "learned from images of 8x8 and goes on with 12x12 of larger"
told("trained on with larger pictures", tune, size)
told("the same, brought to the model's size", (*tune, "--set", "data.size=8"), never="learned from images")

print(f"{count} remarks: {count - len(failures)} are made where they should be, and only there")
for f in failures:
    print("  " + f)
sys.exit(1 if failures else 0)
