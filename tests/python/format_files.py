"""What formats.py compares, out of the files of runs: format_files.py SAID FOLDER...

Appends to SAID/<section> a line for each event and evaluation of metrics.jsonl, for the metadata and tensors of model files,
checkpoints and traces, and for the JSON files of the folders.
"""
import glob
import json
import os
import re
import struct
import sys

INSIDE = ("tessera.scaling", "tessera.schema", "tessera.ticket", "tessera.rollbacks", "tessera.state")


def header(path):
    raw = open(path, "rb").read()
    return json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])


def tensors_of(entries):
    """Name -> "F32 [2, 3]"; numbers in names are workers' and layers'."""
    return {name: f"{e['dtype']} {e['shape']}" for name, e in entries.items()}


class Said:
    def __init__(self, folder):
        self.folder = folder

    def say(self, section, document):
        with open(f"{self.folder}/{section}", "a") as out:
            out.write(json.dumps(document) + "\n")

    def metadata(self, section, entries):
        for key in INSIDE:
            if key in entries:
                self.say(key, json.loads(entries[key]))
        self.say(section, entries)

    def tensors(self, path):
        entries = header(path)
        metadata = entries.pop("__metadata__")
        kind = metadata["tessera.format"].split("/")[0]
        if kind == "model":
            self.metadata("Model files: metadata", metadata)
        elif kind == "checkpoint":
            self.metadata("Checkpoints: metadata", metadata)
            self.say("Checkpoints: tensors", tensors_of(entries))
        else:
            name = re.sub(r"\d{6}", "000000", os.path.basename(path))
            self.say(name, tensors_of(entries))

    def metrics(self, path):
        for number, line in enumerate(open(path)):
            line = json.loads(line)
            assert ("format" in line) == (number == 0), f"{path}: only the first line has the format"
            event = line.get("event")
            section = f"event {event}" if event else "evaluation"
            self.say("certificate" if event == "certificate" else section, line)


def main(said, *folders):
    said = Said(said)
    for folder in folders:
        for path in sorted(glob.glob(folder + "/**/*", recursive=True)):
            name = os.path.basename(path)
            if path.endswith(".safetensors"):
                said.tensors(path)
            elif name == "metrics.jsonl":
                said.metrics(path)
            elif name in ("distance.json", "evaluation.json", "grid.json"):
                said.say(name, json.load(open(path)))
            elif name == "sweep.jsonl":
                for line in open(path):
                    said.say(name, json.loads(line))


main(*sys.argv[1:])
