"""What the pages show: snippets.py SOURCE c FOLDER writes each C program of a page into FOLDER; snippets.py SOURCE commands
HELP.json checks every `tessera ...` and `./run ...` that a page shows against the program's own tables (tessera help --json)."""
import json
import os
import re
import sys

source, what, argument = sys.argv[1:4]
pages = ["README.md", "CONTRIBUTING.md"] + sorted(
    os.path.join(folder, name)
    for top in ("docs",)
    for folder, _, names in os.walk(os.path.join(source, top))
    for name in names
    if name.endswith(".md")
)


def blocks(text):
    """(first line's number, language, lines) of each fenced block; then lines that are indented by four and those between
    backquotes, one each."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        fence = re.match(r"^```(\w*)$", lines[at])
        if fence:
            end = lines.index("```", at + 1)
            yield at + 2, fence.group(1) or "text", lines[at + 1 : end]
            at = end
        elif lines[at].startswith("    "):
            yield at + 1, "text", [lines[at].strip()]
        else:
            for inline in re.findall(r"`((?:mpirun|tessera|\./run) [^`]*)`", lines[at]):
                yield at + 1, "text", [inline]
        at += 1


def programs(folder):
    count = 0
    for page in pages:
        for number, language, lines in blocks(open(os.path.join(source, page)).read()):
            if language != "c" or page.endswith("docs/extending.md"):  # that one's are files: tests/cli/extending.sh builds them
                continue
            code = "\n".join(lines) + "\n"
            assert "int main(" in code, f"{page}:{number}: a C snippet is a whole program, so that it can be compiled"
            name = re.sub(r"\W", "_", os.path.relpath(os.path.join(source, page), source))
            with open(os.path.join(folder, f"{count:02d}-{name}-{number}.c"), "w") as out:
                out.write(code)
            count += 1
    assert count >= 2, "there are C programs in the pages"


def check_command(where, line, commands, wrong):
    """One line that calls the program: its command and options are known."""
    words = re.split(r"\s{2,}|\s#", line)[0].replace("[", " ").replace("]", " ").replace("|", " ").split()
    start = words.index("tessera") + 1
    if start >= len(words) or not re.match(r"^[a-z]+$", words[start]) or words[start] not in commands:
        if start < len(words) and re.match(r"^[a-z]+$", words[start]):
            wrong.append(f"{where}: there is no command {words[start]}: {line}")
        return 0
    known = commands[words[start]]
    for word in words[start + 1 :]:
        if word in ("&&", ";", ">"):
            break
        option = re.match(r"^(--[a-z][a-z-]*|-[a-zA-Z]$)", word)
        if option and option.group(1) not in known:
            wrong.append(f"{where}: tessera {words[start]} has no {option.group(1)}: {line}")
    return 1


def check_commands(path):
    table = json.load(open(path))
    commands = {
        c["name"]: {"--" + o["name"] for o in c["options"]} | {"-" + o["letter"] for o in c["options"] if "letter" in o}
        for c in table["commands"]
    }
    jobs = set(re.findall(r"^([a-z]+)(?: \|[^)]*)?\) ", open(os.path.join(source, "run")).read(), re.M))
    wrong, checked = [], 0
    for page in pages:
        for number, language, lines in blocks(open(os.path.join(source, page)).read()):
            for k, line in enumerate(lines if language in ("text", "sh") else []):
                where = f"{page}:{number + k}"
                if re.match(r"^(mpirun .* )?(?:\S*/)?tessera ", line.strip()):
                    checked += check_command(where, re.sub(r"\S*/tessera ", "tessera ", line.strip()), commands, wrong)
                job = re.match(r"^(?:[A-Z_]+=\S+ )?\./run (\w+)", line.strip())
                if job and job.group(1) not in jobs:
                    wrong.append(f"{where}: ./run has no {job.group(1)}")
    assert not wrong, "\n".join(wrong)
    assert checked > 60, checked
    print(f"snippets: {checked} commands of the pages are ones that the program has")


programs(argument) if what == "c" else check_commands(argument)
