"""The shared library: where it is, its functions with their types, failures as exceptions, and handles.

Whatever a program does, it gets an exception and no crash. So every call goes through ask() or call(), which look at what
they are given: a handle of another kind, a closed one, a number that C would cut off. Calls with the same handle wait for
each other, and a handle lives until the last call that uses it has returned, also when another thread closes it.
"""
from __future__ import annotations

import collections
import ctypes
import operator
import os
import re
import sys
import tempfile
import threading
import warnings
from contextlib import ExitStack
from typing import Any

from . import _header as header
from .errors import UsageError, error_of

SONAME = "libtessera.so.0"
VERSION = "0.2.0"  # of the header that _header.py was made from; python/backend.py reads it, too


def _places() -> list[str]:
    """Where the library may be, the first that exists is taken; a name alone is the system's to find."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    if os.environ.get("TESSERA_LIBRARY"):
        return [os.environ["TESSERA_LIBRARY"]]
    found = [os.path.join(here, SONAME), os.path.join(root, "build", "release", SONAME)]
    return [p for p in found if os.path.exists(p)] + [SONAME]


def _open() -> ctypes.CDLL:
    place = _places()[0]
    try:
        return ctypes.CDLL(place)
    except OSError as problem:
        raise ImportError(
            f"tessera's shared library cannot be loaded from {place} ({problem}): build it with "
            f"'./run build', install libtessera0, or name the file in TESSERA_LIBRARY") from None


def _typed(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, (result, arguments) in header.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{library._name} lacks {name}: it is of another version than this package") from None
        function.restype, function.argtypes = result, arguments
        function.__doc__ = header.SAID.get(name)
    running = library.tsr_version().decode()
    if running.split(".")[:2] != VERSION.split(".")[:2]:
        raise ImportError(f"{library._name} is version {running}, this package is for {VERSION}")
    return library


library: Any = _typed(_open())

if "numpy" not in sys.modules:
    # OpenBLAS picks its kernels once, while it is loaded; of a processor that it does not know, the oldest ones. The library
    # corrects that where it is the first to load it, and numpy then has the better ones, too.
    _core = ctypes.c_void_p()
    if library.tsr_build(ctypes.byref(_core)) == header.TSR_OK:
        library.tsr_free(_core)

# ---- Handles -------------------------------------------------------------------------------------

_process = os.getpid()


def _forked() -> None:
    global _process
    _process = os.getpid()


os.register_at_fork(after_in_child=_forked)
_hearing = threading.local()  # .owners: the handles of which this thread hears a callback; .later: another passes warnings on


class Address(int):
    """Where something of the library's is. Only the library gives one."""


class _Owner:
    """An address, ended when nobody has it any more: neither a handle, nor a call that is going on, nor a view."""

    def __init__(self, address: int, kind: str, shared: bool) -> None:
        self.address, self.kind, self.shared, self.process = address, kind, shared, _process
        self._destroy = getattr(library, kind + "_destroy")
        self._lock, self._lock_process = threading.RLock(), _process

    @property
    def lock(self) -> Any:
        """Held during a call. After a fork it is a new one: who held the old one is not in this process."""
        if self._lock_process != _process:
            self._lock, self._lock_process = threading.RLock(), _process
        return self._lock

    def __del__(self) -> None:
        try:
            if self.process == _process:  # in the child of a fork the memory is a copy that ends with it
                self._destroy(self.address)
        except (AttributeError, TypeError):  # the interpreter is ending, and modules are gone
            pass


class Handle:
    """Something of the library's that is ended once, when the last reference to it goes or by close()."""

    _kind: str = ""              # its type in C
    _made_by: str = "a function"  # who makes one
    _survives_fork = True        # has no threads
    _shared = False              # calls from several threads need not wait for each other

    def __init__(self, address: Address) -> None:
        if not isinstance(address, Address):
            raise TypeError(f"a {type(self).__name__} is made by {self._made_by}, not from {type(address).__name__}")
        self._owner: _Owner | None = _Owner(address, self._kind, self._shared)

    def _open(self) -> _Owner:
        owner = self.__dict__.get("_owner")
        name = type(self).__name__.lower().lstrip("_")
        if owner is None:
            raise ValueError(f"this {name} is closed")
        if owner.process != _process and not self._survives_fork:
            raise ValueError(f"this {name} was made before a fork, and its threads are in the other process: "
                             f"make one here")
        return owner

    @property
    def _handle(self) -> Address:
        return Address(self._open().address)

    def close(self) -> None:
        """Ends it, when calls that are going on have returned; using it afterwards is a ValueError. Closing twice is fine."""
        self._owner = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled: it belongs to this process")


# ---- Calls ---------------------------------------------------------------------------------------

_WHOLE = {c: (-2 ** (8 * ctypes.sizeof(c) - 1), 2 ** (8 * ctypes.sizeof(c) - 1) - 1)
          for c in (ctypes.c_int, ctypes.c_int32, ctypes.c_int64)}
_WHOLE |= {c: (0, 2 ** (8 * ctypes.sizeof(c)) - 1) for c in (ctypes.c_size_t, ctypes.c_uint64, ctypes.c_uint8)}


def _whole(value: Any, kind: Any, what: str) -> int:
    """A whole number that fits: C would cut off the rest without a word."""
    least, most = _WHOLE[kind]
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{what} is a whole number, not {value!r}") from None
    if not least <= number <= most:
        raise UsageError(f"{what} is {value}: it must be from {least} to {most}")
    return number


