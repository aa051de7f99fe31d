"""Checkpoints that want to harm: code, recursion, claims that take memory, damage.

    hostile_pickles.py PROGRAM FOLDER [CORPUS]

Makes each in FOLDER and gives it to `PROGRAM import`: exit 3, one sentence with the words expected,
nothing executed, no file left, memory within 128 MB and three times the file. With CORPUS it only
writes the pickles there, for the fuzz target.
"""
import io
import os
import pickle
import struct
import sys
import zipfile

CANARY = "executed"


# ---- Pickles by hand ----------------------------------------------------------------------------

def text(s):
    s = s if isinstance(s, bytes) else s.encode()
    return b"X" + struct.pack("<I", len(s)) + s


def integer(n):
    if -(1 << 31) <= n < 1 << 31:
        return b"J" + struct.pack("<i", n)
    return b"\x8a\x08" + struct.pack("<q", n)


def name(module, what):
    return b"c" + module.encode() + b"\n" + what.encode() + b"\n"


def numbers(values):
    return b"(" + b"".join(v if isinstance(v, bytes) else integer(v) for v in values) + b"t"


def storage(key="0", count=4, kind="FloatStorage", word="storage"):
    return b"(" + text(word) + name("torch", kind) + text(key) + text("cpu") + integer(count) + b"tQ"


def tensor(shape=(4,), stride=(1,), offset=0, more=b"", **of):
    return (name("torch._utils", "_rebuild_tensor_v2") + b"(" + storage(**of) + integer(offset) + numbers(shape)
            + numbers(stride) + b"\x89" + name("collections", "OrderedDict") + b")R" + more + b"tR")


def whole(value, proto=2):
    return b"\x80" + bytes([proto]) + value + b"."


def state(**tensors):
    return whole(b"}(" + b"".join(text(k) + v for k, v in tensors.items()) + b"u")


def call(module, what, argument=f"touch {CANARY}"):
    return whole(name(module, what) + text(argument) + b"\x85R")


# ---- Archives -----------------------------------------------------------------------------------

