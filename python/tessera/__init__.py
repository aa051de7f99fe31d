"""Tessera: train one wide network as many small ones, and draw the winning ticket from it.

    import tessera
    data = tessera.data("glyphs", n=2000, test_n=500)
    net = tessera.train("mlp", data, hidden=[256, 256], scheme="ist", workers=4, epochs=10)
    ticket = net.prune(0.5).finetune(data, epochs=3)
    print(net.accuracy, ticket.accuracy, ticket.numbers / net.numbers)

Everything is the C library's; failures are exceptions with its sentence (:mod:`tessera.errors`).
"""
from __future__ import annotations

from ._library import VERSION as __version__
from .config import KEYS, Config, Key
from .data import Data, data
from .errors import Diverged, FileError, Interrupted, ResourceError, TesseraError, UsageError
from .jobs import (Watch, answers, bench, build, certify_widths, compare, convert, data_sets, describe, gates, get_data,
                   load_data, metrics_csv, metrics_tensorboard, rankings, spectrum, study, study_cells, study_gallery,
                   study_index, theories, ticket, write_data, write_evaluation, write_module)
from .model import Model, Result, import_network, load, model
from .shares import Share, put
from .theory import Certificate, certify, check, cost, eigenvalues, ntk, report
from .training import Run, reproduce, studies, sweep, tickets, train

__all__ = ["Certificate", "Config", "Data", "Diverged", "FileError", "Interrupted", "KEYS", "Key", "Model", "ResourceError",
           "Result", "Run", "Share", "TesseraError", "UsageError", "certify", "check", "cost", "data", "eigenvalues",
           "import_network", "load", "model", "ntk", "put", "report", "reproduce", "studies", "sweep", "tickets", "train",
           # what the program's other commands do
           "Watch", "answers", "bench", "build", "certify_widths", "compare", "convert", "data_sets", "describe", "gates",
           "get_data", "load_data", "metrics_csv", "metrics_tensorboard", "rankings", "spectrum", "study", "study_cells",
           "study_gallery", "study_index", "theories", "ticket", "write_data", "write_evaluation", "write_module"]


def __dir__() -> list[str]:
    """What a program needs, without the modules it comes from."""
    return sorted([*__all__, "__version__", "__doc__"])
