"""race.py FOLDER: time and bytes to the same accuracy, from FOLDER/race-<scheme>.jsonl: a table, and FOLDER/race.svg."""
import json, os, sys

folder = sys.argv[1]
NAMES = {"loft": "LoFT-4", "local_sgd": "local SGD-4", "gpipe": "GPipe-4"}
COLOURS = {"loft": "#0072b2", "local_sgd": "#d55e00", "gpipe": "#009e73"}
TARGETS = [float(x) for x in os.environ.get("TARGETS", "0.5 0.6 0.7 0.75 0.8").split()]

runs, times = {}, {}
for scheme in NAMES:
    lines = [json.loads(x) for x in open(f"{folder}/race-{scheme}.jsonl") if x.endswith("\n")]
    runs[scheme] = [(x["seconds"], x["test_accuracy"], x["bytes_total"]) for x in lines if "event" not in x]
    spent = [x for x in lines if x.get("event") == "times"]
    ranks = [r for x in spent for r in x["ranks"] if r["rank"] > 0]
    whole = sum(r["compute"] + r["send"] + r["wait"] for r in ranks) or 1
    times[scheme] = [100 * sum(r[k] for r in ranks) / whole for k in ("compute", "send", "wait")]

print(f"{'':12}" + "".join(f"{f'to {100 * t:.0f} %':>16}" for t in TARGETS) + f"{'best':>8}  workers' time: compute, send, wait")
for scheme, points in runs.items():
    row = ""
    for target in TARGETS:
        hit = next((p for p in points if p[1] >= target), None)
        row += f"{f'{hit[0]:.0f} s {hit[2] / 1e6:.0f} MB' if hit else '-':>16}"
    best = max(p[1] for p in points)
    print(f"{NAMES[scheme]:12}{row}{best:8.3f}  " + ", ".join(f"{x:.0f} %" for x in times[scheme]))

W, H, L, B, T = 720, 400, 60, 50, 30
most = max(p[0] for points in runs.values() for p in points)
x = lambda s: L + (W - L - 130) * s / most
y = lambda a: H - B - (H - B - T) * a
svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="12">',
       f'<rect width="{W}" height="{H}" fill="white"/>',
       f'<text x="{L}" y="18">Accuracy against time, 100 Mbit/s and 20 ms between two pairs of workers</text>']
for a in (0, 0.2, 0.4, 0.6, 0.8, 1):
    svg.append(f'<line x1="{L}" x2="{W - 130}" y1="{y(a):.1f}" y2="{y(a):.1f}" stroke="#ddd"/>'
               f'<text x="{L - 8}" y="{y(a) + 4:.1f}" text-anchor="end">{100 * a:.0f} %</text>')
for i in range(6):
    s = most * i / 5
    svg.append(f'<text x="{x(s):.1f}" y="{H - B + 18}" text-anchor="middle">{s:.0f}</text>')
svg.append(f'<text x="{(L + W - 130) / 2:.0f}" y="{H - 12}" text-anchor="middle">seconds</text>')
labels = []
for scheme, points in sorted(runs.items(), key=lambda r: -r[1][-1][1]):
    line = " ".join(f"{x(s):.1f},{y(a):.1f}" for s, a, _ in points)
    svg.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[scheme]}" stroke-width="2"/>')
    at = y(points[-1][1]) + 4
    at = max(at, labels[-1] + 15) if labels else at
    labels.append(at)
    svg.append(f'<text x="{W - 122}" y="{at:.1f}" fill="{COLOURS[scheme]}">{NAMES[scheme]}</text>')
open(f"{folder}/race.svg", "w").write("\n".join(svg) + "\n</svg>\n")
