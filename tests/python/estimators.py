"""scikit-learn's own checks of an estimator, all of them, for both of ours; and what its users do: a grid search over workers
and rates, a pipeline with a scaler, clones, pickles, labels that are words, columns in another order."""
import pickle
import sys
import unittest
import warnings

import tessera  # noqa: before numpy, which then has the right kernels of OpenBLAS
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from tessera.sklearn import TesseraClassifier, TesseraRegressor

X, Y = load_iris(return_X_y=True)
QUICK = dict(hidden=(16,), epochs=30, lr=0.02, random_state=1)


class Checks(unittest.TestCase):
    def all_checks(self, estimator):
        passed, skipped, failed = 0, 0, []
        for one, check in check_estimator(estimator, generate_only=True):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(one)
                passed += 1
            except unittest.SkipTest:
                skipped += 1
            except Exception as problem:  # noqa: the check says what is wrong
                failed.append(f"{getattr(check, 'func', check).__name__}: {problem}")
        print(f"{type(estimator).__name__}: {passed} checks of scikit-learn passed, {skipped} skipped")
        self.assertFalse(failed)

    def test_classifier(self):
        self.all_checks(TesseraClassifier())

    def test_regressor(self):
        self.all_checks(TesseraRegressor())


class Use(unittest.TestCase):
    def test_grid_search_over_workers_and_rates_in_a_pipeline(self):
        steps = make_pipeline(StandardScaler(), TesseraClassifier(scheme="local_sgd", **QUICK))
        grid = {"tesseraclassifier__workers": [1, 2], "tesseraclassifier__lr": [1e-5, 0.02]}
        search = GridSearchCV(steps, grid, cv=3).fit(X, Y)
        self.assertEqual(len(search.cv_results_["params"]), 4)
        self.assertEqual(search.best_params_["tesseraclassifier__lr"], 0.02)
        self.assertGreater(search.best_score_, 0.9)
        worst = min(search.cv_results_["mean_test_score"])
        self.assertLess(worst, search.best_score_ - 0.1, "the grid's settings reach the runs")
        self.assertEqual(search.best_estimator_[-1].net_.config["scheme.workers"],
                         str(search.best_params_["tesseraclassifier__workers"]))

    def test_any_key_of_a_run_file(self):
        """scheme.workers by its own name, and in a grid of settings."""
        found = GridSearchCV(TesseraClassifier(scheme="local_sgd", **QUICK),
                             {"settings": [{"scheme.workers": 1}, {"scheme.workers": 2}]}, cv=3).fit(X, Y)
        self.assertEqual(found.best_estimator_.net_.config["scheme.workers"], str(found.best_params_["settings"]["scheme.workers"]))
        with self.assertRaisesRegex(ValueError, "at least 1"):  # it trained for ten, and said n_iter_ = 0
            TesseraClassifier(epochs=0).fit(X, Y)
        with self.assertRaisesRegex(ValueError, "lerning"):
            TesseraClassifier(settings={"lerning": 1}).fit(X, Y)

    def test_two_processes(self):
        scores = cross_val_score(TesseraClassifier(**QUICK), X, Y, cv=4, n_jobs=2)
        np.testing.assert_array_equal(scores, cross_val_score(TesseraClassifier(**QUICK), X, Y, cv=4))

    def test_clone_and_pickle(self):
        made = TesseraClassifier(**QUICK).fit(X, Y)
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X))
        fresh = clone(made)
        self.assertFalse(hasattr(fresh, "net_"))
        self.assertEqual(fresh.get_params(), made.get_params())
        np.testing.assert_array_equal(fresh.fit(X, Y).predict_proba(X), made.predict_proba(X))

    def test_labels(self):
        for labels in (np.array(["x", "b", "m"])[Y], Y + 5, Y == 1, np.array([3.0, 1.0, 2.0])[Y], np.array(["é", "a", "ü"], object)[Y]):
            made = TesseraClassifier(**QUICK).fit(X, labels)
            np.testing.assert_array_equal(made.classes_, np.unique(labels))
            self.assertGreater(made.score(X, labels), 0.85)
            np.testing.assert_array_equal(made.classes_[made.predict_proba(X).argmax(1)], made.predict(X))
            self.assertEqual(made.net_.classes, [str(c) for c in made.classes_])

    def test_kinds_of_arrays(self):
        made = TesseraClassifier(**QUICK).fit(X, Y)
        want = made.predict(X)
        frozen = X.copy()
        frozen.flags.writeable = False
        for x in (X.tolist(), np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2, 1)[:, ::2], frozen):
            np.testing.assert_array_equal(made.predict(x), want)
        whole = (10 * X).astype(int)
        self.assertGreater(TesseraClassifier(**QUICK).fit(whole, Y).score(whole, Y), 0.85)
        for bad in (np.char.add(X.astype(str), "x"), np.where(X > 7, np.nan, X), X[:, :2]):
            with self.assertRaises(ValueError):
                made.predict(bad)
        import scipy.sparse
        with self.assertRaisesRegex(TypeError, "sparse"):
            made.fit(scipy.sparse.csr_matrix(X), Y)

    def test_columns_are_not_taken_for_each_other(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("python3-pandas is not installed")
        frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
        made = TesseraClassifier(**QUICK).fit(frame, Y)
        np.testing.assert_array_equal(made.feature_names_in_, ["a", "b", "c", "d"])
        self.assertEqual(made.net_.columns, ["a", "b", "c", "d"])
        with self.assertRaisesRegex(ValueError, "feature names"):
            made.predict(frame[["b", "a", "c", "d"]])
        with self.assertWarnsRegex(UserWarning, "feature names"):
            made.predict(X)
        with self.assertRaises(ValueError):
            TesseraClassifier(**QUICK).fit(frame.assign(a="word"), Y)

    def test_numbers_that_single_precision_cannot_tell_apart(self):
        """They were made floats before the library saw them, and a score of 0.5 was all that was said."""
        late = 1.7e9 + X[:, :1]
        with self.assertWarnsRegex(UserWarning, "x: .* cannot tell them apart"):
            TesseraClassifier(**QUICK).fit(late, Y)
        with self.assertWarnsRegex(UserWarning, "y: .* cannot tell them apart"):
            TesseraRegressor(**QUICK).fit(X, late[:, 0])

    def test_several_targets(self):
        made = TesseraRegressor(hidden=(32,), epochs=60, random_state=1).fit(X[:, :2], X[:, 2:])
        self.assertEqual(made.predict(X[:, :2]).shape, (150, 2))
        self.assertGreater(made.score(X[:, :2], X[:, 2:]), 0.8)


if __name__ == "__main__":
    unittest.main()
