"""Tessera as scikit-learn sees it: estimators for pipelines, grid searches and cross-validation.

    from tessera.sklearn import TesseraClassifier
    clf = TesseraClassifier(hidden=(64,), epochs=30).fit(x, y)
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state

from .data import data as make_data
from .errors import UsageError
from .model import Model
from .training import train

try:
    from sklearn.utils.validation import validate_data as _validate  # 1.6 and newer
except ImportError:
    def _validate(estimator: Any, *given: Any, **how: Any) -> Any:
        return estimator._validate_data(*given, **how)


class _Estimator(BaseEstimator):
    """What classifier and regressor share. Every argument is a setting of a run; ``settings`` takes any other key, as
    ``settings={"scheme.xi": 0.5}``. Columns of data frames are those of fit, in the same order, or it is a ValueError."""

    def __init__(self, model: str = "mlp", hidden: Sequence[int] = (100,), scheme: str = "dense", workers: int = 1,
                 local_steps: int | None = None, optimizer: str = "adamw", lr: float = 0.005, weight_decay: float = 0.0001,
                 epochs: int = 60, batch: int = 32, threads: int = 1, random_state: Any = None,
                 settings: Mapping[str, Any] | None = None) -> None:
        self.model = model
        self.hidden = hidden
        self.scheme = scheme
        self.workers = workers
        self.local_steps = local_steps
        self.optimizer = optimizer
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.batch = batch
        self.threads = threads
        self.random_state = random_state
        self.settings = settings

    def _config(self, n: int) -> dict[str, Any]:
        """The settings of fit: all samples are for training."""
        if self.epochs < 1:
            raise UsageError(f"epochs={self.epochs}: at least 1 is needed")  # to a run file 0 are ten
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = {"model.name": self.model, "scheme.name": self.scheme, "optim.name": self.optimizer, "optim.lr": self.lr,
                 "epochs": self.epochs, "batch": min(self.batch, n), "threads": self.threads, "seed": seed,
                 "optim.weight_decay": self.weight_decay, "data.split": 0, "data.normalize": "standardize",
                 "optim.schedule": "cosine"}
        if self.model == "mlp":
            found["model.hidden"] = list(np.atleast_1d(self.hidden))
        if self.scheme != "dense":
            found["scheme.workers"] = self.workers
        elif self.workers != 1:
            raise UsageError(f"workers={self.workers} needs a scheme that has shares (scheme='ist', 'local_sgd', ...)")
        if self.local_steps is not None:
            found["scheme.local_steps"] = self.local_steps
        return found | dict(self.settings or {})

    def _fit(self, x: np.ndarray, y: np.ndarray, **how: Any) -> Any:
        names = getattr(self, "feature_names_in_", None)
        made = make_data(x, y, form="vectors", columns=None if names is None else list(names), **how)
        self.net_: Model = train(self._config(len(x)), made, progress=False)
        self.n_iter_ = self.epochs
        return self

    def _inputs(self, x: Any) -> np.ndarray:
        check_is_fitted(self)
        return _validate(self, x, reset=False)

    @staticmethod
    def _each(answer: Any, x: np.ndarray) -> np.ndarray:
        """One sample alone goes through other products than many do, which round otherwise: it gets company, so that a
        sample's answer does not depend on the others."""
        return answer(np.repeat(x, 2, axis=0))[:1] if len(x) == 1 else answer(x)


class TesseraClassifier(ClassifierMixin, _Estimator):
    """A classifier: fit, predict, predict_proba, score. ``classes_`` are the labels of y, sorted; ``net_`` is the network."""

    def fit(self, X: Any, y: Any) -> TesseraClassifier:
        """Trains a new network. Labels may be numbers, words or booleans."""
        X, y = _validate(self, X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes, and y has one class")
        return self._fit(X, labels.astype(np.int64), classes=[str(c) for c in self.classes_])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities [n, classes], in the order of classes_."""
        X = self._inputs(X)
        return self._each(self.net_.predict_proba, X)

    def predict(self, X: Any) -> np.ndarray:
        """The label of each sample."""
        place = self.predict_proba(X).argmax(1)
        return self.classes_[place]


class TesseraRegressor(RegressorMixin, _Estimator):
    """A regressor of one target or of several: fit, predict, score. ``net_`` is the network."""

    def fit(self, X: Any, y: Any) -> TesseraRegressor:
        """Trains a new network."""
        X, y = _validate(self, X, y, multi_output=True, y_numeric=True)
        return self._fit(X, y, regress=True)

    def predict(self, X: Any) -> np.ndarray:
        """The targets of each sample, in their own units."""
        X = self._inputs(X)
        return self._each(self.net_.predict, X).astype(np.float64)

    def _more_tags(self) -> dict[str, Any]:
        return {"multioutput": True}

    def __sklearn_tags__(self) -> Any:  # 1.6 and newer
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
