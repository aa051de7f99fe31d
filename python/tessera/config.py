"""Settings: a run file in memory. Names and help come from the library's own table of keys."""
from __future__ import annotations

import ctypes
import numbers
from typing import Any, Iterator, Mapping

from . import _header as header
from ._library import Address, Handle, ask, call, create, library, sized, text_of, utf8
from .errors import UsageError


class Key:
    """One key of a run file: name, type, default, choices, limits, help."""

    def __init__(self, row: Any) -> None:
        self.key, self.help = row.key.decode(), row.help.decode()
        self.default: str | None = row.preset.decode() if row.preset is not None else None
        self.choices: list[str] | None = row.choices.decode().split("|") if row.choices else None
        self.type: int = row.type
        self.least, self.most, self.pace = row.least, row.most, row.pace

    def __repr__(self) -> str:
        return f"<{self.key}: {self.help}>"


def _rows() -> Iterator[Key]:
    for i in range(library.tsr_key_count()):
        row = sized(header.tsr_key)
        call(library.tsr_key_at, ctypes.byref(row), i)
        yield Key(row)


KEYS: dict[str, Key] = {row.key: row for row in _rows()}


def resolve(name: str) -> str:
    """The key that a Python argument means: "optim.lr", "optim_lr" and, where only one key ends so, "lr".

    "scheme", "model" and "data" mean "scheme.name" and so on. Of several the optimiser's comes
    first ("momentum"); keys of the ticket section are given whole.
    """
    if not isinstance(name, str):
        raise UsageError(f"a key is a text like 'optim.lr', not {name!r}")
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


def as_text(value: Any) -> str:
    """A Python value as a run file has it."""
    if isinstance(value, (list, tuple, range)) or getattr(value, "ndim", 0) == 1:
        return "[" + ", ".join(as_text(v) for v in value) + "]"
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):  # numpy's is no bool
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        return str(value)
    raise UsageError(f"a setting is a number, a text, true or false, or a list of these, not {type(value).__name__}")


class Config(Handle):
    """The settings of a run. ``config["optim.lr"] = 0.1``; ``Config(model="mlp", lr=0.1)``; ``Config.read("run.yaml")``."""

    _kind = "tsr_config"

    def __init__(self, settings: Mapping[str, Any] | None = None, _address: Address | None = None, **more: Any) -> None:
        super().__init__(create(library.tsr_config_create) if _address is None else _address)
        self.update(settings, **more)

    @classmethod
    def read(cls, path: Any) -> Config:
        """From a run file."""
        return cls(_address=create(library.tsr_config_read, utf8(path)))

    @classmethod
    def parse(cls, text: str) -> Config:
        """From the text of a run file."""
        return cls(_address=create(library.tsr_config_parse, utf8(text)))

    def copy(self) -> Config:
        """One of its own with the same values."""
        return Config(_address=create(library.tsr_config_copy, self))

    def update(self, settings: Mapping[str, Any] | None = None, **more: Any) -> None:
        """Changes several; None is back to the default."""
        if settings is not None and not hasattr(settings, "items"):
            raise UsageError(f"settings are a dictionary, not {type(settings).__name__}")
        for name, value in {**dict(settings or {}), **more}.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        call(library.tsr_config_put, self, utf8(resolve(name)), None if value is None else utf8(as_text(value)))

    def __getitem__(self, name: str) -> str | None:
        out = ctypes.c_void_p()
        call(library.tsr_config_get, ctypes.byref(out), self, utf8(resolve(name)))
        return text_of(out.value)

    def __iter__(self) -> Iterator[str]:
        return iter(KEYS)

    def __len__(self) -> int:
        return len(KEYS)

    def keys(self) -> list[str]:
        """Every key that there is: ``dict(config)`` has them with their values."""
        return list(KEYS)

    def __contains__(self, name: object) -> bool:
        return name in KEYS

    def _ipython_key_completions_(self) -> list[str]:
        return list(KEYS)

    def given(self, name: str) -> bool:
        """Was it set, or is it the default?"""
        return ask(library.tsr_config_given, self, utf8(resolve(name)))

    def __str__(self) -> str:
        out = ctypes.c_void_p()
        call(library.tsr_config_write, ctypes.byref(out), self)
        return text_of(out.value) or ""

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{k}={self[k]}" for k in KEYS if self.given(k)) + ")"

    def __reduce__(self) -> Any:
        return Config, ({k: self[k] for k in KEYS if self.given(k)},)
