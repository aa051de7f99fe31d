"""The table of loft_table.sh from its folders: loft_table.py OUT EPOCHS FINE."""
import glob
import json
import os
import re
import statistics
import sys


def results(out):
    """{(method, ratio or None): [(seed, result), ...]} of every run that is done."""
    found = {}
    for path in sorted(glob.glob(out + "/*/result.json")):
        name = re.fullmatch(r"(dense|[a-z_]+-\d)-(\d+)(?:-(0\.\d+))?", os.path.basename(os.path.dirname(path)))
        if name and os.path.getsize(path):
            found.setdefault((name[1], name[3]), []).append((int(name[2]), json.load(open(path))))
    return found


def weights(path):
    """The tensors of a model file as they lie in it: all but the header, which says how the run was told."""
    with open(path, "rb") as f:
        data = f.read()
    return data[8 + int.from_bytes(data[:8], "little"):]


def twins(out, found):
    """Says of the seeds that both numbers of GPipe's stages were run with whether their weights are equal."""
    for seed in sorted({s for s, _ in found.get(("gpipe-2", None), [])} & {s for s, _ in found.get(("gpipe-4", None), [])}):
        two, four = (weights(f"{out}/gpipe-{n}-{seed}/model.safetensors") for n in (2, 4))
        print(f"gpipe, seed {seed}: the weights after 2 and 4 stages are {'equal to the bit' if two == four else 'NOT EQUAL'} ({len(two)} bytes)")


def mean(rows, key="accuracy", scale=100, digits=2):
    values = [r[key] * scale for _, r in rows]
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.{digits}f}{spread}"


def main(out, epochs, fine):
    found = results(out)
    dense = found.get(("dense", None), [])
    print(f"dense, {epochs} + {fine} epochs: {mean(dense)} %, {mean(dense, 'seconds', 1, 0)} s, seeds {[s for s, _ in dense]}")
    print()
    print("| method | seeds | pretrained | ticket 50 % | ticket 80 % | to dense (80 %, 50 %) | traffic | against LoFT | pretraining |")
    print("|---|---|---|---|---|---|---|---|---|")
    for method in ("gpipe-2", "local_sgd-2", "loft-2", "gpipe-4", "local_sgd-4", "loft-4"):
        rows = found.get((method, None), [])
        if not rows:
            continue
        half, fifth = found.get((method, "0.5"), []), found.get((method, "0.8"), [])
        loft = found.get(("loft-" + method[-1], None), [])
        gaps = [statistics.mean(r["accuracy"] for _, r in t) - statistics.mean(r["accuracy"] for _, r in dense) if t and dense else None
                for t in (fifth, half)]
        gap = ", ".join("-" if g is None else f"{100 * g:+.2f}" for g in gaps)
        traffic = rows[0][1]["bytes_total"]
        against = f"{traffic / loft[0][1]['bytes_total']:.2f}x" if loft and not method.startswith("loft") else "-"
        print(f"| {method} | {len(rows)} | {mean(rows)} | {mean(half)} | {mean(fifth)} | {gap} | {traffic / 1e9:.2f} GB | {against} | "
              f"{mean(rows, 'seconds', 1, 0)} s |")
    print()
    twins(out, found)


main(*sys.argv[1:])
