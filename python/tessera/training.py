"""Training: a run as an object, and train(), which is all of it."""
import ctypes
import json
import warnings

import numpy as np

from . import _header as header
from .config import Config, as_text, resolve
from .data import Data, data as make_data
from .model import Model, Result
from .progress import Bar
from ._library import Handle, call, create, library, sized, text_of, utf8
from .errors import Interrupted, TesseraError, UsageError

_PROGRESS = ("round", "rounds", "epoch", "epochs", "loss", "rate", "seconds", "test_loss", "test_accuracy", "test_rmse")


class Run(Handle):
    """A run that goes round by round.

    ``for progress in run: ...`` or ``run.step()`` until it is False; then ``run.finish()``. ``run.stop()`` from any thread.
    """

    _destroy = "tsr_run_destroy"

    def __init__(self, config, data=None, *, folder=None, start=None, resume=False, force=False, trace=False, messages=None):
        self._lines = []
        self._messages, self._data = messages, data
        self._callbacks = (_METRICS(self._hear_metrics), header.tsr_log_function(self._hear_message))
        o = sized(header.tsr_run_options, folder=utf8(folder), resume=resume, force=force, trace=trace,
                  data=data._handle if data is not None else None, model=start._handle if start is not None else None,
                  metrics=self._callbacks[0], message=self._callbacks[1], loudest=header.TSR_LOG_INFO)
        super().__init__(create(library.tsr_run_create, config._handle, ctypes.byref(o)))

    def _hear_metrics(self, _, line):
        self._lines.append(line)

    def _hear_message(self, _, level, text):
        said = text.decode("utf-8", "replace")
        if self._messages:
            self._messages(("error", "warning", "info", "debug")[level], said)
        elif level <= header.TSR_LOG_WARNING:
            warnings.warn(said, stacklevel=2)

    def step(self):
        """One round; False when that was the last."""
        more = ctypes.c_bool()
        call(library.tsr_run_step, self._handle, ctypes.byref(more))
        return more.value

    def __iter__(self):
        more = True
        while more:
            more = self.step()
            yield self.progress

    def finish(self):
        """The rounds that are left; then how good the network is on its test set."""
        result = sized(header.tsr_result)
        call(library.tsr_run_finish, ctypes.byref(result), self._handle)
        return Result(result)

    def stop(self):
        """Asks it to stop after the round it is in; the step or finish that is going on raises Interrupted."""
        library.tsr_run_stop(self._handle)

    @property
    def progress(self):
        """Where it is: a dictionary of round, epoch, loss, rate, seconds, test_accuracy, ..."""
        p = sized(header.tsr_progress)
        call(library.tsr_run_progress, ctypes.byref(p), self._handle)
        return {name: getattr(p, name) for name in _PROGRESS} | {"evaluated": p.evaluated}

    @property
    def config(self):
        """A copy of its settings, every `auto` resolved."""
        return Config(_address=create(library.tsr_config_copy, library.tsr_run_config(self._handle)))

    @property
    def metrics(self):
        """What it wrote so far: {column: array}, a row for each line of metrics.jsonl that is an evaluation."""
        return columns(self._lines)

    @property
    def model(self):
        """The network as it is now."""
        net = Model(create(library.tsr_run_model, self._handle))
        net.metrics = self.metrics
        return net


_METRICS = dict(header.tsr_run_options._fields_)["metrics"]


def columns(lines):
    """Lines of JSON as columns. Lines that are events (they have an "event") are left out; what a line lacks is NaN."""
    rows = [row for row in (json.loads(line) for line in lines) if "event" not in row]
    names = list(dict.fromkeys(name for row in rows for name, v in row.items() if isinstance(v, (int, float)) or v is None))
    return {name: np.array([float("nan") if row.get(name) is None else row[name] for row in rows], float) for name in names}


def _settings(net, settings):
    """A config from a model's name, a config, a dictionary or the path of a run file."""
    if isinstance(net, Config):
        config = net.copy()
    elif isinstance(net, dict):
        config = Config(net)
    elif isinstance(net, Model):
        config = net.config
    elif isinstance(net, str) and net.endswith((".yaml", ".yml", ".json")):
        config = Config.read(net)
    else:
        config = Config({"model.name": net})
    config.update(settings)
    return config


def train(net, x=None, y=None, test_x=None, test_y=None, *, start=None, folder=None, resume=False, force=False, trace=False,
          on_round=None, progress=None, messages=None, data=None, **settings):
    """Trains a network and returns it, with ``.result`` (on the test set) and ``.metrics`` (columns of the run).

    net: a model's name ("mlp", "preresnet18", ...), a :class:`Config`, a dictionary of settings, a run file, or a
    :class:`Model` to go on from. x, y: arrays, or a data set of :func:`tessera.data`; without them the settings' own data.
    Any key of a run file is an argument: ``scheme="loft", workers=4, epochs=20, lr=0.1``; ``optim_name="adamw"``.

    on_round(progress) is called after every round; it returns False to stop. Ctrl-C stops, too: a run with a folder is
    saved first, and goes on with ``resume=True``. progress: True or False for a bar; None: where somebody is looking.
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
        return trained


def _rounds(run, on_round, bar):
    """All rounds; True when on_round ended them."""
    more = True
    try:
        while more:
            more = run.step()
            if on_round or bar.due():
                now = run.progress
                bar.show(now)
                if on_round and on_round(now) is False:
                    return True
        bar.show(run.progress, last=True)
        return False
    except KeyboardInterrupt:
        run.stop()
        try:
            run.step()  # saves
        except (Interrupted, TesseraError):
            pass
        raise
    finally:
        bar.close()


def _json(function, *arguments):
    out = ctypes.c_void_p()
    call(function, ctypes.byref(out), *arguments)
    return json.loads(text_of(out.value))


def tickets(config, folder):
    """The whole way to tickets: pretrain, prune, fine-tune, judge, in a folder (docs/tickets.md). Returns ticket.json."""
    o = sized(header.tsr_run_options, folder=utf8(folder), loudest=header.TSR_LOG_INFO)
    return _json(library.tsr_tickets, config._handle, ctypes.byref(o))


def sweep(config, grid, seeds=1, curves=False, folder=None):
    """A run for every cell of a grid, {"optim.lr": [0.1, 0.2]} (docs/sweep.md). Returns the outcomes."""
    lines = [f"{resolve(key)}={','.join(as_text(v) for v in values)}".encode() for key, values in grid.items()]
    array = (ctypes.c_char_p * len(lines))(*lines)
    o = sized(header.tsr_sweep_options, grid=ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p)), grids=len(lines),
              seeds=seeds, curves=curves, folder=utf8(folder))
    return _json(library.tsr_sweep, config._handle, ctypes.byref(o))


def studies():
    """The papers' figures and tables that can be made again."""
    found = []
    while (name := library.tsr_study_name(len(found))) is not None:
        found.append(name.decode())
    return found


def reproduce(name, folder, quick=False, data=None, seeds=0, seed=1, threads=0):
    """Makes a figure or table of the papers again, in a folder, and judges it. Returns its summary."""
    o = sized(header.tsr_study_options, folder=utf8(folder), data=utf8(data), quick=quick, seeds=seeds, seed=seed,
              threads=threads)
    return _json(library.tsr_reproduce, utf8(name), ctypes.byref(o))
