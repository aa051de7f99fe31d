"""Pairs of (training file, new file). Each model is trained once on a table whose answers follow from a rule; then it
is shown new files made by the same rule but written otherwise. A pair expects either every answer to be right, or a
refusal with the words given. What the program says must be right to the last row: nothing in between passes."""
import csv
import io
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import zlib

import numpy as np

PROGRAM = sys.argv[1]
random.seed(7)
ANIMAL = {"Aachen": "dog", "Bonn": "cat", "Cork": "fish"}
failures = []
count = 0


def run(*args, given=None):
    done = subprocess.run([PROGRAM, *args], input=given, capture_output=True)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def write(name, text, encoding="utf-8"):
    with open(name, "w", encoding=encoding, newline="") as f:
        f.write(text)


def table(header, rows, sep=",", end="\n"):
    lines = ([sep.join(header)] if header else []) + [sep.join(str(c) for c in r) for r in rows]
    return end.join(lines) + end


def train(name, yaml):
    write(name + ".yaml", yaml)
    code, out, err = run("train", name + ".yaml", "--out", name, "--quiet")
    assert code == 0, (name, out, err)


# ---- What is true ------------------------------------------------------------------------------------------------
def places(n):
    return [(random.choice(list(ANIMAL)), round(random.random(), 4), round(random.uniform(0, 9), 3)) for _ in range(n)]


def prices(n):
    return [(round(random.random(), 4), round(random.random(), 4)) for _ in range(n)]


def price(x, z):
    return round(1000 + 300 * x - 200 * z, 3)


def kind_of(x):
    return "30" if x > 0.66 else "20" if x > 0.33 else "10"


# ---- Judging -----------------------------------------------------------------------------------------------------
def predictions(out):
    return list(csv.reader(io.StringIO(out)))


def pair(what, model, path, right=None, refusal=None, given=None, options=(), close=None, code=3, says=None):
    """`right`: the expected answers, one a row; `close`: how near real ones must be."""
    global count
    count += 1
    rc, out, err = run("predict", model + "/model.safetensors", "--data", path, *options, given=given)
    if refusal is not None:
        if rc != code or refusal not in err:
            failures.append(f"{what}: expected a refusal with '{refusal}' (exit {code}), got exit {rc}: {(out + err)[:300]}")
        return
    rows = predictions(out)[1:] if rc == 0 else []
    if rc != 0 or len(rows) != len(right):
        failures.append(f"{what}: exit {rc}, {len(rows)} answers for {len(right)}: {(out + err)[:300]}")
        return
    if says is not None and says not in err:
        failures.append(f"{what}: no '{says}' in: {err[:300]}")
    for i, (row, want) in enumerate(zip(rows, right)):
        good = abs(float(row[1]) - want) <= close if close else row[1] == want
        if not good:
            failures.append(f"{what}: row {i + 1} is {row[1]}, not {want}")
            return


def judged(what, model, path, accuracy=None, refusal=None, code=3):
    global count
    count += 1
    rc, out, err = run("eval", model + "/model.safetensors", "--data", path, "--json")
    if refusal is not None:
        if rc != code or refusal not in err:
            failures.append(f"{what}: expected a refusal with '{refusal}', got exit {rc}: {(out + err)[:300]}")
    elif rc != 0 or abs(json.loads(out)["accuracy"] - accuracy) > 1e-9:
        failures.append(f"{what}: exit {rc}: {(out + err)[:300]}")


# ---- Words and classes -------------------------------------------------------------------------------------------
write("places.csv", table(["city", "a", "b", "animal"], [(c, a, b, ANIMAL[c]) for c, a, b in places(400)]))
train("places", "data: {path: places.csv}\nmodel: {hidden: [16]}\noptim: {lr: 0.1}\nepochs: 40\n")
new = places(25)
want = [ANIMAL[c] for c, _, _ in new]
full = [(c, a, b, ANIMAL[c]) for c, a, b in new]
HEAD = ["city", "a", "b", "animal"]

write("1.csv", table(HEAD, full))
pair("the same columns", "places", "1.csv", want)
judged("the same columns, judged", "places", "1.csv", 1.0)
write("2.csv", table(["b", "animal", "city", "a"], [(b, y, c, a) for c, a, b, y in full]))
pair("another order", "places", "2.csv", want)
judged("another order, judged", "places", "2.csv", 1.0)
write("3.csv", table(["id", "city", "note", "a", "b", "animal"], [(i, c, "x", a, b, y) for i, (c, a, b, y) in enumerate(full)]))
pair("columns that the model does not know", "places", "3.csv", want, says="left out: id, note")
write("4.csv", table(["city", "b", "animal"], [(c, b, y) for c, a, b, y in full]))
pair("a column is missing", "places", "4.csv", refusal='there is no column "a"')
write("5.csv", table(["city", "a", "b"], new))
pair("no target", "places", "5.csv", want)
judged("no target, judged", "places", "5.csv", refusal='no column "animal"')
write("6.csv", table(HEAD, [(c, a, b, "") for c, a, b in new]))
pair("an empty target", "places", "6.csv", want)
write("6b.csv", table(HEAD, [(c, a, b, y if i else "") for i, (c, a, b, y) in enumerate(full)]))
pair("some targets empty", "places", "6b.csv", want, says="some rows have no target")
write("7.csv", table(HEAD, [("Dublin" if i == 3 else c, a, b, y) for i, (c, a, b, y) in enumerate(full)]))
pair("a word never seen", "places", "7.csv", refusal='never seen the word "Dublin"')
others = [(c, a, b, ANIMAL[c]) for c, a, b in new if c == "Bonn"] + [("Dublin", 0.5, 5, "cat")]
write("7b.csv", table(HEAD, others))
code, out, err = run("predict", "places/model.safetensors", "--data", "7b.csv", "--set", "data.unknown=missing")
if code != 0 or [r[1] for r in predictions(out)[1:-1]] != ["cat"] * (len(others) - 1):
    failures.append(f"a word never seen, as missing: exit {code}: {(out + err)[:300]}")
