"""Compares docs/formats.md with what the program wrote: formats.py FORMATS.MD FOLDER

FOLDER has a file for each kind of document, named like its section ("eval --json"), one JSON document per line.
Every field must stand in the table of its section with its type, and every field of a table must have been written
by one of the documents. `a.b` is field b of object a, `a[]` each element of the list a, `<name>` any name; a row
whose type is "as `section`" (or "as above") says that a has the fields of that section (of its own), and with "..."
behind the name that the document itself has them.
"""
import json
import os
import re
import sys

# What small runs do not bring about: section -> fields (None: all of it), with the reason.
UNWRITTEN = {
    "event lost": None,  # a rank must die: tests/cli/cluster.sh
    "gradients-*.json, patterns-*.json": None,  # needs the data set SGEMM
    "reproduce --json": {"claims[].parts[].part", "claims[].parts[].why"},  # of claims about several things, unmeasured ones
    "predictions": {"predictions[].file"},  # of pictures in a folder
    "evaluation.json": {"confusions[].examples[].file"},  # likewise
    "grid.json": {"curve_every"},  # only reproductions ask for it
}
WITH_RANKS = {  # the same where there is no mpirun
    "event times": None,
    "train --json": {"bytes_collected"},
    "report --json": {"runs[].compute", "runs[].send", "runs[].wait"},
}
TYPES = {bool: "bool", int: "int", float: "real", str: "text", type(None): "null", dict: "object"}


class Row:
    """A name and what stands behind it: words for its type, or another section."""

    def __init__(self, name, types, inlined):
        self.name, self.types, self.inlined, self.written = name, types, inlined, False
        reference = re.fullmatch(r"as (?:(above)|`([^`]+)`)", types)
        self.reference = reference and (reference[1] or reference[2])
        self.pattern = ".+".join(re.escape(part) for part in re.split(r"<[^>]*>", name))

    def allows(self, value):
        """A real number that is not finite, or not known, is null."""
        kind = TYPES[type(value)]
        return self.types == "any" or kind in self.types.split(" or ") or (kind == "null" and self.types == "real")


def rows_of(cells, typed):
    """`a`, `b` | int, real | ... has a type for each name, or one for all; `a` ... | as `s` | the fields of s."""
    names = re.findall(r"`([^`]+)`", cells[0])
    types = cells[1].split(", ") if typed else ["any"]
    types = types if len(types) == len(names) else types[:1] * len(names)
    return [Row(name, kind, "..." in cells[0]) for name, kind in zip(names, types)]


def read_sections(path):
    """Titles of the third level -> rows of their tables. A column "type" says types as JSON has them."""
    sections, title, typed = {}, None, False
    for line in open(path):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("#"):
            title = line[4:].strip() if line.startswith("### ") else None
        elif title and line.startswith("|") and cells[0].startswith("`"):
            sections.setdefault(title, []).extend(rows_of(cells, typed))
        elif line.startswith("|") and not cells[0].startswith("-"):
            typed = cells[1] == "type"
    return sections


def leaves(value, path=""):
    """(path, value) of every field; of an empty list or object nothing is known but its name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        if not value:
            yield path + "[]", ...
        for inner in value:
            yield from leaves(inner, path + "[]")
    else:
        yield path, value


def find(sections, title, path):
    """The row that stands for a field, or None; rows that led there are written, too."""
    for row in sections[title]:
        found = None
        if not row.reference:
            found = row if re.fullmatch(row.pattern, path) else None
        elif row.inlined:
            found = find(sections, row.reference, path)
        elif path.startswith(row.name + "."):
            there = title if row.reference == "above" else row.reference
            found = find(sections, there, path[len(row.name) + 1:])
        if found:
            row.written = True
            return found
    return None


def has_inside(sections, title, path):
    """Does an empty list have a row for its elements or their fields?"""
    for row in sections[title]:
        there = title if row.reference == "above" else row.reference
        if row.name.startswith(path) or (row.inlined and has_inside(sections, there, path)):
            return True
        if there and path.startswith(row.name + ".") and has_inside(sections, there, path[len(row.name) + 1:]):
            return True
    return False


def type_word(value):
    return "type" if value is ... else TYPES[type(value)]


def check_document(sections, title, document, complaints, empty):
    for path, value in leaves(document):
        if path == "format" and title != "Model files: metadata":
            continue
        row = find(sections, title, path)
        if value is ...:
            empty.add((title, path))
        if not row and not (value is ... and has_inside(sections, title, path)):
            complaints[title, path] = f"| `{path}` | {type_word(value)} | meaning |"
        elif row and value is not ... and not row.allows(value):
            complaints[title, path] = f"`{path}` is {type_word(value)} here, not {row.types}"


def missing(sections, folder, page):
    """Fields that the page does not have, and where each belongs. Also the lists that had no element."""
    complaints, empty = {}, set()
    for title in sorted(os.listdir(folder)):
        if title not in sections:
            complaints[title, ""] = f'add the section "### {title}" with a table | field | type | meaning |'
            continue
        for line in open(f"{folder}/{title}"):
            check_document(sections, title, json.loads(line), complaints, empty)
    for (title, _), words in complaints.items():
        print(f'{page}, section "{title}": ' + ("add the row: " if words.startswith("|") else "") + words)
    return len(complaints), empty


def excused(title, row, folder):
    lists = [UNWRITTEN] if os.path.exists(f"{folder}/event times") else [UNWRITTEN, WITH_RANKS]
    return any(title in names and (names[title] is None or row.name in names[title]) for names in lists)


def silent(sections, folder, page, empty):
    """Fields that nothing wrote; of a list that never had an element nothing is known."""
    count = 0
    for title, rows in sections.items():
        written = [row.name for row in rows if row.written]
        undecided = [path for t, path in empty if t == title and not any(n.startswith(path) for n in written)]
        for row in rows:
            if row.written or excused(title, row, folder) or any(row.name.startswith(path) for path in undecided):
                continue
            print(f'{page}, section "{title}": nothing wrote `{row.name}`: remove the row, or let tests/cli/formats.sh '
                  "bring it about")
            count += 1
    return count


def main(page, folder):
    sections = read_sections(page)
    lacking, empty = missing(sections, folder, page)
    idle = silent(sections, folder, page, empty)
    fields = sum(len(rows) for rows in sections.values())
    print(f"{fields} fields in {len(sections)} tables: {lacking} missing or wrong, {idle} never written")
    return 1 if lacking or idle else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
