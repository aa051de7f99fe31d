"""Failures of the library as exceptions. Each carries the library's own sentence, and the status it came with."""
from __future__ import annotations

from . import _header as header


class TesseraError(Exception):
    """What the library could not do, and why."""

    status = header.TSR_FAILURE


class UsageError(TesseraError, ValueError):
    """A setting, an argument or data that do not fit."""

    status = header.TSR_USAGE


class FileError(TesseraError, OSError):
    """A file that cannot be read or is not what it should be."""

    status = header.TSR_BAD_FILE


class ResourceError(TesseraError, MemoryError):
    """Not enough memory, disk or another resource."""

    status = header.TSR_RESOURCES


class Diverged(TesseraError, ArithmeticError):
    """The loss is no longer finite."""

    status = header.TSR_DIVERGED


class Interrupted(TesseraError):
    """A run was stopped; one with a folder is saved."""

    status = header.TSR_INTERRUPTED


_KINDS = {kind.status: kind for kind in (UsageError, FileError, ResourceError, Diverged, Interrupted)}


def error_of(status: int, sentence: str) -> TesseraError:
    """The exception for a status that is not OK."""
    return _KINDS.get(status, TesseraError)(sentence or f"status {status}")