rest = [(c, a, b, y) for c, a, b, y in full if c != "Aachen"]
write("8.csv", table(HEAD, rest))
pair("fewer words than in training", "places", "8.csv", [y for *_, y in rest])
judged("fewer classes than in training", "places", "8.csv", 1.0)
write("9.csv", table(HEAD, [(c, a, b, "whale" if y == "dog" else y) for c, a, b, y in full]))
judged("a class never seen", "places", "9.csv", refusal='"whale" is not one of the model\'s classes')
pair("a class never seen, only asked about", "places", "9.csv", want, says="targets are left out")
write("10.csv", table(HEAD, [(c, "x1" if i == 2 else a, b, y) for i, (c, a, b, y) in enumerate(full)]))
pair("a word in a column of numbers", "places", "10.csv", refusal="line 4, column 2 (a)")
write("11.csv", table(["town", "a", "b", "animal"], full))
pair("a column has another name", "places", "11.csv", refusal='there is no column "city"')
write("12.csv", table(["city", "a", "a", "b", "animal"], [(c, a, a, b, y) for c, a, b, y in full]))
pair("a column appears twice", "places", "12.csv", refusal='column "a" appears 2 times')
write("11b.csv", table(["City", "a", "b", "animal"], full))
pair("a column's name in capitals", "places", "11b.csv", refusal='"City" is another name')
write("12b.csv", table(["", "city", "a", "b"], [(i, c, a, b) for i, (c, a, b) in enumerate(new)]))
pair("numbers of rows without a name", "places", "12b.csv", want, says="left out: one without a name")
write("12c.csv", table(HEAD, [(c, "" if i == 3 else a, b, y) for i, (c, a, b, y) in enumerate(full)]))
pair("a missing number", "places", "12c.csv", want, says="1 cells are missing and filled")
write("13.csv", table(None, full))
pair("no header", "places", "13.csv", want, says="unchecked")
write("14.csv", table(None, [r + (1,) for r in full]))
pair("no header and a column more", "places", "14.csv", refusal="the model was trained with 3")
write("15.csv", table(HEAD, full, sep=";"))
pair("semicolons", "places", "15.csv", want)
write("16.csv", table(HEAD, full, sep="\t", end="\r\n"))
pair("tabs and CRLF", "places", "16.csv", want)
write("17.csv", table(HEAD, full), encoding="utf-8-sig")
pair("a byte-order mark", "places", "17.csv", want)
write("18.csv", table(HEAD, [('"' + c + '"', a, b, y) for c, a, b, y in full]))
pair("quoted words", "places", "18.csv", want)
write("19.csv", table(HEAD, [(c.upper(), a, b, y) for c, a, b, y in full]))
pair("words in capitals are other words", "places", "19.csv", refusal='never seen the word')
write("20.csv", table(HEAD, [(c, a, str(b).replace(".", ","), y) for c, a, b, y in full], sep=";"))
pair("decimal commas in one column", "places", "20.csv", want, options=("--set", "data.decimal=comma"))
pair("standard input", "places", "-", want, given=table(["b", "city", "a"], [(b, c, a) for c, a, b in new]).encode())
write("21.csv", table(HEAD, [(c, a, b, y) for c, a, b, y in full][:1]))
pair("a single row", "places", "21.csv", want[:1])
write("22.csv", "")
pair("an empty file", "places", "22.csv", refusal="the file is empty")
write("23.csv", table(HEAD, []))
pair("a header alone", "places", "23.csv", refusal="no rows of data")
write("24.csv", table(HEAD, [(c, "2024-01-01", b, y) for c, a, b, y in full]))
pair("dates where numbers were", "places", "24.csv", refusal="is a date")
write("25.csv", table(HEAD, [(c, "inf" if i == 0 else a, b, y) for i, (c, a, b, y) in enumerate(full)]))
pair("infinity", "places", "25.csv", refusal="not a finite number")

# ---- Training on -----------------------------------------------------------------------------------------------
def trained_on(what, path, refusal):
    global count
    count += 1
    rc, out, err = run("finetune", "places/model.safetensors", "--data", path, "--epochs", "1", "--out", f"on-{count}", "--quiet")
    if (rc != 2 or refusal not in err) if refusal else rc != 0:
        failures.append(f"{what}: exit {rc}: {(out + err)[:300]}")


write("26.csv", table(HEAD, [(c, a, b, ANIMAL[c]) for c, a, b in places(200)]))
trained_on("trained on with the same columns", "26.csv", None)
write("27.csv", table(["city", "b", "a", "animal"], [(c, b, a, ANIMAL[c]) for c, a, b in places(200)]))
trained_on("trained on with columns in another order", "27.csv", "column 2 is b here, a there")
write("28.csv", table(HEAD, [(c.replace("Cork", "Derry"), a, b, ANIMAL[c]) for c, a, b in places(200)]))
trained_on("trained on with other words", "28.csv", "column 1 has other words")
write("29.csv", table(HEAD, [(c, a, b, ANIMAL[c].replace("fish", "whale")) for c, a, b in places(200)]))
trained_on("trained on with other classes", "29.csv", "class 2 is fish there")

# ---- Ways to write a table ------------------------------------------------------------------------------------------
def checked(what, text, yes=None, refusal=None, options=(), encoding="utf-8", given="told.csv"):
    """`yes`: what `data info` says of the columns; `refusal`: with which words it refuses them."""
    global count
    count += 1
    write(given, text, encoding)
    rc, out, err = run("data", "info", given, *options)
    out = " ".join(out.split())
    if (rc != 0 or yes not in out) if yes else (rc != 3 or refusal not in err):
        failures.append(f"{what}: exit {rc}: {(out + err)[:400]}")


