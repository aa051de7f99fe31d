"""Runs every block of Python in a page, each in an interpreter of its own, in one folder.

    python3 pages.py PAGE...
"""
import re
import subprocess
import sys
import textwrap


def blocks(path):
    text = open(path, encoding="utf-8").read()
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        yield text[:match.start()].count("\n") + 2, match[1]


def importable(code):
    """The library that a block needs and this machine lacks, or None."""
    for name in re.findall(r"^(?:import|from) ([\w, .]+?)(?: import .*)?$", code, re.M):
        for one in name.split(","):
            top = one.strip().partition(".")[0]
            if top in ("torch", "sklearn", "pandas") and subprocess.run(
                    [sys.executable, "-c", f"import {top}"], capture_output=True, check=False).returncode:
                return top
    return None


def differs(code, said):
    """The last comment of a block is what it prints. Percentages may differ by 3 points: another processor has other
    kernels, which round otherwise."""
    promised = re.findall(r"^# (.*)$", code, re.M)
    if not promised or "%" not in promised[-1]:
        return False
    want, got = (re.findall(r"([\d.]+)%", text) for text in (promised[-1], said.strip().splitlines()[-1]))
    return len(want) != len(got) or any(abs(float(a) - float(b)) > 3 for a, b in zip(want, got))


failed = 0
for page in sys.argv[1:]:
    for line, code in blocks(page):
        lack = importable(code)
        if lack:
            print(f"{page}:{line}: skipped, {lack} is not installed")
            continue
        done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True, check=False)
        if done.returncode == 0 and differs(code, done.stdout):
            failed += 1
            print(f"{page}:{line}: it printed {done.stdout.strip()}")
        elif done.returncode:
            failed += 1
            print(f"{page}:{line}: failed\n{textwrap.indent(done.stderr, '  ')}")
        else:
            print(f"{page}:{line}: {done.stdout.strip().splitlines()[-1][:140] if done.stdout.strip() else 'ok'}")
sys.exit(failed > 0)
