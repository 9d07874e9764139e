"""Exact values of the kernel machines of scikit-learn equal enumeration of the model as a function."""
import pickle
import warnings

import numpy as np
import pandas
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

import apportion

FEATURES = 5


def rows(count, seed=0):
    return np.random.default_rng(seed).normal(size=(count, FEATURES)) * [1, 2, 0.5, 1, 3] + [0, 5, 0, -2, 1]


def target(X):
    return np.sin(X[:, 0]) + X[:, 1] * X[:, 2] - 0.3 * X[:, 3]


X = rows(80)
Y = target(X)
LABELS = np.where(Y > np.median(Y), "high", "low")
PROCESS = (ConstantKernel(2.0) * RBF(np.array([1.0, 3.0, 0.7, 2.0, 4.0])) + WhiteKernel(0.01)
           + 0.5 * RBF(2.0) + ConstantKernel(0.1))
REGRESSORS = {
    "SVR": SVR(C=10), "SVR-gamma": SVR(gamma=0.2), "NuSVR": NuSVR(C=2),
    "KernelRidge-rbf": KernelRidge(kernel="rbf", gamma=0.1, alpha=0.1),
    "KernelRidge-laplacian": KernelRidge(kernel="laplacian", alpha=0.1),
    "KernelRidge-linear": KernelRidge(alpha=0.1),
    "process": GaussianProcessRegressor(PROCESS, optimizer=None, alpha=1e-6),
    "process-normalized": GaussianProcessRegressor(PROCESS, optimizer=None, normalize_y=True),
    "process-quadratic": GaussianProcessRegressor(
        2.0 * RationalQuadratic(1.5, 0.7) + RBF(3.0) * 0.3 + WhiteKernel(0.01), optimizer=None),
    "process-matern": GaussianProcessRegressor(
        Matern([1.0, 3.0, 0.7, 2.0, 4.0], nu=0.5) * 0.5 + 0.7 * Matern(2.0, nu=1.5) + Matern(3.0, nu=2.5)
        + Matern(2.0, nu=np.inf), optimizer=None, alpha=0.01, normalize_y=True),
    "process-fitted": GaussianProcessRegressor(1.0 * RBF(1.0) + WhiteKernel(0.1)),
}
FITTED = {name: (model.fit(X, Y), "predict") for name, model in REGRESSORS.items()}
FITTED |= {f"scaled-{name}": (make_pipeline(StandardScaler(), StandardScaler(with_mean=False), type(model)(
    **model.get_params(deep=False))).fit(X, Y), "predict") for name, model in REGRESSORS.items()}
FITTED |= {
    "KernelRidge-two": (KernelRidge(kernel="rbf").fit(X, np.c_[Y, X[:, 0]]), "predict"),
    "process-two": (GaussianProcessRegressor(PROCESS, optimizer=None, normalize_y=True).fit(
        X, np.c_[Y, X[:, 0]]), "predict"),
    "SVC": (SVC().fit(X, LABELS), "decision_function"),
    "NuSVC": (NuSVC(gamma=0.3).fit(X, LABELS), "decision_function"),
    "scaled-SVC": (make_pipeline(StandardScaler(), SVC()).fit(X, LABELS), "decision_function"),
    "OneClassSVM": (OneClassSVM(nu=0.2).fit(X), "decision_function"),
}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apportion.ModelWarning)
        yield


def enumerated(call, explained, **options):
    return apportion.Explainer(lambda rows: call(rows), X[:12], method="exact", **options)(explained)


def assert_near(got, expected, tolerance=1e-9):
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", FITTED)
def test_values_equal_enumeration(name):
    model, method = FITTED[name]
    explained = rows(4, seed=1)
    explainer = apportion.Explainer(model, X[:12])
    found = explainer(explained)
    expected = enumerated(getattr(model, method), explained)
    assert found.method == "kernel-machine"
    assert found.std_errors is None and found.evaluations is None
    assert_near(found.values, expected.values)
    assert_near(found.predictions, getattr(model, method)(explained))
    assert_near(found.base_values, expected.base_values)
    assert_near(explainer.expected_value, np.asarray(expected.base_values)[0])
    assert explainer.plan(explained)["method"] == "kernel-machine"
    assert not any("not exactly" in note for note in explainer.notes)
    assert not any("not exactly" in note for note in found.notes)


