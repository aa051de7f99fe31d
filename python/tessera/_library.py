"""The shared library: where it is, its functions with their types, failures as exceptions."""
import ctypes
import os

from . import _header as header
from .errors import error_of

SONAME = "libtessera.so.0"
VERSION = "0.2.0"  # of the header that _header.py was made from; python/backend.py reads it, too


def _places():
    """Where the library may be, the first that exists is taken; a name alone is the system's to find."""
    here = os.path.dirname(os.path.abspath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    if os.environ.get("TESSERA_LIBRARY"):
        return [os.environ["TESSERA_LIBRARY"]]
    found = [os.path.join(here, SONAME), os.path.join(root, "build", "release", SONAME)]
    return [p for p in found if os.path.exists(p)] + [SONAME]


def _open():
    place = _places()[0]
    try:
        return ctypes.CDLL(place)
    except OSError as problem:
        raise ImportError(
            f"tessera's shared library cannot be loaded from {place} ({problem}): build it with "
            f"'./run build', install libtessera0, or name the file in TESSERA_LIBRARY") from None


def _typed(library):
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


library = _typed(_open())


def call(function, *arguments):
    """Calls a function of the library that returns a status; a failure becomes an exception with its sentence."""
    status = function(*arguments)
    if status != header.TSR_OK:
        raise error_of(status, library.tsr_last_error().decode("utf-8", "replace"))


def sized(struct, **fields):
    """A struct that knows its size, as tsr_x_default() makes it."""
    made = struct(**fields)
    made.size = ctypes.sizeof(struct)
    return made


def text_of(pointer):
    """The text at an address that the library gave away, which is then freed; None for NULL."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        library.tsr_free(pointer)


def utf8(text):
    return None if text is None else os.fsencode(text)


class Handle:
    """Something of the library's that is ended once, when the last reference to it goes or by close()."""

    _destroy = None  # the name of the function that ends it

    def __init__(self, address):
        self._address = address

    @property
    def _handle(self):
        if not self.__dict__.get("_address"):
            raise ValueError(f"this {type(self).__name__.lower()} is closed")
        return self._address

    def close(self):
        """Ends it now; using it afterwards is a ValueError. Closing twice is fine."""
        address, self._address = self.__dict__.get("_address"), None
        if address:
            getattr(library, self._destroy)(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except (AttributeError, TypeError):  # the interpreter is ending, and modules are gone
            pass


def create(function, *arguments):
    """The address that a function gives through its first argument."""
    out = ctypes.c_void_p()
    call(function, ctypes.byref(out), *arguments)
    return out.value
