"""Runs what a page shows, block by block, in one folder.

    python3 pages.py PAGE...

    ```yaml     that begins with `# NAME.yaml` is written as that file
    ```sh       is run by bash, which stops at the first failure
    ```         right after it is a part of what it says: these lines, in this order. Numbers may be others, since times are the
                machine's; percentages may differ by 3 points, since another processor has kernels that round otherwise
    ```python   is run in an interpreter of its own; its last comment is what it prints, if that has percentages
    ![](pictures/a.svg)   the commands before it have made it in this folder, with the words that the page's own has

TESSERA_PICTURES=yes puts the pictures beside the page as the commands have made them now.
"""
import os
import re
import shutil
import subprocess
import sys

NUMBER = r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?"


def parts(path):
    """(line, kind, text) of each block and each picture, in order."""
    text = open(path, encoding="utf-8").read()
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$|^!\[[^]]*\]\((pictures/[^)]+\.svg)\)$", text, re.M | re.S):
        kind, block, picture = match.groups()
        yield text[:match.start()].count("\n") + 1, "picture" if picture else kind, picture or block


def importable(code):
    """The library that a block needs and this machine lacks, or None."""
    for name in re.findall(r"^(?:import|from) ([\w, .]+?)(?: import .*)?$", code, re.M):
        for one in name.split(","):
            top = one.strip().partition(".")[0]
            if top in ("torch", "sklearn", "pandas") and subprocess.run(
                    [sys.executable, "-c", f"import {top}"], capture_output=True, check=False).returncode:
                return top
    return None


def far(promised, said):
    """Do percentages differ by more than 3 points?"""
    want, got = (re.findall(r"([\d.]+) ?%", text) for text in (promised, said))
    return len(want) != len(got) or any(abs(float(a) - float(b)) > 3 for a, b in zip(want, got))


def words(line):
    return re.sub(r"\s+", " ", re.sub(NUMBER, "N", line)).strip()


def output_differs(shown, said):
    """The first shown line that was not said behind the one before it, or None."""
    rest = iter(said)
    for line in shown:
        if not any(words(line) == words(other) and not far(line, other) for other in rest):
            return line
    return None


class Page:
    """A page that is being run, and what its last block of commands said."""

    def __init__(self, path):
        self.path, self.said = path, None

    def shell(self, code):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, check=False)
        self.said = done.stdout.splitlines()
        return f"exit {done.returncode}\n{done.stdout}" if done.returncode else None

    def python(self, code):
        done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True, check=False)
        promised = re.findall(r"^# (.*)$", code, re.M)
        if done.returncode:
            return done.stderr
        if promised and "%" in promised[-1] and far(promised[-1], done.stdout.strip().splitlines()[-1]):
            return "it printed " + done.stdout.strip()
        print(f"{self.path}: {(done.stdout.strip().splitlines() or ['ok'])[-1][:140]}")
        return None

    def yaml(self, text):
        name = re.match(r"# ([\w-]+\.yaml)\n", text)
        if name:
            with open(name[1], "w", encoding="utf-8") as out:
                out.write(text)

    def output(self, text):
        said, self.said = self.said, None  # further blocks are no output of it
        missing = output_differs(text.splitlines(), said) if said is not None else None
        return missing and "not said: %s\nbut:\n%s" % (missing, "\n".join(said))

    def picture(self, name):
        """The page's own is what the commands make: they differ in numbers alone."""
        if not os.path.exists(name):
            return f"no command has made {name}"
        beside = os.path.join(os.path.dirname(self.path), name)
        if os.environ.get("TESSERA_PICTURES"):
            os.makedirs(os.path.dirname(beside), exist_ok=True)
            shutil.copy(name, beside)
        texts = [{words(t) for t in re.findall(r">([^<>\n]+)</text>", open(path, encoding="utf-8").read())} for path in (beside, name)]
        return None if texts[0] == texts[1] else f"{name} has other words than {beside}: {texts[0] ^ texts[1]}"

    def run(self, kind, text):
        does = {"sh": self.shell, "python": self.python, "yaml": self.yaml, "": self.output, "picture": self.picture}.get(kind)
        return does(text) if does else None


failed = 0
for path in sys.argv[1:]:
    page = Page(path)
    for line, kind, text in parts(path):
        lack = importable(text) if kind == "python" else None
        if lack:
            print(f"{path}:{line}: skipped, {lack} is not installed")
            continue
        wrong = page.run(kind, text)
        if wrong:
            failed += 1
            print(f"{path}:{line}: {wrong}")
            break
sys.exit(failed > 0)