def comma(x):
    return str(x).replace(".", ",")


many = [(round(random.uniform(1, 9), 4), round(random.random(), 4)) for _ in range(60)]
yes = ["yes" if x > 5 else "no" for x, _ in many]
def wrapped(form, head=("x", "z", "y")):
    return table(head, [(form(x), z, y) for (x, z), y in zip(many, yes)])


# Cut at commas, 0,5;3,1;yes had 597 words and 58 classes.
checked("decimal commas without a header", table(None, [(comma(x), comma(z), y) for (x, z), y in zip(many, yes)], sep=";"),
        "inputs: column 1, column 2; target: a column without a name (2 classes)")
checked("a comma in the header of a table with semicolons",
        table(['"x, cm"', "z", "y"], [(x, z, y) for (x, z), y in zip(many, yes)], sep=";"), "inputs: x, cm, z; target: y")
# These became words, an input for every cell, and the header a row of data.
checked("thousands", wrapped(lambda x: f'"{1000 * x:,.2f}"'), refusal="marks between its thousands")
checked("millions", wrapped(lambda x: f'"{int(1e6 * x):,}"'), refusal="marks between its thousands")
checked("thousands with a space", wrapped(lambda x: f"{int(1e3 * x):,}".replace(",", " ")), refusal="between its thousands")
checked("per cent", wrapped(lambda x: f"{x}%"), refusal='number with "%" at it')
checked("dollars", wrapped(lambda x: f"${x}"), refusal='number with "$" at it')
checked("a unit", wrapped(lambda x: f"{x} kg"), refusal='number with " kg" at it')
checked("a unit, as words", wrapped(lambda x: f"{int(x)} kg"), "x (8 words", options=("--set", "data.words=x"))
checked("names that end in digits are words", wrapped(lambda x: f"Q{int(x)}"), "x (8 words")
checked("ranges are words", wrapped(lambda x: f"{int(x)}0-{int(x)}9"), "x (8 words")
checked("points for thousands beside decimal commas",
        table(["x", "z", "y"], [(f"{int(1e3 * x):,}".replace(",", "."), comma(z), y) for (x, z), y in zip(many, yes)], sep=";"),
        refusal="may be a thousand or a fraction")
day = lambda x: f"2024-0{int(x)}-{10 + int(x)}"
checked("nothing but dates below the header", table(["x", "y"], [(day(x), y) for (x, _), y in zip(many, yes)]),
        "inputs: x (dates, as days); target: y", options=("--set", "data.dates=days"))
checked("a slip in a column of dates", wrapped(day).replace(day(many[5][0]), "soon", 1), refusal="in a column of dates")
checked("a day that is in no calendar", wrapped(day).replace(day(many[5][0]), "2024-02-30", 1), refusal="in a column of dates")
for form in ("{d}-May-2024", '"May {d}, 2024"', "05/{d}/24", "2024-05-{d}T10:00:00+02:00", "10:{d}"):
    checked("dates as " + form, wrapped(lambda x: form.format(d=20 + int(x))), refusal="is a date")
checked("a table of words with a header", table(["size", "colour", "kind"], [(f"s{int(x)}", "blue" if z > 0.5 else "red", y)
        for (x, z), y in zip(many, yes)]), "target: kind (2 classes)")
checked("a table of words without a header", table(None, [(f"s{int(x)}", "blue" if z > 0.5 else "red", y)
        for (x, z), y in zip(many, yes)]), "target: a column without a name (2 classes)")
checked("a row of missing values below the header", "x,z,y\nNA,,yes\n" + wrapped(str, None), "inputs: x, z; target: y")
checked("UTF-16", wrapped(str), refusal="UTF-16", encoding="utf-16")

checked("numbers of bookkeepers", wrapped(lambda x: f"({x})"), refusal='number with "()" at it')
# A model trained on these refused its own training file.
checked("two columns of one name", wrapped(str, ("x", "x", "y")), refusal='an earlier column is called "x"')
checked("two columns of one name, one left out", wrapped(str, ("x", "x", "y")), "inputs: x; target: y", options=("--set", "data.ignore=2"))
# Floats of these numbers are 128 and 2^29 apart: 82 and 51 % instead of 100 %.
checked("seconds since 1970", wrapped(lambda x: 1700000000 + int(x)), refusal="single precision cannot tell apart")
checked("seconds of a year", wrapped(lambda x: 1700000000 + int(3e6 * x)), "inputs: x, z; target: y")
checked("numbers beyond 2^53", wrapped(lambda x: 2**53 + int(1000 * x)), refusal="single precision cannot tell apart")
checked("equal but for rounding", wrapped(lambda x: repr(0.1 + x * 1e-17)), "inputs: x, z; target: y")
checked("classes beyond 2^53", table(["x", "y"], [(x, 2**53 + int(x > 5)) for x, _ in many]), refusal="too many digits")
checked("classes beyond 2^53, as words", table(["x", "y"], [(x, 2**53 + int(x > 5)) for x, _ in many]), "y (2 classes)",
        options=("--set", "data.words=y"))
# Such a model took its one output for two classes and answered with the wrong one.
write("one.csv", table(["x", "y"], [(x, "a") for x, _ in many]))
write("one.yaml", "data: {path: one.csv}\nmodel: {hidden: [4]}\nepochs: 1\n")
for command in ("train", "check"):
    count += 1
    rc, out, err = run(command, "one.yaml", *(("--out", "one") if command == "train" else ()))
    if rc != 2 or "all samples are of one class, a" not in err:
        failures.append(f"{command} of one class: exit {rc}: {err[:300]}")