def _owner_of(value: Any, kind: type, what: str) -> _Owner:
    """Of a handle; methods that call several functions give the owner itself, since a handle may get another meanwhile."""
    if isinstance(value, _Owner) and value.kind == kind.__name__:
        return value
    if not isinstance(value, Handle) or value._kind != kind.__name__:
        wanted = kind.__name__.removeprefix("tsr_")
        raise UsageError(f"{what}: a {wanted} is needed, not {type(value).__name__}")
    owner = value._open()
    if owner in getattr(_hearing, "owners", ()):
        raise UsageError(f"a callback of a {type(value).__name__.lower()} can only stop it: use it after the call")
    return owner


def ask(function: Any, *arguments: Any) -> Any:
    """What a function of the library returns; handles are given as they are."""
    given, owners = list(arguments), []
    for i, (value, kind) in enumerate(zip(arguments, function.argtypes)):
        if kind in _WHOLE:
            given[i] = _whole(value, kind, f"argument {i + 1} of {function.__name__}")
        elif isinstance(value, (Handle, _Owner)) or (issubclass(kind, header.Opaque) and not isinstance(value, (Address, type(None)))):
            owners.append(_owner_of(value, kind, function.__name__))
            given[i] = owners[-1].address
    with ExitStack() as locks:
        for owner in sorted(owners, key=id):  # in one order, so that two calls cannot wait for each other
            if not owner.shared:
                locks.enter_context(owner.lock)
        result = function(*given)
    if _heard and not getattr(_hearing, "later", False):
        _pass_on()
    return result


# ---- Messages ------------------------------------------------------------------------------------

# Files that data frames are read from, and stand for in every later sentence about that data set: nobody can look into them.
FRAME_FILES = {"tessera-frame-": "the data frame", "tessera-test-frame-": "test_x"}
_frame_file = re.compile(f"{re.escape(tempfile.gettempdir() + os.sep)}({'|'.join(FRAME_FILES)})\\w+\\.csv")
_heard: collections.deque = collections.deque()  # warnings of calls, from whatever thread


def as_spoken(sentence: str) -> str:
    """The library's sentence about the file of a data frame, as one about the frame."""
    return _frame_file.sub(lambda found: FRAME_FILES[found[1]], sentence)


def _hear(_: Any, level: int, text: bytes) -> None:
    _heard.append(text)


def _pass_on() -> None:
    """What the library warned of, as Python's warnings, when no lock is held: a program may turn them into exceptions."""
    while _heard:
        warn(as_spoken(_heard.popleft().decode("utf-8", "replace")))


_hear_all = header.tsr_log_function(_hear)
library.tsr_set_log(_hear_all, None, header.TSR_LOG_WARNING)


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the library that returns a status; a failure becomes an exception with its sentence."""
    status = ask(function, *arguments)
    if status != header.TSR_OK:
        raise error_of(status, as_spoken(library.tsr_last_error().decode("utf-8", "replace")))


def call_long(function: Any, *arguments: Any) -> None:
    """As call, of what may take hours: on a thread and in a context of its own, since this thread hears no Ctrl-C while it is
    inside the library. What a signal raises comes out when the job has saved and stopped."""
    if threading.current_thread() is not threading.main_thread():
        return call(function, *arguments)  # no signals are heard there
    context, raised, ended = create(library.tsr_context_create), [], threading.Event()

    def work() -> None:
        library.tsr_context_set_log(context, _hear_all, None, header.TSR_LOG_WARNING)
        library.tsr_context_use(context)
        _hearing.later = True
        try:
            call(function, *arguments)
        except BaseException as problem:  # noqa: raised below
            raised.append(problem)
        finally:
            library.tsr_context_use(None)
            ended.set()

    # Not join: in Python 3.11 a join that Ctrl-C interrupts takes the thread for ended.
    threading.Thread(target=work).start()
    try:
        ended.wait()
    except BaseException:
        library.tsr_context_stop(context)
        ended.wait()
        raise
    finally:
        if ended.is_set():  # a second Ctrl-C does not wait
            library.tsr_context_destroy(context)
    _pass_on()
    if raised:
        raise raised[0]


def create(function: Any, *arguments: Any) -> Address:
    """The address that a function gives through its first argument."""
    out = ctypes.c_void_p()
    call(function, ctypes.byref(out), *arguments)
    return Address(out.value)


def sized(struct: Any, **fields: Any) -> Any:
    """A struct that knows its size, as tsr_x_default() makes it. It keeps the handles that are in it."""
    made, kinds = struct(), dict(struct._fields_)
    made.owners = []  # no struct has such a field
    for name, value in fields.items():
        kind = kinds[name]
        if isinstance(kind, type) and issubclass(kind, header.Opaque):
            if value is not None:
                made.owners.append(_owner_of(value, kind, name))
                setattr(made, name, kind(made.owners[-1].address))
            continue
        if kind in _WHOLE:
            value = _whole(value, kind, name)
        try:
            setattr(made, name, value)
        except TypeError as problem:
            raise UsageError(f"{name} cannot be {value!r}: {problem}") from None
    made.size = ctypes.sizeof(struct)
    return made


def text_of(pointer: int | None) -> str | None:
    """The text at an address that the library gave away, which is then freed; None for NULL."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        library.tsr_free(pointer)


def warn(sentence: str) -> None:
    """A warning at the line of the program that called the package, whatever is between them."""
    here, level, frame = os.path.dirname(__file__), 1, sys._getframe()
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, stacklevel=level)


def utf8(text: Any) -> bytes | None:
    """A text or path for C, where a byte of 0 would end it."""
    found = None if text is None else os.fsencode(text)
    if found is not None and b"\0" in found:
        raise UsageError(f"{text!r} has a NUL character")
    return found
