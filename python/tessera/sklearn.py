"""Tessera as scikit-learn sees it: estimators for pipelines, grid searches and cross-validation.

    from tessera.sklearn import TesseraClassifier
    clf = TesseraClassifier(hidden=(64,), epochs=30).fit(x, y)
"""
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, check_random_state, check_X_y

from .data import data as make_data
from .errors import UsageError
from .training import train


class _Estimator(BaseEstimator):
    """What classifier and regressor share. Every argument is a setting of a run; ``settings`` takes any other key."""

    def __init__(self, model="mlp", hidden=(100,), scheme="dense", workers=1, local_steps=None, optimizer="adamw", lr=0.005,
                 weight_decay=0.0001, epochs=60, batch=32, threads=1, random_state=None, settings=None):
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

    def _config(self, n):
        """The settings of fit: all samples are for training."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        found = {"model.name": self.model, "scheme.name": self.scheme, "optim.name": self.optimizer, "optim.lr": self.lr,
                 "epochs": self.epochs, "batch": min(self.batch, n), "threads": self.threads, "seed": seed,
                 "optim.weight_decay": self.weight_decay, "data.split": 0, "data.normalize": "standardize",
                 "optim.schedule": "cosine"}
        if self.model == "mlp":
            found["model.hidden"] = list(self.hidden)
        if self.scheme != "dense":
            found["scheme.workers"] = self.workers
        elif self.workers != 1:
            raise UsageError(f"workers={self.workers} needs a scheme that has shares (scheme='ist', 'local_sgd', ...)")
        if self.local_steps is not None:
            found["scheme.local_steps"] = self.local_steps
        return found | dict(self.settings or {})

    def _fit(self, x, y, **how):
        made = make_data(x.astype(np.float32), y, form="vectors", **how)
        self.net_ = train(self._config(len(x)), made, progress=False)
        self.n_iter_ = self.epochs
        return self

    def _inputs(self, x):
        check_is_fitted(self)
        x = check_array(x)
        if x.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {x.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input")
        return x.astype(np.float32)

    @staticmethod
    def _each(answer, x):
        """One sample alone goes through other products than many do, which round otherwise: it gets company, so that a
        sample's answer does not depend on the others."""
        return answer(np.repeat(x, 2, axis=0))[:1] if len(x) == 1 else answer(x)


class TesseraClassifier(ClassifierMixin, _Estimator):
    """A classifier: fit, predict, predict_proba, score."""

    def fit(self, X, y):
        X, y = check_X_y(X, y, estimator=self)
        check_classification_targets(y)
        self.n_features_in_ = X.shape[1]
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs samples of at least 2 classes, and y has one class")
        return self._fit(X, labels.astype(np.int64), classes=[str(c) for c in range(len(self.classes_))])

    def predict_proba(self, X):
        X = self._inputs(X)
        return self._each(self.net_.predict_proba, X)

    def predict(self, X):
        X = self._inputs(X)
        return self.classes_[self._each(self.net_.predict, X)]


class TesseraRegressor(RegressorMixin, _Estimator):
    """A regressor of one target or of several: fit, predict, score."""

    def fit(self, X, y):
        X, y = check_X_y(X, y, multi_output=True, y_numeric=True, estimator=self)
        self.n_features_in_ = X.shape[1]
        return self._fit(X, y.astype(np.float32), regress=True)

    def predict(self, X):
        X = self._inputs(X)
        return self._each(self.net_.predict, X).astype(np.float64)

    def _more_tags(self):
        return {"multioutput": True}