def told(what, text, says):
    """Read in the only way there is, which is hardly meant: said."""
    global count
    count += 1
    write("told.csv", text)
    rc, out, err = run("data", "info", "told.csv")
    if rc != 0 or says not in err:
        failures.append(f"{what}: exit {rc}: {err[:400]}")


told("classes that differ in capitals", table(["x", "y"], [(x, "True" if i % 2 else "true") for i, (x, _) in enumerate(many)]),
     '"true" and "True" are two classes')
told("words that differ in spaces", wrapped(lambda x: "New York" if x > 5 else "New  York"), '"New York" are two words')
told("accents in one character and in two", wrapped(lambda x: "Köln" if x > 5 else "Ko\u0308ln"), "are two words")
told("codes that begin with zeros", wrapped(lambda x: f"{int(x):05d}"), "begins with a zero")
told("dates written as numbers", wrapped(lambda x: f"20240{int(x)}1{int(x)}"), "looks like a date written as a number")
told("years for names", table(["2019", "2020", "2021"], [(x, z, x + z) for x, z in many]), "has whole numbers above fractions")
told("a column without a name", wrapped(str, ("", "z", "y")), "column 1 has no name and is an input")

# A test file is matched with its training file by name, too.
write("te.csv", table(["y", "note", "z", "x"], [(y, 7, z, x) for (x, z), y in zip(many, yes)], sep=";"))
checked("a test file with columns in another order", wrapped(str), "60 for training, 60 for testing", given="tr.csv",
        options=("--set", "data.test_path=te.csv"))
train("tested", "data: {path: tr.csv, test_path: te.csv}\nmodel: {hidden: [8]}\nepochs: 5\nbatch: 20\n")
own = json.loads(run("eval", "tested/model.safetensors", "--json")[1])
if own["loss"] != json.loads(run("eval", "tested/model.safetensors", "--train-set", "--json")[1])["loss"]:
    failures.append("a test file with the rows of the training file in another order has another loss")
write("te.csv", table(["y", "z"], [(y, z) for (x, z), y in zip(many, yes)]))
checked("a test file without a column", wrapped(str), refusal='te.csv: line 1: there is no column "x"', given="tr.csv",
        options=("--set", "data.test_path=te.csv"))

# Names and words are UTF-8 in the model file, and the same texts in every encoding.
town = lambda i: ("Köln", "Bonn", "Çorum")[i % 3]
beast = lambda i: ("Bär", "Igel", "Öre")[i % 3]
towns = table(["Größe", "Stadt", "Tier"], [(i % 7, town(i), beast(i)) for i in range(300)])
write("latin.csv", towns, "latin-1")
write("utf8.csv", towns)
train("towns", "data: {path: latin.csv}\nmodel: {hidden: [16]}\noptim: {lr: 0.1}\nepochs: 30\n")
for path in ("latin.csv", "utf8.csv"):
    pair("Latin-1 in training, then " + path, "towns", path, [beast(i) for i in range(300)])
    judged("Latin-1 in training, judged on " + path, "towns", path, 1.0)
long = "a" * 300
write("long.csv", table(["x", "y"], [(i % 2, long if i % 2 else "short") for i in range(100)]))
train("long", "data: {path: long.csv}\nmodel: {hidden: [4]}\nepochs: 40\nbatch: 10\n")
pair("a class with a long name", "long", "long.csv", [long if i % 2 else "short" for i in range(100)])
odd = ['say "no", x', "two\nlines", "two\r\nlines", "a\ttab", "=1+1", "Zoë; ü"]
quoted = lambda i: '"' + odd[i % 6].replace('"', '""') + '"'
write("odd.csv", table(["x", '"the ""kind"",\nof it"'], [(i % 6, quoted(i)) for i in range(300)]))
train("odd", "data: {path: odd.csv}\nmodel: {hidden: [32]}\noptim: {lr: 0.05}\nepochs: 80\nbatch: 30\n")
pair("classes with commas, quotes, tabs and line ends", "odd", "odd.csv", [odd[i % 6] for i in range(300)])
heads = predictions(run("predict", "odd/model.safetensors", "--data", "odd.csv", "-p")[1])[0]
count += 1
if heads[1] != 'the "kind",\nof it' or sorted(heads[3:9]) != sorted(f"p({name})" for name in odd):
    failures.append(f"names with commas, quotes, tabs and line ends: {heads}")
write("bell.csv", table(["x", "y"], [(i % 2, ("a\x07\x1b[31mb", "c")[i % 2]) for i in range(100)]))
train("bell", "data: {path: bell.csv}\nmodel: {hidden: [4]}\nepochs: 40\nbatch: 10\n")
pair("a name that a terminal would obey", "bell", "bell.csv", [("a\\x07\\x1b[31mb", "c")[i % 2] for i in range(100)])

# Days and numbers are both numbers; which of them a column has is kept.
write("days.csv", table(["x", "y"], [(f"2024-0{1 + i % 9}-11", "late" if i % 9 > 4 else "early") for i in range(270)]))
train("days", "data: {path: days.csv, dates: days}\nmodel: {hidden: [16]}\noptim: {lr: 0.1}\nepochs: 60\n")
write("days2.csv", table(["x"], [(f"11.0{1 + i}.2024",) for i in range(9)]))
pair("dates written otherwise", "days", "days2.csv", ["late" if i > 4 else "early" for i in range(9)])
write("days3.csv", table(["x"], [(f"20240{1 + i}11",) for i in range(9)]))
pair("numbers where dates were", "days", "days3.csv", refusal="takes this column for dates")

# ---- Numbers, units, missing values --------------------------------------------------------------------------------
PRICE = ["x", "z", "price"]
write("prices.csv", table(PRICE, [(x, z, price(x, z)) for x, z in prices(600)]))
train("prices", "data: {path: prices.csv, unit: EUR}\nmodel: {hidden: [32]}\n"
      "optim: {lr: 0.05, schedule: cosine}\nepochs: 80\nbatch: 32\n")
