"""Follows docs/extending.md literally: extending.py PAGE TREE WORK.

A block behind "New file `PATH`:" is that file: under src/ it goes to TREE, others (run files) go to WORK. A diff has no
line numbers: what it shows of a file must be there exactly once. A block without language holds commands, which are
written to WORK/commands, one a line. How many files of src/ a section touches must be what its heading says. Prints a
line for each section: its files, and the lines that it adds.
"""
import os
import re
import sys

page, tree, work = sys.argv[1:4]


def sections(text):
    """(title, files it claims, [(path or "", language, lines)]) of each heading with a number of files."""
    for part in re.split(r"^## ", text, flags=re.M)[1:]:
        title, body = part.split("\n", 1)
        claim = re.match(r"(.*): (\d+) files$", title)
        assert claim, f"{page}: the heading '{title}' does not say how many files it takes"
        found = re.findall(r"(?:^New file `([^`]*)`:\n)?^```(\w*)\n(.*?)^```$", body, flags=re.M | re.S)
        yield claim[1], int(claim[2]), [(path, language, lines.split("\n")[:-1]) for path, language, lines in found]


def write(path, lines):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    assert not os.path.exists(path), f"{path} is there already"
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")


def patch(path, hunk):
    """Replaces what the hunk shows of the file by what it makes of it; the lines that are added."""
    before = "\n".join(line[1:] for line in hunk if not line.startswith("+")) + "\n"
    after = "\n".join(line[1:] for line in hunk if not line.startswith("-")) + "\n"
    text = open(path).read()
    assert text.count(before) == 1, f"{page}: {path} has {text.count(before)} times\n{before}"
    with open(path, "w") as out:
        out.write(text.replace(before, after))
    return sum(line.startswith("+") for line in hunk)


def apply(lines):
    """The files of a diff: {path: lines added}."""
    added = {}
    for part in "\n".join(lines).split("--- a/")[1:]:
        path, rest = part.split("\n", 1)
        assert rest.startswith(f"+++ b/{path}\n@@\n"), f"{page}: the diff of {path} does not begin as one"
        hunk = rest.split("\n@@\n", 1)[1].rstrip("\n").split("\n")
        added[path] = patch(os.path.join(tree, path), hunk)
    return added


def follow(title, claim, found):
    touched, commands = {}, []
    for path, language, lines in found:
        if path.startswith("src/"):
            write(os.path.join(tree, path), lines)
            touched[path] = len(lines)
        elif path:
            write(os.path.join(work, path), lines)
        elif language == "diff":
            touched.update(apply(lines))
        elif not language:
            commands += lines
    assert len(touched) == claim, f"{page}: {title} takes {len(touched)} files, not {claim}: {', '.join(touched)}"
    print(f"{title}: {claim} files, {sum(touched.values())} lines: " + ", ".join(f"{p} +{n}" for p, n in touched.items()))
    return commands


if __name__ == "__main__":
    with open(os.path.join(work, "commands"), "w") as all_of_them:
        for section in sections(open(page).read()):
            commands = follow(*section)
            assert commands, f"{page}: {section[0]} is not tried"
            all_of_them.writelines(command + "\n" for command in commands)
