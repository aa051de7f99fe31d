"""Training: a run as an object, and train(), which is all of it."""
from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import _header as header
from .config import Config, as_text, resolve
from .data import Data, data as make_data
from .model import Model, Result
from .progress import Bar
from ._library import Address, Handle, _hearing, ask, call, call_long, create, library, sized, text_of, utf8, warn
from .errors import TesseraError, UsageError

_PROGRESS = ("round", "rounds", "epoch", "epochs", "loss", "rate", "seconds", "test_loss", "test_accuracy", "test_rmse")
_LEVELS = ("error", "warning", "info", "debug")
_METRICS = dict(header.tsr_run_options._fields_)["metrics"]

# Lines go into the list that is their context, by a function without any of Python's own instructions: at the first of these
# Python would hear a Ctrl-C that came while the library computed, and ctypes throws away what a callback raises.
_add_line = ctypes.CFUNCTYPE(None, ctypes.py_object, ctypes.c_char_p)(list.append)


class Run(Handle):
    """A run that goes round by round.

    ``for progress in run: ...`` or ``run.step()`` until it is False; then ``run.finish()``. ``run.stop()`` from any thread.
    messages(level, text) hears what it says; without it warnings are Python's warnings.
    """

    _kind, _survives_fork = "tsr_run", False

    def __init__(self, config: Config, data: Data | None = None, *, folder: Any = None, start: Model | None = None,
                 resume: bool = False, force: bool = False, trace: bool = False,
                 messages: Callable[[str, str], Any] | None = None) -> None:
        self._lines: list[bytes] = []
        self._messages, self._raised = messages, None
        self._hear = header.tsr_log_function(self._hear_message)
        self._options = sized(header.tsr_run_options, folder=utf8(folder), resume=resume, force=force, trace=trace, data=data,
                              model=start, metrics=ctypes.cast(_add_line, _METRICS), context=id(self._lines), message=self._hear,
                              loudest=header.TSR_LOG_INFO if messages else header.TSR_LOG_WARNING)
        # The options keep the data, which may be borrowed.
        try:
            super().__init__(create(library.tsr_run_create, config, ctypes.byref(self._options)))
            self._open().keep = (self._lines, self._hear)  # what C calls, as long as it may
            if resume and folder is not None:
                self._lines[:0] = _told_before(folder)
        finally:
            self._raise()

    def _hear_message(self, _: Any, level: int, text: bytes) -> None:
        """On whatever thread the library speaks; what is raised here comes out of the call that goes on."""
        owner = self.__dict__.get("_owner")
        before, _hearing.owners = getattr(_hearing, "owners", ()), (owner,)
        try:
            said = text.decode("utf-8", "replace")
            if self._messages:
                self._messages(_LEVELS[level], said)
            elif level <= header.TSR_LOG_WARNING:
                warn(said)
        except BaseException as problem:  # noqa: C cannot pass it on
            self._raised = self._raised or problem
            if owner is not None:
                library.tsr_run_stop(owner.address)
        finally:
            _hearing.owners = before

    def _raise(self) -> None:
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised

    def _call(self, function: Any, *arguments: Any) -> None:
        try:
            call(function, *arguments)
        finally:
            self._raise()

    def step(self) -> bool:
        """One round; False when that was the last."""
        more = ctypes.c_bool()
        self._call(library.tsr_run_step, self, ctypes.byref(more))
        return more.value

    def __iter__(self) -> Iterator[dict[str, Any]]:
        more = True
        while more:
            more = self.step()
            yield self.progress

    def finish(self) -> Result:
        """The rounds that are left; then how good the network is on its test set."""
        while self.step():  # between rounds Python hears signals, and other threads have a turn
            pass
        result = sized(header.tsr_result)
        self._call(library.tsr_run_finish, ctypes.byref(result), self)
        return Result(result)

    def stop(self) -> None:
        """Asks it to stop after the round it is in; the step or finish that is going on raises Interrupted."""
        owner = self._open()
        library.tsr_run_stop(owner.address)

    @property
    def progress(self) -> dict[str, Any]:
        """Where it is: a dictionary of round, epoch, loss, rate, seconds, test_accuracy, ..."""
        p = sized(header.tsr_progress)
        call(library.tsr_run_progress, ctypes.byref(p), self)
        return {name: getattr(p, name) for name in _PROGRESS} | {"evaluated": p.evaluated}

    @property
    def config(self) -> Config:
        """A copy of its settings, every `auto` resolved."""
        owner = self._open()
        with owner.lock:
            return Config(_address=create(library.tsr_config_copy, Address(ask(library.tsr_run_config, owner))))

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """What it wrote so far, also before it was resumed: {column: array}, a row for each line of metrics.jsonl that is an
        evaluation."""
        return columns(self._lines)

    @property
    def model(self) -> Model:
        """The network as it is now."""
        net = Model(create(library.tsr_run_model, self))
        net.metrics = self.metrics
        return net


def _told_before(folder: Any) -> list[bytes]:
    """The lines that other processes wrote before this one goes on."""
    try:
        with open(os.path.join(os.fsdecode(folder), "metrics.jsonl"), "rb") as file:
            return [line for line in file.read().splitlines() if "event" not in json.loads(line)]
    except FileNotFoundError:
        return []


def columns(lines: Sequence[bytes]) -> dict[str, np.ndarray]:
    """Lines of JSON as columns. Lines that are events (they have an "event") are left out; what a line lacks is NaN."""
    rows = [row for row in (json.loads(line) for line in lines) if "event" not in row]
    names = list(dict.fromkeys(name for row in rows for name, v in row.items()
                               if name != "format" and (isinstance(v, (int, float)) or v is None)))
    return {name: np.array([float("nan") if row.get(name) is None else row[name] for row in rows], float) for name in names}