new = prices(20)
want = [price(x, z) for x, z in new]
write("30.csv", table(["z", "price", "x"], [(z, price(x, z), x) for x, z in new]))
pair("real targets in another order", "prices", "30.csv", want, close=15)
write("31.csv", table(["x", "z"], new))
pair("real targets, none given", "prices", "31.csv", want, close=15)
write("32.csv", table(["x", "z"], [(str(x).replace(".", ","), str(z).replace(".", ",")) for x, z in new], sep=";"))
pair("decimal commas", "prices", "32.csv", want, close=15, options=("--set", "data.decimal=comma"))
for word in ("", "?", "NA", "NaN", "null", "-", "n/a"):
    write("33.csv", table(["x", "z"], [(word, z) for x, z in new]))
    pair(f"all of a column missing, written as '{word}'", "prices", "33.csv", [price(0.5, z) for x, z in new], close=60)

# Of a part of the model's own file, answers have the rows of the file, not those of the part.
lines = [float(row[2]) for row in predictions(open("prices.csv").read())[1:]]
for options in ((), ("--train-set",), ("--set", "data.test_limit=9"), ("--set", "data.limit=9", "--train-set")):
    rc, out, err = run("predict", "prices/model.safetensors", *options)
    rows = predictions(out)[1:]
    count += 1
    if rc != 0 or not 8 < len(rows) < 600 or any(abs(lines[int(r[0]) - 1] - float(r[2])) > 1e-3 for r in rows):
        failures.append(f"rows of a part {options}: exit {rc}, {len(rows)} rows: {out[:200]} {err[:200]}")

# What predict says of another unit, finetune says, too: it scales its inputs anew.
write("cents.csv", table(["x", "z", "price"], [(100 * x + 900, z, price(x, z)) for x, z in prices(100)]))
rc, out, err = run("finetune", "prices/model.safetensors", "--data", "cents.csv", "--epochs", "1", "--out", "cents")
count += 1
if rc != 0 or "column x is near" not in err:
    failures.append(f"fine-tuned in another unit: exit {rc}: {err[:300]}")

# A table whose last column is another one was learned from without a word.
write("cost.csv", table(["x", "z", "cost"], [(x, z, price(x, z)) for x, z in prices(100)]))
rc, out, err = run("finetune", "prices/model.safetensors", "--data", "cost.csv", "--epochs", "1", "--out", "cost")
count += 1
if rc != 0 or "learned to predict price and goes on with cost" not in err:
    failures.append(f"fine-tuned on a target of another name: exit {rc}: {err[:300]}")

# Several targets are found by their names, too: in another order each is still compared with itself.
GOODS = ["x", "z", "price", "weight"]


def weight(x, z):
    return round(5 * x + 9 * z, 4)


write("goods.csv", table(GOODS, [(x, z, price(x, z), weight(x, z)) for x, z in prices(300)]))
train("goods", "data: {path: goods.csv, target: 'price,weight'}\nmodel: {hidden: [16]}\n"
      "optim: {lr: 0.05}\nepochs: 20\nbatch: 32\n")
rc, out, err = run("train", "goods.yaml", "--out", "goods3")
count += 1
if "target weight varies" not in err or "as one" not in err:
    failures.append(f"a target that is much smaller than the other is not told: {err[:300]}")
write("33b.csv", table(GOODS, [(x, z, price(x, z), weight(x, z)) for x, z in new]))
write("33c.csv", table(["weight", "z", "price", "x"], [(weight(x, z), z, price(x, z), x) for x, z in new]))
answers = [run("predict", "goods/model.safetensors", "--data", path)[1] for path in ("33b.csv", "33c.csv")]
errors = [json.loads(run("eval", "goods/model.safetensors", "--data", path, "--json")[1])["rmse"]
          for path in ("33b.csv", "33c.csv")]
count += 2
given = [float(cell) for cell in predictions(answers[1])[1][3:]]
if answers[0] != answers[1] or abs(given[0] - price(*new[0])) > 1e-3 or abs(given[1] - weight(*new[0])) > 1e-3:
    failures.append(f"two targets in another order: {answers}")
if errors[0] != errors[1]:
    failures.append(f"two targets in another order are judged otherwise: {errors}")
write("33d.csv", table(["x", "z", "weight", "price"], [(x, z, weight(x, z), price(x, z)) for x, z in new]))
rc, out, err = run("finetune", "goods/model.safetensors", "--data", "33d.csv", "--epochs", "1", "--set", "batch=8",
                   "--out", "goods2")
count += 1
if rc == 0 or 'target weight is number 1 here, 2 there' not in err:
    failures.append(f"two targets in another order, fine-tuned: exit {rc}: {err[:300]}")
write("34.csv", table(["x", "z"], [("--1" if i == 4 else x, z) for i, (x, z) in enumerate(new)]))
pair("a misspelt number", "prices", "34.csv", refusal="line 6, column 1 (x)")
write("35.csv", table(["x", "z"], [(100 * x, z) for x, z in new]))
rc, out, err = run("predict", "prices/model.safetensors", "--data", "35.csv")
count += 1
if rc != 0 or "column x: 20 of 20 values" not in err and "another unit" not in err:
    failures.append(f"another unit: exit {rc}: {err[:300]}")
# The numbers of the words in a list were compared with prices.
write("36.csv", table(PRICE, [(x, z, "dear" if price(x, z) > 1050 else "cheap") for x, z in new]))
judged("words where the targets are numbers", "prices", "36.csv", refusal="is not a number, but the model's targets are")
pair("the same, only asked about", "prices", "36.csv", want, close=15, says="targets are left out")
write("37.csv", table(PRICE, [(x, z, 100 * price(x, z)) for x, z in new]))
count += 1
rc, out, err = run("eval", "prices/model.safetensors", "--data", "37.csv")
if rc != 0 or "20 of 20 targets are more than 10 deviations away" not in err:
    failures.append(f"targets in another unit: exit {rc}: {err[:300]}")
