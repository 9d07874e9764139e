"""Trees after preprocessing of columns, and sums of several ensembles, as skl2onnx writes them.

Predictions equal those of onnxruntime, also next to every threshold, and values equal those from enumerating
coalitions with the runtime's predictions.
"""
import warnings

import numpy as np
import pytest

import apportion

pd = pytest.importorskip("pandas")
pytest.importorskip("sklearn")
skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from skl2onnx.common.data_types import (  # noqa: E402
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
)
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.multioutput import MultiOutputRegressor  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import (  # noqa: E402
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor  # noqa: E402

SIZE = {"n_estimators": 8, "max_depth": 4, "random_state": 1}
NUMBERS = ["a", "b", "c"]


def data(count=400):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame((rng.normal(size=(count, 3)) * [1, 30, 1e-3] + [0, 100, 0]).astype(np.float32),
                         columns=NUMBERS)
    frame["word"], frame["number"] = rng.choice(["red", "green", "blue"], count), rng.integers(-2, 3, count)
    frame["yes"] = rng.choice(["y", "n"], count)
    scaled = (frame[NUMBERS] - frame[NUMBERS].mean()) / frame[NUMBERS].std()
    target = 2 * scaled.a + np.sin(3 * scaled.b) + (scaled.c > 0) + (
        frame.word == "green") * 1.5 + (frame.number == 1) - (frame.yes == "n") * scaled.a
    return frame, target.to_numpy(float)


FRAME, TARGET = data()
TWO, THREE = (TARGET > 1).astype(int), np.digitize(TARGET, [0, 2])


class Runtime:
    """Scores that onnxruntime predicts for the rows of a frame, without labels."""

    def __init__(self, content, output=None):
        self.session = onnxruntime.InferenceSession(content)
        self.output = output

    def __call__(self, frame):
        kinds = {"tensor(float)": np.float32, "tensor(double)": float, "tensor(int64)": np.int64,
                 "tensor(string)": object}
        inputs = self.session.get_inputs()
        if len(inputs) == 1:
            feeds = {inputs[0].name: frame.to_numpy(kinds[inputs[0].type])}
        else:
            feeds = {given.name: frame[[given.name]].to_numpy(kinds[given.type]) for given in inputs}
        found = dict(zip([output.name for output in self.session.get_outputs()],
                         self.session.run(None, feeds)))
        scores = found[self.output] if self.output else list(found.values())[-1]
        return np.asarray(scores, float).reshape(len(frame), -1)


def near_changes(runtime, frame, column, kind):
    """Returns rows with numbers of a column just below and just above changes of the prediction."""
    values = np.sort(frame[column].dropna().to_numpy())[::5]
    base = frame.iloc[[len(frame) // 2]]

    def scores(values):
        return runtime(pd.concat([base] * len(values),
                                 ignore_index=True).assign(**{column: np.array(values, kind)}))

    said, found = scores(values), []
    for index in np.flatnonzero((said[1:] != said[:-1]).any(1))[:8]:
        low, high = kind(values[index]), kind(values[index + 1])
        while (middle := kind((float(low) + float(high)) / 2)) not in (low, high):
            low, high = (middle, high) if (scores([middle])[0] == said[index]).all() else (low, middle)
        found += [low, high]
    return pd.concat([base] * len(found),
                     ignore_index=True).assign(**{column: np.array(found, kind)}) if found else frame[:0]


def rows_to_compare(runtime, frame, kind, missing, unseen):
    rng = np.random.default_rng(3)
    frame = frame.reset_index(drop=True)
    near = [near_changes(runtime, frame, column, kind) for column in NUMBERS if column in frame]
    rest = frame.sample(1000, replace=True, random_state=5).reset_index(drop=True)
    for column in [column for column in NUMBERS if column in frame]:
        # The numbers are values of other rows, midpoints of neighbouring values, and extremes.
        values = np.sort(frame[column].to_numpy())
        middles = ((values[1:].astype(float) + values[:-1]) / 2).astype(kind)
        drawn = rng.choice(np.concatenate([values, middles, np.array([0, -0.0, 1e-38, 1e30, -1e30], kind)]),
                           len(rest))
        if missing:
            drawn = np.where(rng.random(len(rest)) < 0.15, np.nan, drawn)
        rest[column] = np.where(rng.random(len(rest)) < 0.7, drawn, rest[column]).astype(kind)
    for column in unseen:
        rest[column] = np.where(rng.random(len(rest)) < 0.15, "never seen", rest[column])
    return pd.concat([*near, rest], ignore_index=True)


def graph_of(model, frame, target, types=None, options=None):
    model.fit(frame, target) if target is not None else model.fit(frame)
    named = {"float32": FloatTensorType, "float64": DoubleTensorType, "int64": Int64TensorType,
             "object": StringTensorType}
    if types is None:
        types = [(name, named[str(frame[name].dtype)]([None, 1])) for name in frame]
    options = {id(model): options} if options else None
    return skl2onnx.to_onnx(model, initial_types=types, options=options,
                            target_opset={"": 18, "ai.onnx.ml": 3}).SerializeToString()


def read(content):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apportion.ModelWarning)
        return apportion.Ensemble(content)


def compare(content, frame, *, kind=np.float32, missing=False, unseen=(), output=None,
            after=lambda scores: scores):
    runtime, ensemble = Runtime(content, output), read(content)
    rows = rows_to_compare(runtime, frame, kind, missing, unseen)
    assert len(rows) >= 1000
    wanted = after(runtime(rows))
    found = ensemble.predict(rows, output="probability").reshape(len(rows), -1)
    if found.shape[1] == 1 and wanted.shape[1] == 2:
        wanted = wanted[:, 1:]
    assert found.shape == wanted.shape
    wrong = np.flatnonzero(~np.isclose(found, wanted, rtol=2e-6, atol=2e-6).all(1))
    assert not len(wrong), (f"{len(wrong)} rows, of which the first is\n{rows.iloc[wrong[0]]}\n"
                            f"{found[wrong[0]]} {wanted[wrong[0]]}")
    return ensemble


MATRIX = [("X", FloatTensorType([None, 3]))]
REGRESSORS = {
    "standard": make_pipeline(StandardScaler(), RandomForestRegressor(**SIZE)),
    "min_max": make_pipeline(MinMaxScaler(feature_range=(-3, 7)), ExtraTreesRegressor(**SIZE)),
    "robust": make_pipeline(RobustScaler(), GradientBoostingRegressor(**SIZE)),
    "three_steps": make_pipeline(StandardScaler(), MaxAbsScaler(), MinMaxScaler(),
                                 DecisionTreeRegressor(max_depth=6)),
    "clip": make_pipeline(MinMaxScaler(clip=True), DecisionTreeRegressor(max_depth=6)),
    "bins": make_pipeline(KBinsDiscretizer(5, encode="ordinal"), RandomForestRegressor(**SIZE)),
    "bins_one_hot": make_pipeline(KBinsDiscretizer(5, encode="onehot-dense"), RandomForestRegressor(**SIZE)),
    "voting": VotingRegressor([("a", RandomForestRegressor(**SIZE)),
                               ("b", make_pipeline(StandardScaler(), GradientBoostingRegressor(**SIZE)))]),
    "voting_linear": VotingRegressor([("a", RandomForestRegressor(**SIZE)), ("b", LinearRegression())]),
    "bagging": make_pipeline(StandardScaler(),
                             BaggingRegressor(DecisionTreeRegressor(max_depth=4), n_estimators=5,
                                              max_features=2, random_state=0)),
    "stacking": StackingRegressor([("a", RandomForestRegressor(**SIZE)), ("b", ExtraTreesRegressor(**SIZE))],
                                  final_estimator=LinearRegression()),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_predict_as_the_runtime(name):
    compare(graph_of(REGRESSORS[name], FRAME[NUMBERS], TARGET, MATRIX), FRAME[NUMBERS])


@pytest.mark.parametrize("target", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("kind", ["forest", "boosting", "voting", "ada_boost"])
def test_classifiers_predict_as_the_runtime(kind, target):
    model = {
        "forest": make_pipeline(StandardScaler(), RandomForestClassifier(**SIZE)),
        "boosting": make_pipeline(MinMaxScaler(), GradientBoostingClassifier(**SIZE)),
        "voting": VotingClassifier([("a", RandomForestClassifier(**SIZE)),
                                    ("b", DecisionTreeClassifier(max_depth=3))], voting="soft",
                                    flatten_transform=False),
        "ada_boost": AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6, random_state=0),
    }[kind]
    compare(graph_of(model, FRAME[NUMBERS], target, MATRIX, {"zipmap": False}), FRAME[NUMBERS])


def test_targets_and_classes_one_by_one_are_outputs():
    targets = MultiOutputRegressor(make_pipeline(StandardScaler(), GradientBoostingRegressor(**SIZE)))
    assert compare(graph_of(targets, FRAME[NUMBERS], np.c_[TARGET, -(TARGET**2)], MATRIX),
                   FRAME[NUMBERS]).output_count == 2
    model = OneVsRestClassifier(RandomForestClassifier(**SIZE))
    content = graph_of(model, FRAME[NUMBERS], THREE, MATRIX, {"zipmap": False})
    ensemble = read(content)
    margins = ensemble.predict(FRAME[NUMBERS])
    shares = margins / margins.sum(1, keepdims=True)
    assert ensemble.link is None and np.allclose(shares, Runtime(content)(FRAME[NUMBERS]), atol=2e-6)


def test_missing_values_go_where_the_imputer_takes_them():
    frame = FRAME[NUMBERS].mask(np.random.default_rng(2).random((len(FRAME), 3)) < 0.1).astype(np.float32)
    for model in (make_pipeline(SimpleImputer(strategy="median"), StandardScaler(),
                                RandomForestRegressor(**SIZE)),
                  make_pipeline(SimpleImputer(strategy="constant", fill_value=-1e6),
                                GradientBoostingRegressor(**SIZE))):
        compare(graph_of(model, frame, TARGET, MATRIX), frame, missing=True)


ignore = {"handle_unknown": "ignore"}
TABLES = {
    "one_hot": (OneHotEncoder(**ignore), ["word", "yes"], RandomForestRegressor(**SIZE), ["word", "yes"]),
    "whole_one_hot": (OneHotEncoder(**ignore), ["word", "number"], GradientBoostingRegressor(**SIZE),
                      ["word"]),
    "ordinal": (OrdinalEncoder(), ["word", "yes"], RandomForestRegressor(**SIZE), []),
    "filled_in": (make_pipeline(SimpleImputer(missing_values="", strategy="most_frequent"),
                                OneHotEncoder(**ignore)), ["word"],
                  GradientBoostingRegressor(**SIZE), ["word"]),
    "linear": (OneHotEncoder(**ignore), ["word", "yes"], LinearRegression(), ["word"]),
    "whole_linear": (OneHotEncoder(**ignore), ["number"], LinearRegression(), []),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_with_words_predict_as_the_runtime(name):
    encoder, columns, model, unseen = TABLES[name]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    pipeline = make_pipeline(ColumnTransformer([
        ("words", encoder, columns), ("numbers", numbers, ["a", "b"]), ("rest", "passthrough", ["c"])]),
        model)
    compare(graph_of(pipeline, FRAME, TARGET), FRAME, unseen=unseen)


def test_doubles_and_words_in_one_table():
    frame = FRAME.astype(dict.fromkeys(NUMBERS, float))
    frame[NUMBERS] *= 1 + 1e-10
    encoders = ColumnTransformer([("words", OneHotEncoder(**ignore), ["word"]),
                                  ("numbers", StandardScaler(), NUMBERS)])
    pipeline = make_pipeline(encoders, RandomForestRegressor(**SIZE))
    compare(graph_of(pipeline, frame, TARGET), frame, kind=np.float64, unseen=["word"])


def test_a_logistic_regression_after_encoders():
    pipeline = make_pipeline(ColumnTransformer([
        ("words", OneHotEncoder(**ignore), ["word", "number"]), ("bits", Binarizer(), ["a"]),
                                                ("numbers", StandardScaler(), ["b", "c"])]),
                                                LogisticRegression())
    for target in (TWO, THREE):
        content = graph_of(pipeline, FRAME, target, options={"zipmap": False})
        ensemble, rows = read(content), FRAME.assign(word=np.where(
            np.arange(len(FRAME)) % 7, FRAME.word, "never seen"))
        found, wanted = ensemble.predict(rows, output="probability").reshape(
            len(rows), -1), Runtime(content)(rows)
        assert np.allclose(found, wanted[:, 1:] if found.shape[1] == 1 else wanted, atol=1e-5)


def test_isolation_forests_have_the_score_of_scikit_learn():
    model = IsolationForest(n_estimators=7, max_samples=64, random_state=0)
    content = graph_of(model, FRAME[NUMBERS], None, MATRIX)
    ensemble = compare(content, FRAME[NUMBERS], output="scores", after=lambda scores: 0.5 - scores)
    assert ensemble.link == "half-power"
    own = apportion.Ensemble(model)
    assert np.allclose(ensemble.predict(FRAME[NUMBERS]), own.predict(FRAME[NUMBERS]), atol=1e-4)
    background = FRAME[NUMBERS][:20]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", apportion.ModelWarning)
        found = apportion.TreeExplainer(content, background)(FRAME[NUMBERS][20:40]).values
    assert np.allclose(found, apportion.TreeExplainer(model, background)(FRAME[NUMBERS][20:40]).values,
                       atol=1e-4)


@pytest.mark.parametrize("name", ["standard", "voting_linear", "bagging"])
def test_values_are_those_of_enumeration(name):
    content = graph_of(REGRESSORS[name], FRAME[NUMBERS], TARGET, MATRIX)
    runtime = Runtime(content)
    background, rows = FRAME[NUMBERS][:15], FRAME[NUMBERS][200:210]
    found = apportion.TreeExplainer(content, background)(rows).values
    wanted = apportion.Explainer(lambda frame: runtime(pd.DataFrame(frame, columns=NUMBERS))[:, 0],
                                 background, method="exact")(rows).values
    assert np.allclose(found, wanted, atol=1e-4)


def test_values_of_words_are_those_of_enumeration():
    pipeline = make_pipeline(ColumnTransformer([
        ("words", OneHotEncoder(**ignore), ["word", "yes", "number"]),
        ("numbers", StandardScaler(), NUMBERS)]),
                             GradientBoostingRegressor(**SIZE))
    content = graph_of(pipeline, FRAME, TARGET)
    background, rows = FRAME[:12], FRAME[100:106]
    found = apportion.TreeExplainer(content, background)(rows).values
    wanted = apportion.Explainer(lambda frame: pipeline.predict(frame), background,
                                 method="exact")(rows).values
    assert np.allclose(found, wanted, atol=1e-4)


REFUSED = {
    "Normalizer": make_pipeline(Normalizer(), RandomForestRegressor(**SIZE)),
    "ReduceProd": make_pipeline(PolynomialFeatures(2), DecisionTreeRegressor(max_depth=3)),
    "Imputer": make_pipeline(SimpleImputer(missing_values=0.0), DecisionTreeRegressor(max_depth=3)),
    "GatherElements": AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=2, random_state=0),
}


@pytest.mark.parametrize("operator", REFUSED)
def test_what_is_not_a_sum_of_trees_is_refused_with_another_way(operator):
    content = graph_of(REFUSED[operator], FRAME[NUMBERS], TARGET, MATRIX)
    with pytest.raises(apportion.ModelError, match=r"apportion\.Explainer\(function, X\)") as refused:
        apportion.Ensemble(content)
    assert operator in str(refused.value)
    runtime = Runtime(content)
    found = apportion.Explainer(lambda rows: runtime(pd.DataFrame(rows, columns=NUMBERS))[:, 0],
                                FRAME[NUMBERS][:5])(FRAME[NUMBERS][5:8])
    assert found.additivity_gap() < 1e-6