def _settings(net: Any, settings: Mapping[str, Any]) -> Config:
    """A config from a model's name, a config, a dictionary or the path of a run file."""
    if isinstance(net, Config):
        config = net.copy()
    elif isinstance(net, dict):
        config = Config(net)
    elif isinstance(net, Model):
        config = net.config
    elif isinstance(net, str) and net.endswith((".yaml", ".yml", ".json")):
        config = Config.read(net)
    elif isinstance(net, str):
        config = Config({"model.name": net})
    else:
        raise UsageError(f"a network is a model's name, a Config, a dictionary, a run file or a Model, not {type(net).__name__}")
    config.update(settings)
    return config


def train(net: Any, x: Any = None, y: Any = None, test_x: Any = None, test_y: Any = None, *, start: Model | None = None,
          folder: Any = None, resume: bool = False, force: bool = False, trace: bool = False,
          on_round: Callable[[dict[str, Any]], Any] | None = None, progress: bool | None = None,
          messages: Callable[[str, str], Any] | None = None, data: Mapping[str, Any] | None = None, **settings: Any) -> Model:
    """Trains a network and returns it, with ``.result`` (on the test set) and ``.metrics`` (columns of the run).

    net: a model's name ("mlp", "preresnet18", ...), a :class:`Config`, a dictionary of settings, a run file, or a
    :class:`Model` to go on from. x, y: arrays, or a data set of :func:`tessera.data`; without them the settings' own data.
    data: a dictionary of further arguments for :func:`tessera.data`, ``data={"form": "sequences"}``.
    Any key of a run file is an argument: ``scheme="loft", workers=4, epochs=20, lr=0.1``; ``optim_name="adamw"``.

    on_round(progress) is called after every round; it returns False to stop. Ctrl-C stops, too. A run with a folder is
    saved then, and goes on with ``resume=True``. progress: True or False for a bar; None: where somebody is looking.
    """
    config = _settings(net, settings)
    if isinstance(net, Model) and start is None:
        start = net
    made = x if isinstance(x, Data) or x is None else make_data(x, y, test_x, test_y, **(data or {}))
    if isinstance(x, Data) and y is not None:
        raise UsageError("a data set brings its own y")
    with Run(config, made, folder=folder, start=start, resume=resume, force=force, trace=trace, messages=messages) as run:
        stopped = _rounds(run, on_round, Bar(progress))
        result = None if stopped else run.finish()
        trained = run.model
        trained.result, trained.metrics = result, run.metrics
        if stopped and folder is not None:
            _save(run)
        return trained


def _save(run: Run) -> None:
    """A stop that was asked for is heeded, and all is saved, after the next round."""
    run.stop()
    try:
        run.step()
    except TesseraError:  # Interrupted
        pass


def _rounds(run: Run, on_round: Any, bar: Bar) -> bool:
    """All rounds; True when on_round ended them."""
    more = True
    try:
        while more:
            more = run.step()
            if on_round or bar.due():
                now = run.progress
                bar.show(now)
                if on_round and on_round(now) is False and more:
                    return True
        bar.show(run.progress, last=True)
        return False
    except KeyboardInterrupt:
        _save(run)
        raise
    finally:
        bar.close()


def _json(function: Any, *arguments: Any) -> Any:
    out = ctypes.c_void_p()
    call_long(function, ctypes.byref(out), *arguments)
    return json.loads(text_of(out.value))


def tickets(config: Config, folder: Any) -> dict[str, Any]:
    """The whole way to tickets: pretrain, prune, fine-tune, judge, in a folder (docs/tickets.md). Returns ticket.json."""
    o = sized(header.tsr_run_options, folder=utf8(folder), loudest=header.TSR_LOG_INFO)
    return _json(library.tsr_tickets, config, ctypes.byref(o))


def sweep(config: Config, grid: Mapping[str, Sequence[Any]], seeds: int = 1, curves: bool = False,
          folder: Any = None) -> dict[str, Any]:
    """A run for every cell of a grid, {"optim.lr": [0.1, 0.2]} (docs/sweep.md). Returns the outcomes."""
    if not hasattr(grid, "items"):
        raise UsageError(f"a grid is a dictionary of keys and values, {{'lr': [0.1, 0.2]}}, not {type(grid).__name__}")
    lines = [f"{resolve(key)}={','.join(as_text(v) for v in values)}".encode() for key, values in grid.items()]
    array = (ctypes.c_char_p * len(lines))(*lines)
    o = sized(header.tsr_sweep_options, grid=ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p)), grids=len(lines),
              seeds=seeds, curves=curves, folder=utf8(folder))
    return _json(library.tsr_sweep, config, ctypes.byref(o))


def studies() -> list[str]:
    """The papers' figures and tables that can be made again."""
    found = []
    while (name := library.tsr_study_name(len(found))) is not None:
        found.append(name.decode())
    return found


def reproduce(name: str, folder: Any, quick: bool = False, data: str | None = None, seeds: int = 0, seed: int = 1,
              threads: int = 0) -> dict[str, Any]:
    """Makes a figure or table of the papers again, in a folder, and judges it. Returns its summary."""
    o = sized(header.tsr_study_options, folder=utf8(folder), data=utf8(data), quick=quick, seeds=seeds, seed=seed,
              threads=threads)
    return _json(library.tsr_reproduce, utf8(name), ctypes.byref(o))