code, out, err = run("eval", "prices/model.safetensors", "--data", "30.csv", "--json")
error = json.loads(out)["rmse"]
got = [float(r[1]) for r in predictions(run("predict", "prices/model.safetensors", "--data", "30.csv")[1])[1:]]
true = float(np.sqrt(np.mean((np.array(got) - np.array(want)) ** 2)))
# Predictions are printed with nine digits, outputs are floats of size 1000: 1e-4 apart.
if abs(error - true) > 1e-3:
    failures.append(f"the error in the target's units is {error}, numpy has {true}")
if " EUR (root mean square)" not in run("eval", "prices/model.safetensors", "--data", "30.csv")[1]:
    failures.append("eval does not tell the error in EUR")

# ---- Classes that are numbers --------------------------------------------------------------------------------------
write("kinds.csv", table(["x", "kind"], [(x, kind_of(x)) for x, _ in prices(500)]))
train("kinds", "data: {path: kinds.csv}\nmodel: {hidden: [16]}\noptim: {lr: 0.3}\nepochs: 60\n")
some = [x for x in (0.1, 0.5, 0.55, 0.9, 0.45)]
write("40.csv", table(["x", "kind"], [(x, kind_of(x)) for x in some]))
pair("classes that are numbers", "kinds", "40.csv", [kind_of(x) for x in some])
judged("classes that are numbers, judged", "kinds", "40.csv", 1.0)
two = [x for x in some if kind_of(x) != "10"]
write("41.csv", table(["x", "kind"], [(x, kind_of(x)) for x in two]))
judged("only some of the classes that are numbers", "kinds", "41.csv", 1.0)
write("42.csv", table(["x", "kind"], [(x, "40") for x in two]))
judged("a number that is not a class", "kinds", "42.csv", refusal='"40" is not one of the model\'s classes (10, 20, 30)')

# Numbers have no one way to be written: the model's own training file was refused.
for words in ({"30": "30.0", "20": "20.0", "10": "10.0"}, {"30": "+3", "20": "+2", "10": "+1"}):
    write("spelt.csv", table(["x", "kind"], [(x, words[kind_of(x)]) for x, _ in prices(500)]))
    train("spelt" + words["30"], "data: {path: spelt.csv}\nmodel: {hidden: [16]}\noptim: {lr: 0.3}\nepochs: 40\n")
    count += 1
    rc, out, err = run("eval", f"spelt{words['30']}/model.safetensors", "--json")
    if rc != 0 or json.loads(out)["accuracy"] < 0.9:
        failures.append(f"classes written as {words['30']}: exit {rc}: {(out + err)[:300]}")
write("43.csv", table(["x", "kind"], [(x, kind_of(x) + ".0") for x in some]))
judged("classes that are numbers, written with a point", "kinds", "43.csv", 1.0)

# ---- Arrays ---------------------------------------------------------------------------------------------------------
x = np.random.default_rng(1).random((400, 3)).astype("float32")
y = (x[:, 0] > 0.5).astype("int64") + (x[:, 1] > 0.5)
os.mkdir("arrays")
np.save("arrays/x.npy", x)
np.save("arrays/y.npy", y)
train("trained", "data: {path: arrays}\nmodel: {hidden: [32]}\noptim: {lr: 0.2}\nepochs: 80\n")
q = np.array([[0.1, 0.1, 0.5], [0.9, 0.1, 0.5], [0.9, 0.9, 0.5]], "float32")
np.save("q.npy", q)
pair("an array without targets", "trained", "q.npy", ["0", "1", "2"], says="only its shape was compared")
os.mkdir("asked")
np.save("asked/x.npy", q)
pair("x.npy without y.npy", "trained", "asked", ["0", "1", "2"])
judged("x.npy without y.npy, judged", "trained", "asked", refusal="no y.npy")
os.mkdir("shifted")
np.save("shifted/x.npy", q[1:])
np.save("shifted/y.npy", np.array([1, 2]))
judged("labels 1 and 2 are classes 1 and 2, not the first two", "trained", "shifted", 1.0)
np.save("shifted/y.npy", np.array([1, 3]))
judged("a label that is not a class", "trained", "shifted", refusal="not one of the model's 3 classes")
np.save("wide.npy", np.zeros((2, 7), "float32"))
pair("an array of another width", "trained", "wide.npy", refusal="samples of 3x1x1", code=2)

np.save("percent.npy", 100 * q)
pair("an array in another unit", "trained", "percent.npy", ["2", "2", "2"], says="column 1: 3 of 3 values are more than 10 deviations away")


def array_told(what, x, y, says=None, refusal=None):
    global count
    count += 1
    shutil.rmtree("given", ignore_errors=True)
    os.mkdir("given")
    np.save("given/x.npy", x)
    np.save("given/y.npy", y)
    rc, out, err = run("data", "info", "given")
    if (rc != 0 or says not in err) if says else (rc != 3 or refusal not in err):
        failures.append(f"{what}: exit {rc}: {err[:300]}")


array_told("classes saved as real numbers", x, y.astype("float64"), says="set data.task to classify")
array_told("classes as ones among zeros", x, np.eye(3)[y], says="save y.argmax(1)")
array_told("seconds since 1970 in an array", 1.7e9 + np.arange(400.0)[:, None], y, refusal="single precision cannot tell apart")
array_told("classes with gaps", x, 100 * y, says="198 of its 201 classes have no training sample")
array_told("channels last", np.zeros((400, 8, 8, 3), "uint8"), y, says="if its channels come last")
array_told("big-endian numbers", x.astype(">f4"), y, refusal="big-endian numbers >f4")
for kind in ("float64", "float16"):
    np.save("q.npy", np.asfortranarray(q.astype(kind)))
    pair(f"an array of {kind}, in Fortran's order", "trained", "q.npy", ["0", "1", "2"])

