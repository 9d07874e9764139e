"""What shap and shapiq make of explanations."""
import warnings

import numpy as np
import pytest

import apportion

shap = pytest.importorskip("shap")


@pytest.fixture(scope="module")
def pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def explained(numbers):
    xgboost = pytest.importorskip("xgboost")
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(numbers[0], columns=["a", "b", "c", "d"])
    one = xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(rows, numbers[1])
    several = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(rows, np.digitize(numbers[1], [-0.5, 0.5]))
    return [apportion.TreeExplainer(one)(rows), apportion.TreeExplainer(several)(rows)[..., "1"]]


PLOTS = {
    "waterfall": lambda found: shap.plots.waterfall(found[0], show=False),
    "bar": lambda found: shap.plots.bar(found, show=False),
    "bar of one": lambda found: shap.plots.bar(found[0], show=False),
    "beeswarm": lambda found: shap.plots.beeswarm(found, show=False),
    "scatter": lambda found: shap.plots.scatter(found[:, "a"], show=False),
    "heatmap": lambda found: shap.plots.heatmap(found, show=False),
    "force": lambda found: shap.plots.force(found[0], matplotlib=True, show=False),
    "decision": lambda found: shap.plots.decision(found.base_values[0], found.values[:10], features=found.data[:10], feature_names=found.feature_names, show=False),
    "violin": lambda found: shap.plots.violin(found, show=False),
}


@pytest.mark.parametrize("plot", PLOTS)
def test_plots_draw(pictures, explained, plot):
    for found in explained:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            warnings.filterwarnings("ignore", module="shap|matplotlib|numba")
            PLOTS[plot](found.to_shap())
        pictures.close("all")


def test_the_signature_is_that_of_shap():
    import inspect

    import apportion.shap

    for method in ("__init__", "__call__", "shap_values", "shap_interaction_values"):
        own = inspect.signature(getattr(apportion.shap.TreeExplainer, method)).parameters
        other = inspect.signature(getattr(shap.TreeExplainer, method)).parameters
        assert list(own) == list(other), method
        for name in own:
            if name != "approximate" or method != "__init__":
                assert own[name].default == other[name].default, (method, name)


def test_values_are_those_of_shap(numbers):
    xgboost = pytest.importorskip("xgboost")
    import apportion.shap

    rows, targets = numbers
    model = xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(rows, targets)
    for more in ({}, dict(data=rows[:10])):
        own, other = apportion.shap.TreeExplainer(model, **more), shap.TreeExplainer(model, **more)
        found, wanted = own(rows[:20]), other(rows[:20])
        assert type(found) is type(wanted) and np.abs(found.values - wanted.values).max() < 1e-4
        assert np.allclose(found.base_values, wanted.base_values, atol=1e-4)
        assert np.isclose(own.expected_value, other.expected_value, atol=1e-4)
        assert found.values.shape == own.shap_values(rows[:20]).shape
    pairs = apportion.shap.TreeExplainer(model).shap_interaction_values(rows[:5])
    assert np.abs(pairs - shap.TreeExplainer(model).shap_interaction_values(rows[:5])).max() < 1e-4


def test_shapiq_takes_values_and_interactions(numbers):
    pytest.importorskip("shapiq")
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    explainer = apportion.TreeExplainer(xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1).fit(rows, targets))
    found = explainer(rows[:2])
    taken = found.to_shapiq(row=1)
    assert [taken[(player,)] for player in range(4)] == found.values[1].tolist() and taken.baseline_value == found.base_values[1]
    pairs = explainer(rows[:2], interactions=True)
    assert pairs.to_shapiq(row=0)[(0, 1)] == pairs.values[0, 0, 1]