def archive(pkl, members=None, compression=zipfile.ZIP_STORED, order=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as z:
        if pkl is not None:
            z.writestr("archive/data.pkl", pkl)
        if order:
            z.writestr("archive/byteorder", order)
        for key, blob in (members if members is not None else {"0": bytes(16)}).items():
            z.writestr("archive/data/" + key, blob)
        z.writestr("archive/version", "3\n")
    return out.getvalue()


class Run:
    def __reduce__(self):
        return os.system, (f"touch {CANARY}",)


def twice():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("a/data.pkl", state(w=tensor()))
        z.writestr("b/data.pkl", call("os", "system"))
    return out.getvalue()


def pickles():
    """name: (pickle, words of the refusal)"""
    code = "nothing here is executed"
    p = {}
    for module, what in [("os", "system"), ("posix", "system"), ("nt", "system"), ("builtins", "eval"), ("builtins", "exec"),
                         ("__builtin__", "eval"), ("builtins", "__import__"), ("builtins", "getattr"), ("subprocess", "Popen"),
                         ("subprocess", "check_output"), ("runpy", "_run_code"), ("pickle", "loads"), ("webbrowser", "open"),
                         ("torch", "load"), ("torch.storage", "_load_from_bytes"), ("torch.hub", "load"),
                         ("torch.nn.modules.conv", "Conv2d"), ("argparse", "Namespace"), ("collections", "OrderedDict.fromkeys"),
                         ("numpy.core.multiarray", "scalar"), ("torch", "ComplexFloatStorage"), ("torch", "QInt8Storage"),
                         ("torch._utils", "_rebuild_sparse_tensor"), ("os\x1b[2J", "sys\x07tem")]:
        p[f"name-{module}.{what}".replace("\x1b", "").replace("\x07", "")] = (call(module, what), code)
    p["reduce"] = (pickle.dumps(Run(), protocol=2), code)
    p["reduce-4"] = (pickle.dumps(Run(), protocol=4), code)
    p["reduce-inside"] = (pickle.dumps({"conv1.weight": Run()}, protocol=2), code)
    p["reduce-0"] = (pickle.dumps(Run(), protocol=0), "nothing here is executed")
    p["stack-global"] = (whole(b"\x8c\x02os\x8c\x06system\x93" + text("touch " + CANARY) + b"\x85R", 4), code)
    p["stack-global-numbers"] = (whole(b"K\x01K\x02\x93", 4), "a name that is not text")
    p["inst"] = (whole(b"(" + text("touch " + CANARY) + b"ios\nsystem\n"), "opcode 0x69")
    p["obj"] = (whole(b"(" + name("collections", "OrderedDict") + b"o"), "opcode 0x6f")
    p["newobj"] = (whole(name("collections", "OrderedDict") + b")\x81"), "opcode 0x81")
    p["newobj-ex"] = (whole(name("collections", "OrderedDict") + b")}\x92", 4), "opcode 0x92")
    p["extension"] = (whole(b"\x82\x01"), "opcode 0x82")
    p["persid-text"] = (whole(b"P0\n"), "opcode 0x50")
    p["bytes"] = (whole(b"C\x02ab"), "opcode 0x43")
    p["call-storage"] = (whole(name("torch", "FloatStorage") + b")R"), "a call of a storage's type")
    p["call-text"] = (whole(text("os.system") + b")R"), "not a known name")
    p["call-no-tuple"] = (whole(name("collections", "OrderedDict") + b"]R"), "not a known name")
    p["ordered-of"] = (whole(name("collections", "OrderedDict") + b"]\x85R"), "made of something")
    p["build-tensor"] = (state(w=tensor() + b"}" + text("__class__") + text("x") + b"sb"), "not a dictionary")
    # Structure.
    p["empty"] = (b"", "it does not end")
    p["only-protocol"] = (b"\x80\x02", "it does not end")
    p["protocol-9"] = (b"\x80\x09}.", "protocol 9")
    p["no-stop"] = (state(w=tensor())[:-1], "it does not end")
    p["cut-text"] = (b"\x80\x02X\x10\0\0\0abc", "a text of 16 bytes")
    p["text-4-gb"] = (b"\x80\x02X\xff\xff\xff\xffabc.", "a text of 4294967295 bytes")
    p["text-8-eb"] = (b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7fabc.", "bytes, but")
    p["frame"] = (b"\x80\x04\x95" + b"\xff" * 8 + b"}.", "a frame of")
    p["long"] = (b"\x80\x02\x8a\xff" + bytes(255) + b".", "a whole number of 255 bytes")
    p["name-no-end"] = (b"\x80\x02cos", "a name without an end")
    p["underflow"] = (whole(b"s"), "too few values")
    p["underflow-reduce"] = (whole(b"R"), "the stack has no value")
    p["no-mark"] = (whole(b"NNt"), "no mark")
    p["places"] = (whole(b"]q\0" + (b"(" + b"h\0" * 1000 + b"e") * 1001), "values in containers")
    p["mark-as-value"] = (whole(b"]((a"), "too few values")
    p["left-over"] = (whole(b"NN}"), "left on the stack")
    p["odd-items"] = (whole(b"}(" + text("a") + b"u"), "a key without a value")
    p["items-of-list"] = (whole(b"](NNu"), "not a dictionary")
    p["items-of-dict"] = (whole(b"}(NNe"), "not a list")
    p["memo-empty"] = (whole(b"h\x07"), "memo 7 is empty")
    p["memo-4-billion"] = (whole(b"}r\xff\xff\xff\xff"), "memo 4294967295")
    p["memo-nothing"] = (whole(b"q\0"), "no value for the memo")
    p["persistent-text"] = (whole(text("storage") + b"Q"), "not a storage")
    # Recursion and bombs.
    p["nested-lists"] = (whole(b"]" * 300000 + b"a" * 299999), "no dictionary of tensors")
    p["nested-tuples"] = (whole(b")" + b"\x85" * 300000), "no dictionary of tensors")
    p["marks"] = (whole(b"(" * 5000000), "a stack of more than")
    p["nones"] = (whole(b"N" * 15000000), "more than")
    p["list-of-itself"] = (whole(b"]q\0h\0a"), "no dictionary of tensors")
    p["dict-of-itself"] = (whole(b"}q\0" + text("state_dict") + b"h\0s"), "is not a tensor")
    laughs = b"".join(b"(" + (b"h" + bytes([i])) * 10 + b"tq" + bytes([i + 1]) for i in range(200))
    p["laughs"] = (whole(b")q\0" + laughs), "left on the stack")
    p["large-pickle"] = (whole(b"N" * (1 << 24)), "are enough for tensors")
    # Dictionaries.
    p["root-list"] = (whole(b"]"), "no dictionary of tensors")
    p["root-tensor"] = (whole(tensor()), "no dictionary of tensors")
    p["no-tensors"] = (whole(b"}"), "there are no tensors")
    p["key-number"] = (whole(b"}K\x01" + tensor() + b"s"), "is not text")
    p["value-number"] = (state(epoch=integer(3)), "epoch is not a tensor")
    p["name-empty"] = (whole(b"}" + text("") + tensor() + b"s"), "no name that can be one")
    p["name-control"] = (whole(b"}" + text("a\x1b[2J") + tensor() + b"s"), "no name that can be one")
    p["name-no-utf8"] = (whole(b"}" + text(b"a\xff\xfe") + tensor() + b"s"), "no name that can be one")
    p["name-nul"] = (whole(b"}" + text(b"a\0b") + tensor() + b"s"), "no name that can be one")
    p["name-long"] = (whole(b"}" + text("a" * 2000) + tensor() + b"s"), "no name that can be one")
    p["name-twice"] = (whole(b"}(" + text("w") + tensor((2,)) + text("w") + tensor((2,), offset=2) + b"u"), "two tensors are named w")
    p["unknown-net"] = (state(w=tensor()), "not a network that is known here")
    # Tensors.
    outside = "elements outside its storage"
    p["shape-huge"] = (state(w=tensor((1 << 40, 1 << 40), (1 << 40, 1))), outside)
    p["shape-overflow"] = (state(w=tensor(((1 << 62), 4), (4, 1))), outside)
    p["shape-max"] = (state(w=tensor(((1 << 63) - 1,), (1,))), outside)
    p["shape-negative"] = (state(w=tensor((-4,), (1,))), "a shape that is not a row")
    p["shape-zero"] = (state(w=tensor((0, 1 << 62, 1 << 62), (1, 1, 1))), "a shape that is not a row")
    p["shape-text"] = (state(w=tensor((text("4"),), (1,))), "a shape that is not a row")
    p["rank-9"] = (state(w=tensor((1,) * 9, (1,) * 9)), "too many dimensions")
    p["rank-1000"] = (state(w=tensor((1,) * 1000, (1,) * 1000)), "too many dimensions")
    p["rank-differs"] = (state(w=tensor((2, 2), (1,))), "not a stride for each")
    p["stride-negative"] = (state(w=tensor((4,), (-1,), 3)), "a stride or an offset")
    p["stride-zero"] = (state(w=tensor((1 << 50,), (0,))), "places that share an element")
    p["stride-huge"] = (state(w=tensor((4,), ((1 << 62),))), outside)
    p["stride-shared"] = (state(w=tensor((2, 2), (1, 1))), "places that share an element")
    p["stride-overlap"] = (state(w=tensor((3, 2), (1, 2), count=8)), "places that share an element")
    p["offset-negative"] = (state(w=tensor(offset=-1)), "a stride or an offset")
    p["offset-outside"] = (state(w=tensor((1,), offset=4)), outside)
    p["offset-huge"] = (state(w=tensor((1,), offset=(1 << 63) - 1)), outside)
    p["storage-negative"] = (state(w=tensor(count=-4)), "a storage of -4 elements")
    p["storage-huge"] = (state(w=tensor((1 << 58,), count=1 << 58)), "too few for")
    p["storage-short"] = (state(w=tensor((5,), count=5)), "too few for 5 numbers")
    p["storage-type"] = (state(w=tensor(kind="DoubleStorage")), "too few for 4 numbers of type F64")
    p["storage-missing"] = (state(w=tensor(key="7")), "no member data/7")
    p["storage-outside"] = (state(w=tensor(key="../../../etc/passwd")), "no member")
    p["storage-nul"] = (state(w=tensor(key="0\0x")), "not a storage")
    p["storage-word"] = (state(w=tensor(word="module")), "not a storage")
    p["overlap"] = (state(a=tensor((3,)), b=tensor((3,), offset=1)), "share memory")
    p["overlap-all"] = (state(**{f"w{i}": tensor() for i in range(5000)}), "share memory")
    p["tensor-no-storage"] = (whole(b"}" + text("w") + name("torch._utils", "_rebuild_tensor_v2") + b"(NNNNtRs"), "without storage")
    # PyTorch 2 says so of a tensor whose numbers are to be read with the other sign.
    p["tensor-negated"] = (state(w=tensor(more=b"}" + text("neg") + b"\x88s")), "not its numbers as they are")
    p["tensor-more"] = (state(w=tensor(more=b"NN")), "not its numbers as they are")
    p["parameter-of-none"] = (whole(name("torch._utils", "_rebuild_parameter") + b"(N\x89NtR"), "without a tensor")
    return p


def files():
    for key, (pkl, words) in pickles().items():
        yield key, archive(pkl), words
    good = archive(state(w=tensor()))
    yield "zip-cut-half", good[: len(good) // 2], ""
    yield "zip-cut-end", good[:-10], ""
    yield "zip-cut-begin", good[:4], ""
    yield "zip-no-pickle", archive(None), "a zip without data.pkl"
    yield "zip-empty", b"PK\5\6" + bytes(18), ""
    yield "zip-twice", twice(), "appears twice"
    yield "zip-big-endian", archive(state(w=tensor()), order="big"), "not little-endian"
    yield "zip-no-storage", archive(state(w=tensor()), {}), "no member data/0"
    yield "zip-bomb", archive(state(w=tensor()), {"0": bytes(300 << 20)}, zipfile.ZIP_DEFLATED), "unpacks to more"
    broken = bytearray(good)
    broken[good.index(b"_rebuild_tensor_v2") + 3] ^= 1
    yield "zip-checksum", bytes(broken), ""
    yield "legacy", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.", "save it again"
    yield "bare-pickle", pickle.dumps({"w": Run()}, protocol=4), "save it again"
    yield "no-file-of-ours", b"hello, world", ""


def judge(program, folder, key, blob, words):
    path, out = f"{folder}/{key.replace('/', '_')}.pth", folder + "/model"
    open(path, "wb").write(blob)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.dup2(write, 2)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(program, [program, "import", path, "--out", out])
    os.close(write)
    said = os.fdopen(read, "rb").read()
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    wrong = []
    if code != 3:
        wrong.append(f"exit {code}")
    if words.encode() not in said or said.count(b"\n") != 1 or any(c < 32 and c != 10 or c == 127 for c in said):
        wrong.append(f"not one line with '{words}'")
    if usage.ru_maxrss * 1024 > (128 << 20) + 3 * len(blob):
        wrong.append(f"{usage.ru_maxrss >> 10} MB for {len(blob) >> 10} kB")
    if os.path.exists(out) or os.path.exists(f"{folder}/{CANARY}"):
        wrong.append("a file is there")
    os.unlink(path)
    if wrong:
        print(f"FAILED: {key}: {', '.join(wrong)}; it said {said[:400]!r}")
    return not wrong, usage.ru_maxrss


def main():
    if len(sys.argv) > 3:
        for key, (pkl, _) in pickles().items():
            if len(pkl) < 4096:
                open(f"{sys.argv[3]}/{key.replace('/', '_')}", "wb").write(pkl)
        return 0
    results = [judge(sys.argv[1], sys.argv[2], *each) for each in files()]
    print(f"{len(results)} hostile files refused in at most {max(r for _, r in results) >> 10} MB")
    return 0 if all(ok for ok, _ in results) and len(results) >= 60 else 1


sys.exit(main())