os.mkdir("pixels")
shades = np.random.default_rng(3).integers(0, 256, (200, 2, 6, 6)).astype("uint8")
shades[:, 1] //= 2
np.save("pixels/x.npy", shades)
np.save("pixels/y.npy", (shades[:, 0, 0, 0] > 127).astype("int64"))
train("shades", "data: {path: pixels}\nmodel: {hidden: [8]}\nepochs: 5\nbatch: 20\n")
np.save("bytes.npy", shades[:5].astype("float32"))
np.save("fractions.npy", shades[:5].astype("float32") / 255)
for path, strange in (("bytes.npy", False), ("fractions.npy", True)):
    count += 1
    rc, out, err = run("predict", "shades/model.safetensors", "--data", path)
    if rc != 0 or ("as 0 to 1 instead of 0 to 255?" in err) != strange:
        failures.append(f"{path} for a model of bytes: exit {rc}: {err[:300]}")
# Without a normalisation the same numbers of another type were 255 times as large, or as small, and nothing was said.
train("asis", "data: {path: pixels, normalize: none}\nmodel: {hidden: [8]}\nepochs: 5\nbatch: 20\n")
os.mkdir("counts")
np.save("counts/x.npy", shades.reshape(200, -1).astype("float32"))
np.save("counts/y.npy", (shades[:, 0, 0, 0] > 127).astype("int64"))
train("counts", "data: {path: counts, normalize: none}\nmodel: {hidden: [8]}\noptim: {lr: 0.0001}\nepochs: 5\nbatch: 20\n")
np.save("flat-bytes.npy", shades[:5].reshape(5, -1))
np.save("flat.npy", shades[:5].reshape(5, -1).astype("float64"))
np.save("raw.npy", shades[:5])
for model, one, other in (("asis", "raw.npy", "bytes.npy"), ("counts", "flat.npy", "flat-bytes.npy")):
    count += 1
    for path in (one, other):
        run("predict", model + "/model.safetensors", "--data", path, "--out", "of-" + path, "--quiet")
    far = np.abs(np.load("of-" + one) - np.load("of-" + other)).max()
    if far > 1e-6 * np.abs(np.load("of-" + one)).max():
        failures.append(f"{one} and {other} hold the same numbers, and the answers of {model} differ by {far}")
np.save("other.npy", np.zeros((2, 2, 6, 7), "uint8"))
pair("images of another size in an array", "shades", "other.npy", refusal="samples of 84 numbers, but the model takes 72")

# A named set has numbers in its files and words for its classes.
os.makedirs("fashion")
pixels = np.random.default_rng(2).integers(0, 60, (200, 28, 28)).astype("uint8")
labels = np.arange(200) % 10
for i in range(200):
    pixels[i, 2 * labels[i]: 2 * labels[i] + 4] += 180
for part in ("train", "t10k"):
    with open(f"fashion/{part}-images-idx3-ubyte", "wb") as f:
        f.write(struct.pack(">IIII", 2051, 200, 28, 28) + pixels.tobytes())
    with open(f"fashion/{part}-labels-idx1-ubyte", "wb") as f:
        f.write(struct.pack(">II", 2049, 200) + labels.astype("uint8").tobytes())
train("clothes", "data: {name: fashion-mnist, path: fashion}\nmodel: {hidden: [32]}\noptim: {lr: 0.05}\nepochs: 30\nbatch: 20\n")
code, out, err = run("eval", "clothes/model.safetensors", "--json")
count += 1
if code != 0 or json.loads(out)["accuracy"] < 0.99:
    failures.append(f"a named set's own data: exit {code}: {(out + err)[:300]}")
judged("a named set's files given as a path", "clothes", "fashion", 1.0)

# ---- Pictures -------------------------------------------------------------------------------------------------------
def png(path, rgb):
    h, w, _ = rgb.shape
    raw = b"".join(b"\0" + rgb[i].tobytes() for i in range(h))
    def chunk(tag, data):
        return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


COLOUR = {"blue": (20, 20, 230), "green": (20, 220, 20), "red": (230, 20, 20)}
def picture(colour, size=12):
    noise = np.random.default_rng(random.randrange(1 << 30)).integers(-15, 15, (size, size, 3))
    return np.clip(np.array(COLOUR[colour]) + noise, 0, 255).astype("uint8")


for colour in COLOUR:
    os.makedirs("album/" + colour)
    for i in range(30):
        png(f"album/{colour}/{i}.png", picture(colour))
train("seen", "data: {path: album}\nmodel: {hidden: [16]}\noptim: {lr: 0.05}\nepochs: 20\nbatch: 16\n")
os.makedirs("later/red")
os.makedirs("later/green")
for i in range(3):
    png(f"later/red/{i}.png", picture("red"))
    png(f"later/green/{i}.png", picture("green", 24))
pair("pictures of some classes, some larger", "seen", "later", ["green"] * 3 + ["red"] * 3)
judged("pictures of some classes, judged", "seen", "later", 1.0)
os.makedirs("mauve/mauve")
png("mauve/mauve/0.png", picture("red"))
judged("a class of pictures never seen", "seen", "mauve", refusal="folder mauve is not one of the model's 3 classes")
os.mkdir("loose")
png("loose/a.png", picture("blue"))
png("loose/b.png", picture("red"))
pair("loose pictures", "seen", "loose", ["blue", "red"])
pair("one picture", "seen", "loose/a.png", ["blue"])
names = [r[0] for r in predictions(run("predict", "seen/model.safetensors", "--data", "loose")[1])]
if names != ["file", "a.png", "b.png"]:
    failures.append(f"loose pictures are not told by their files: {names}")
