"""scikit-learn's own checks of an estimator, all of them, for both of ours."""
import sys
import unittest
import warnings

from sklearn.utils.estimator_checks import check_estimator

from tessera.sklearn import TesseraClassifier, TesseraRegressor

warnings.simplefilter("ignore")
failed = 0
for estimator in (TesseraClassifier(), TesseraRegressor()):
    passed = skipped = 0
    for one, check in check_estimator(estimator, generate_only=True):
        try:
            check(one)
            passed += 1
        except unittest.SkipTest:
            skipped += 1
        except Exception as problem:  # noqa: the check says what is wrong
            failed += 1
            print(f"{type(estimator).__name__}: {getattr(check, 'func', check).__name__}: {problem}")
    print(f"{type(estimator).__name__}: {passed} checks of scikit-learn passed, {skipped} skipped")
sys.exit(failed > 0)
