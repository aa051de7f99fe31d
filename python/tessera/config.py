"""Settings: a run file in memory. Names and help come from the library's own table of keys."""
import ctypes
import numbers

from . import _header as header
from ._library import Handle, call, create, library, sized, text_of, utf8
from .errors import UsageError


class Key:
    """One key of a run file: name, type, default, choices, limits, help."""

    def __init__(self, row):
        self.key, self.help = row.key.decode(), row.help.decode()
        self.default = row.preset.decode() if row.preset is not None else None
        self.choices = row.choices.decode().split("|") if row.choices else None
        self.type = row.type
        self.least, self.most, self.pace = row.least, row.most, row.pace

    def __repr__(self):
        return f"<{self.key}: {self.help}>"


def _rows():
    for i in range(library.tsr_key_count()):
        row = sized(header.tsr_key)
        call(library.tsr_key_at, ctypes.byref(row), i)
        yield Key(row)


KEYS = {row.key: row for row in _rows()}


def resolve(name):
    """The key that a Python argument means: "optim.lr", "optim_lr" and, where only one key ends so, "lr".

    "scheme", "model" and "data" mean "scheme.name" and so on. Of several the optimiser's comes
    first ("momentum"); keys of the ticket section are given whole.
    """
    if name in KEYS:
        return name
    if name + ".name" in KEYS:
        return name + ".name"
    found = [key for key in KEYS if key.replace(".", "_") == name]
    found = found or [key for key in KEYS if key.rpartition(".")[2] == name and not key.startswith("ticket.")]
    first = [key for key in found if key.startswith("optim.")]
    if len(found) == 1 or first:
        return (first or found)[0]
    if found:
        raise UsageError(f"{name} may be {' or '.join(found)}: give it as {found[0].replace('.', '_')}=...")
    row = sized(header.tsr_key)
    call(library.tsr_key_find, ctypes.byref(row), utf8(name))  # fails, and names the nearest
    return name


def as_text(value):
    """A Python value as a run file has it."""
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
        return "[" + ", ".join(as_text(v) for v in value) + "]"
    if isinstance(value, bool) or type(value).__name__ == "bool_":  # numpy's is no bool
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    return str(value)


class Config(Handle):
    """The settings of a run. ``config["optim.lr"] = 0.1``; ``Config(model="mlp", lr=0.1)``; ``Config.read("run.yaml")``."""

    _destroy = "tsr_config_destroy"

    def __init__(self, settings=None, _address=None, **more):
        super().__init__(_address or create(library.tsr_config_create))
        self.update(settings or {}, **more)

    @classmethod
    def read(cls, path):
        """From a run file."""
        return cls(_address=create(library.tsr_config_read, utf8(path)))

    @classmethod
    def parse(cls, text):
        """From the text of a run file."""
        return cls(_address=create(library.tsr_config_parse, text.encode()))

    def copy(self):
        return Config(_address=create(library.tsr_config_copy, self._handle))

    def update(self, settings=(), **more):
        """Changes several; None is back to the default."""
        for name, value in {**dict(settings), **more}.items():
            self[name] = value

    def __setitem__(self, name, value):
        call(library.tsr_config_put, self._handle, utf8(resolve(name)), None if value is None else as_text(value).encode())

    def __getitem__(self, name):
        out = ctypes.c_void_p()
        call(library.tsr_config_get, ctypes.byref(out), self._handle, utf8(resolve(name)))
        return text_of(out.value)

    def given(self, name):
        """Was it set, or is it the default?"""
        return library.tsr_config_given(self._handle, utf8(resolve(name)))

    def __str__(self):
        out = ctypes.c_void_p()
        call(library.tsr_config_write, ctypes.byref(out), self._handle)
        return text_of(out.value)

    def __repr__(self):
        return "Config(" + ", ".join(f"{k}={self[k]}" for k in KEYS if self.given(k)) + ")"

    def __getstate__(self):
        return {k: self[k] for k in KEYS if self.given(k)}

    def __setstate__(self, state):
        Handle.__init__(self, create(library.tsr_config_create))
        self.update(state)
