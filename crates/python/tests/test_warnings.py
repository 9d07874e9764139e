"""Warnings point at the line that called the package."""
import inspect
import warnings

import numpy as np
import pytest

import apportion

pyarrow = pytest.importorskip("pyarrow")
ROWS = np.random.default_rng(0).normal(size=(6, 12))
TABLE = pyarrow.table({f"f{feature}": ROWS[:, feature] for feature in range(12)})
IMAGE = np.arange(16.0).reshape(4, 4)
ROUGH = dict(method="permutation", budget=30, until=1e-9)


class Labels:
    """A model that returns labels: each label becomes an output, with a warning."""

    classes_ = np.array(["a", "b", "c"])

    def predict(self, rows):
        return self.classes_[(rows[:, 0] > 0).astype(int) + (rows[:, 1] > 0)]


def bent(rows):
    return np.sin(rows).sum(axis=1) * rows[:, 0]


def lengths(texts):
    return [len(text) ** 1.5 for text in texts]


def lights(images):
    return np.sin(images.reshape(len(images), -1)).sum(axis=1) ** 2


def game():
    return apportion.Game(lambda present: np.sin(present @ np.arange(12.0)) * present.sum(axis=1), 12)


# Each call is on one line, which the warning must name.
CALLS = {"explainer of labels": (apportion.ModelWarning, lambda: apportion.Explainer(Labels(), ROWS)),
         "call of an explainer of labels": (apportion.ModelWarning,
                                            lambda: apportion.Explainer(Labels())(ROWS)),
         "explain labels": (apportion.ModelWarning, lambda: apportion.explain(Labels(), ROWS, ROWS)),
         "batches of labels": (apportion.ModelWarning, lambda: apportion.BatchExplainer(Labels(), ROWS)),
         "explain batches of labels": (apportion.ModelWarning,
                                       lambda: list(apportion.explain_batches(TABLE, Labels(), ROWS))),
         "summarize labels": (apportion.ModelWarning, lambda: apportion.summarize(TABLE, Labels(), ROWS)),
         "explain": (apportion.AccuracyWarning, lambda: apportion.explain(bent, ROWS[:1], ROWS, **ROUGH)),
         "call": (apportion.AccuracyWarning, lambda: apportion.Explainer(bent, ROWS, **ROUGH)(ROWS[:1])),
         "values": (apportion.AccuracyWarning,
                    lambda: apportion.Explainer(bent, ROWS, **ROUGH).shap_values(ROWS[:1])),
         "batches": (apportion.AccuracyWarning,
                     lambda: list(apportion.explain_batches(TABLE.slice(0, 1), bent, ROWS, **ROUGH))),
         "game": (apportion.AccuracyWarning, lambda: game().explain(**ROUGH)),
         "text": (apportion.AccuracyWarning,
                  lambda: apportion.explain_text(lengths, "a b c d e f g h i j", **ROUGH)),
         "image": (apportion.AccuracyWarning,
                   lambda: apportion.explain_image(lights, IMAGE, segments="3x4", **ROUGH))}


def caught(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    own = (apportion.ModelWarning, apportion.AccuracyWarning, FutureWarning, DeprecationWarning)
    return [warning for warning in found if issubclass(warning.category, own)]


@pytest.mark.parametrize("name", CALLS)
def test_warnings_are_of_the_line_of_the_call(name):
    category, call = CALLS[name]
    found = [warning for warning in caught(call) if warning.category is category]
    assert found
    for warning in found:
        at = __file__, inspect.getsourcelines(call)[1]
        assert (warning.filename, warning.lineno) == at, str(warning.message)


@pytest.mark.parametrize("of", ["file", "object"])
def test_warnings_of_trees_are_of_the_line_of_the_call(of, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("shap")
    import apportion.shap

    data = xgboost.DMatrix(ROWS, np.arange(6.0))
    booster = xgboost.train(dict(nthread=1), data, 9,
                            evals=[(xgboost.DMatrix(ROWS, np.arange(6.0)[::-1]), "other")],
                            early_stopping_rounds=3, verbose_eval=False)
    assert booster.best_iteration < booster.num_boosted_rounds() - 1
    model = booster
    if of == "file":
        booster.save_model(tmp_path / "model.json")
        model = tmp_path / "model.json"
    calls = [
        lambda: apportion.Ensemble(model),
        lambda: apportion.Explainer(model),
        lambda: apportion.TreeExplainer(model),
        lambda: apportion.explain(model, ROWS),
        lambda: apportion.BatchExplainer(model),
        lambda: apportion.shap.TreeExplainer(model),
        lambda: apportion.shap.Explainer(model),
    ]
    for call in calls:
        found = caught(call)
        assert found
        for warning in found:
            at = __file__, inspect.getsourcelines(call)[1]
            assert (warning.filename, warning.lineno) == at, str(warning.message)
            assert warning.category is apportion.ModelWarning


def test_warnings_of_shap_are_of_the_line_of_the_call(booster):
    pytest.importorskip("shap")
    import apportion.shap

    found = caught(lambda: apportion.shap.TreeExplainer(booster, approximate=True,
                                                        feature_perturbation="interventional"))
    assert {warning.category for warning in found} >= {DeprecationWarning, FutureWarning}
    assert {warning.filename for warning in found} == {__file__}