@pytest.mark.parametrize("options", [
    dict(value="banzhaf"), dict(value="beta=4,1"), dict(value="owen", groups=[[0, 1], [2, 3, 4]]),
    dict(value="quotient-shapley", groups=[[0, 1], [2, 3], [4]]), dict(weights=np.arange(12.0)),
])
def test_all_values(options):
    model = FITTED["scaled-SVR"][0]
    explained = rows(3, seed=2)
    found = apportion.Explainer(model, X[:12], **options)(explained)
    assert found.method == "kernel-machine"
    assert_near(found.values, enumerated(model.predict, explained, **options).values)


def test_interactions_and_tolerances():
    model = FITTED["SVR"][0]
    explained = rows(2, seed=3)
    explainer = apportion.Explainer(model, X[:12], until=0.01)
    assert explainer(explained).certificates is not None
    found = apportion.Explainer(model, X[:12])(explained, interactions=True)
    assert_near(found.values, apportion.Explainer(model.predict, X[:12])(explained, interactions=True).values)


@pytest.mark.parametrize("name", ["scaled-SVR", "process-two", "process-quadratic", "process-matern", "SVC"])
@pytest.mark.parametrize("options", [
    dict(), dict(value="banzhaf"), dict(value="beta=4,1"), dict(weights=np.arange(12.0)),
    dict(value="quotient-shapley", groups=[[0, 1], [2, 3], [4]]),
])
def test_interactions_equal_enumeration(name, options):
    model, method = FITTED[name]
    explained = rows(2, seed=5)
    found = apportion.Explainer(model, X[:12], **options)(explained, interactions=True)
    function = apportion.Explainer(lambda rows: getattr(model, method)(rows), X[:12], method="exact",
                                   **options)
    expected = function(explained, interactions=True)
    assert (found.method, found.interactions, found.std_errors) == ("kernel-machine", "index", None)
    assert_near(found.values, expected.values)
    assert_near(found.base_values, expected.base_values)
    explainer = apportion.Explainer(model, X[:12], **options)
    remainders = explainer(explained, interactions="remainder")
    assert_near(remainders.values.sum(axis=2), explainer(explained).values)
    np.testing.assert_array_equal(2 * remainders.values[:, 0, 1], found.values[:, 0, 1])
    np.testing.assert_array_equal(explainer.shap_interaction_values(explained), remainders.values)


def test_interactions_of_many_features_are_exact():
    wide = np.random.default_rng(0).normal(size=(60, 40))
    model = SVR().fit(wide, wide[:, 0] * wide[:, 1])
    explainer = apportion.Explainer(model, wide[:3])
    found = explainer(wide[:2], interactions="remainder")
    assert found.method == "kernel-machine"
    assert_near(found.values.sum(axis=(1, 2)), model.predict(wide[:2]) - explainer.expected_value)


def test_other_methods_and_games_call_the_model():
    model = FITTED["SVR"][0]
    explained = rows(2, seed=3)
    for options in (dict(method="exact"), dict(method="leverage-shap"), dict(game="gaussian", draws=20),
                    dict(value="c-shapley=2", graph="line")):
        given = apportion.Explainer(model, X[:12], **options)(explained)
        expected = apportion.Explainer(lambda rows: model.predict(rows), X[:12], **options)(explained)
        assert given.method == expected.method != "kernel-machine"
        np.testing.assert_array_equal(given.values, expected.values)
    with pytest.raises(apportion.UsageError, match="requires a kernel machine"):
        apportion.Explainer(lambda rows: rows[:, 0], X[:12], method="kernel-machine")(explained)
    found = apportion.Explainer(model, X[:12], method="kernel-machine")(explained)
    assert found.method == "kernel-machine"