with open("loose/c.gif", "wb") as f:
    f.write(b"GIF89a")
pair("a picture that cannot be read is not passed over in silence", "seen", "loose", ["blue", "red"], says="pictures like c.gif")
pair("a GIF alone", "seen", "loose/c.gif", refusal="neither a JPEG nor a PNG")
judged("loose pictures, judged", "seen", "loose", refusal="is in no class folder")
os.makedirs("part/red")
os.makedirs("part/amber")
png("part/red/0.png", picture("red"))
png("part/amber/0.png", picture("green"))
pair("a folder that is not a class, only asked about", "seen", "part", ["green", "red"], says="folder amber is not one of the model's classes")


# In a table of one column a line without anything may be a gap: rows after it had the numbers of others.
write("line.csv", table(["x", "y"], [(x, 2 * x) for x, _ in prices(200)]))
train("line", "data: {path: line.csv}\nmodel: {hidden: [8]}\noptim: {lr: 0.01}\nepochs: 5\nbatch: 20\n")
pair("one column, a line without anything", "line", "-", refusal="line 3 is empty", given=b"x\n0.25\n\n0.5\n")
rc, out, err = run("predict", "line/model.safetensors", "--data", "-", given=b"x\n0.25\nNA\n0.5\n")
sure = [float(row[1]) for row in predictions(out)[1:]]
pair("one column, a gap in quotes", "line", "-", sure, given=b'x\n0.25\n""\n0.5\n\n \r\n', close=1e-6)
pair("one column, lines without anything around it", "line", "-", sure[:1], given=b"\n\nx\n0.25\n\n\n", close=1e-6)
pair("one column, no header", "line", "-", refusal="line 2 is empty", given=b"0.25\n\n0.5\n")

# ---- Sequences -----------------------------------------------------------------------------------------------------
# Arrays [n, length, 1] without length.npy were read as images 1 pixel wide, and scaled as such.
def sequences(folder, x, y=None):
    os.makedirs(folder)
    np.save(folder + "/x.npy", x)
    if y is not None:
        np.save(folder + "/y.npy", y)


for numbers in (1, 3):
    name = f"sign{numbers}"
    x = np.random.default_rng(numbers).normal(size=(200, 6, numbers)).astype("f4")
    x[:, :, 0] += np.sign(x[:, -1:, 0])
    sequences(name + "-data", x, (x[:, -1, 0] > 0).astype(int))
    train(name, f"data: {{path: {name}-data, format: sequences, split: 0}}\n"
          "model: {name: rnn, width: 16, train: all}\noptim: {lr: 0.01}\nepochs: 10\nbatch: 20\n")
    whole = run("predict", name + "/model.safetensors", "--probabilities")[1]
    sure = [row[1] for row in predictions(whole)[1:]]
    count += 1
    if run("predict", name + "/model.safetensors", "--data", name + "-data", "--probabilities")[1] != whole:
        failures.append(f"sequences of {numbers}: shown the data that it was trained on, the model answers otherwise")
    sequences(name + "-new", x)
    pair(f"sequences of {numbers}, no labels", name, name + "-new", sure, says="only its shape was compared")
    pair(f"sequences of {numbers}, one file", name, name + "-new/x.npy", sure)
    # What follows a sequence does not change what is said of it: shorter ones alone, and as parts of longer ones.
    padded = x.copy()
    padded[:, 4:] = 7
    sequences(name + "-padded", padded)
    np.save(name + "-padded/length.npy", np.full(200, 4))
    rc, out, err = run("predict", name + "/model.safetensors", "--data", name + "-padded")
    ends = [row[1] for row in predictions(out)[1:]]
    pair(f"sequences of {numbers}, x.npy beside their lengths", name, name + "-padded/x.npy", ends)
    sequences(name + "-short", x[:, :4])
    pair(f"sequences of {numbers}, all shorter", name, name + "-short", ends)
    pair(f"sequences of {numbers}, all shorter, one file", name, name + "-short/x.npy", ends)
    sequences(name + "-long", np.concatenate([x, x], 1))
    pair(f"sequences of {numbers}, longer", name, name + "-long", refusal="at most 6 positions", code=2)
    sequences(name + "-wide", np.concatenate([x, x], 2)[:, :4])
    pair(f"sequences of {numbers}, wider", name, name + "-wide", refusal=f"has up to 4 of {2 * numbers}", code=2)


def album(what, moves, yes=None, refusal=None, says=""):
    """The album, changed; `yes`: what `data info` says of it."""
    global count
    count += 1
    shutil.rmtree("changed", ignore_errors=True)
    shutil.copytree("album", "changed")
    for old, new in moves:
        os.makedirs(os.path.dirname("changed/" + new), exist_ok=True)
        if old:
            shutil.copy("album/" + old, "changed/" + new)
    rc, out, err = run("data", "info", "changed")
    out = " ".join(out.split())
    if (rc != 0 or yes not in out or says not in err) if yes else (rc != 3 or refusal not in err):
        failures.append(f"{what}: exit {rc}: {(out + err)[:400]}")


# A folder in a folder of pictures was a fourth class; pictures of validation/ were trained on.
album("a folder in a class folder", [("red/1.png", "red/more/1.png")], refusal="folder red/more has pictures and is in a folder")
album("validation/ is a test part", [("red/1.png", "validation/red/1.png"), ("blue/1.png", "Test/blue/1.png")],
      yes="90 for training, 2 for testing")
album("an empty class folder", [(None, "void/")], yes="classes 3,", says="folder void holds no picture")
album("hidden files and folders", [("red/1.png", "red/._1.png"), ("red/1.png", ".git/1.png")], yes="72 for training, 18 for testing")

print(f"{count} pairs: {count - len(failures)} answered as they must be")
for f in failures:
    print("  " + f)
sys.exit(1 if failures else 0)