class Doubled(SVR):
    def predict(self, X):
        return 2 * super().predict(X)


@pytest.mark.parametrize("model", [
    SVR(kernel="poly"), Doubled(), 
    *(GaussianProcessRegressor(kernel, optimizer=None, alpha=0.1) for kernel in (
        DotProduct(), RationalQuadratic() * RBF(), Matern(nu=0.7), RationalQuadratic(alpha=0.01))),
    make_pipeline(MinMaxScaler(), SVR()),
])
def test_models_that_are_not_recognised_are_called(model):
    model = model.fit(X, Y)
    explained = rows(2, seed=3)
    found = apportion.Explainer(model, X[:12])(explained)
    assert found.method == "exact"
    assert_near(found.values, enumerated(model.predict, explained).values)


def test_probabilities_and_several_classes_are_called():
    explained = rows(2, seed=3)
    model = SVC(probability=True, random_state=0).fit(X, LABELS)
    assert apportion.Explainer(model, X[:12])(explained).method == "kernel-machine"
    found = apportion.Explainer(model, X[:12], model_output="predict_proba")(explained)
    assert found.method == "exact"
    three = SVC().fit(X, np.digitize(Y, np.quantile(Y, [0.3, 0.6])))
    assert apportion.Explainer(three, X[:12])(explained).method == "exact"


def test_a_model_that_is_fitted_again_is_called():
    model = SVR().fit(X, Y)
    explained = rows(3, seed=3)
    explainer = apportion.Explainer(model, X[:12])
    assert explainer(explained).method == "kernel-machine"
    model.fit(X, -3 * Y)
    found = explainer(explained)
    assert found.method == "exact"
    assert_near(found.values, enumerated(model.predict, explained).values)


def test_frames_and_tables_without_a_background():
    names = list("abcde")
    frame = pandas.DataFrame(X, columns=names)
    model = make_pipeline(StandardScaler(), SVR()).fit(frame, Y)
    found = apportion.Explainer(model, frame[:12])(frame[20:24])
    assert (found.method, found.feature_names) == ("kernel-machine", names)
    expected = apportion.Explainer(lambda rows: model.predict(rows), frame[:12], method="exact")(frame[20:24])
    assert_near(found.values, expected.values)
    assert apportion.explain(model, frame[:30]).method == "kernel-machine"
    with pytest.raises(apportion.Error):
        apportion.Explainer(model, frame[:12])(frame[20:24].assign(a=np.nan))


def test_same_bytes_for_any_threads_and_after_pickling(tmp_path):
    model = FITTED["scaled-process"][0]
    explained = rows(40, seed=4)
    explainer = apportion.Explainer(model, X[:12])
    found = explainer(explained)
    again = pickle.loads(pickle.dumps(explainer))
    for other in (explainer(explained, threads=1), explainer(explained, threads=3), again(explained)):
        assert other.method == "kernel-machine"
        assert other.values.tobytes() == found.values.tobytes()
    assert explainer(explained[7:8]).values.tobytes() == found.values[7:8].tobytes()
    path = tmp_path / "run.checkpoint"
    for _ in range(2):
        kept = explainer(explained, checkpoint=path)
        assert (kept.method, kept.values.tobytes()) == ("kernel-machine", found.values.tobytes())


def test_batches():
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = SVR().fit(frame, Y)
    explainer = apportion.Explainer(model, frame[:12])
    batches = pickle.loads(pickle.dumps(apportion.BatchExplainer(explainer, layout="lists")))
    table = pyarrow.Table.from_pandas(frame[20:30])
    told = pyarrow.Table.from_batches(list(batches(table.to_batches())))
    expected = explainer(frame[20:30]).values
    assert "std_errors" not in told.column_names
    np.testing.assert_array_equal(np.array(told["values"].to_pylist()), expected)
