"""The check that the trees as read and the model predict the same: it has no false alarms, and finds every
fault.
"""
import json

import numpy as np
import pytest

import apportion
from apportion._agreement import check
from apportion._data import table
from apportion._models import Ensemble

QUIET = dict(n_jobs=1, verbose=-1)
CAT = dict(verbose=0, allow_writing_files=False, thread_count=1)


def compared(model, rows, ensemble=None, **options):
    """Returns the number of rows that the check compares."""
    ensemble = apportion.Ensemble(model) if ensemble is None else ensemble
    values = table(rows, ensemble.wanted()).values
    return check(model, ensemble, rows, values, **options)


@pytest.fixture(scope="module")
def mixed():
    """A data frame with every kind of column that trees accept, and targets."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(5)
    count = 200
    frame = pandas.DataFrame({
        "a": random.normal(size=count), "c": pandas.Categorical(random.choice(["x", "y", "z"], count)),
        "i": random.integers(0, 5, count),
        "b": random.random(count) > 0.5, "o": pandas.Categorical(random.choice([10, 20, 5], count)),
        "m": random.choice([1.0, 2.0, np.nan], count),
    })
    return frame, (2 * frame["a"] + 3 * (frame["c"] == "x") + frame["b"]
                   + 2 * (frame["o"] == 5)).to_numpy(dtype=float)


XGBOOST = {
    "plain": dict(), "dart": dict(booster="dart", rate_drop=0.3), "gblinear": dict(booster="gblinear"),
    "large base": dict(base_score=1e5),
    "parallel trees": dict(num_parallel_tree=5, subsample=0.5, learning_rate=1),
    "counts": dict(objective="count:poisson"),
    "gamma": dict(objective="reg:gamma"), "tweedie": dict(objective="reg:tweedie"),
    "many trees": dict(n_estimators=1000, learning_rate=0.02),
    "leaf-wise": dict(max_depth=0, grow_policy="lossguide", max_leaves=20, tree_method="hist"),
    "missing is 0": dict(missing=0.0),
}


@pytest.mark.parametrize("kind", XGBOOST)
def test_xgboost_agrees(mixed, kind):
    xgboost = pytest.importorskip("xgboost")
    frame, targets = mixed
    rows = frame[["a", "i", "b", "m"]]
    rows = rows.fillna(0.0) if "missing" in kind else rows
    targets = np.abs(targets) + 0.1
    model = xgboost.XGBRegressor(**{**dict(n_estimators=20, n_jobs=1), **XGBOOST[kind]}).fit(rows, targets)
    for linked in (False, True):
        assert compared(model, rows, linked=linked) == 20
        assert compared(model, rows.to_numpy(dtype=float), linked=linked) == 20
    if "missing" not in kind:
        assert compared(model.get_booster(), rows) == compared(
            model.get_booster(), xgboost.DMatrix(rows)) == 20
    # Test columns in a different order, with others between them, and single rows.
    assert compared(model, rows.iloc[:, ::-1].assign(extra=1.0)) == 20
    assert compared(model, rows.iloc[3]) == compared(model, rows.to_numpy(dtype=float)[3]) == 1
    chosen = apportion.Ensemble(model, rounds=(0, 1))
    assert compared(model, rows, chosen) == 20


@pytest.mark.parametrize("kind",
                         ["two classes", "three classes", "words", "large leaves", "32 bits",
                          "several targets", "codes"])
def test_xgboost_of_other_tasks_agrees(mixed, kind):
    xgboost = pytest.importorskip("xgboost")
    frame, targets = mixed
    options = dict(n_estimators=15, n_jobs=1, enable_categorical=True, tree_method="hist")
    numbers = frame[["a", "i", "m"]].to_numpy(dtype=float)
    model = xgboost.XGBRegressor(**options)
    if kind == "two classes":
        model, rows = xgboost.XGBClassifier(**options).fit(frame, targets > 2), frame
    elif kind == "three classes":
        model, rows = xgboost.XGBClassifier(**options).fit(frame, np.digitize(targets, [1, 3])), frame
    elif kind == "words":
        model, rows = model.fit(frame, targets), frame
        reordered = frame.assign(c=frame["c"].cat.reorder_categories(["z", "y", "x"]))
        assert compared(model, reordered) == 20
    elif kind == "large leaves":
        # These trees cancel each other: margins are small compared to the leaf values that they sum.
        steps = np.where(np.arange(len(targets)) % 2, 1e7, -1e7)
        model, rows = xgboost.XGBRegressor(n_estimators=300, n_jobs=1, learning_rate=0.9).fit(
            numbers, steps), numbers
    elif kind == "32 bits":
        model, rows = model.fit(numbers.astype(np.float32), targets), numbers.astype(np.float32)
    elif kind == "several targets":
        model, rows = model.fit(numbers, np.c_[targets, -targets]), numbers
    else:
        model = model.fit(frame, targets)
        rows = frame.assign(c=frame["c"].cat.codes, o=frame["o"].cat.codes).to_numpy(dtype=float)
    assert compared(model, rows) == 20


LIGHTGBM = {
    "plain": dict(), "dart": dict(boosting_type="dart"),
    "forest": dict(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5),
    "linear leaves": dict(linear_tree=True), "counts": dict(objective="poisson"),
    "zero is missing": dict(zero_as_missing=True),
    "none is missing": dict(use_missing=False), "root": dict(reg_sqrt=True),
    "many trees": dict(n_estimators=1000),
}


@pytest.mark.parametrize("kind", LIGHTGBM)
def test_lightgbm_agrees(mixed, kind):
    lightgbm = pytest.importorskip("lightgbm")
    frame, targets = mixed
    rows = frame[["a", "i", "b", "m"]] if kind == "linear leaves" else frame
    model = lightgbm.LGBMRegressor(**{**dict(n_estimators=20, **QUIET), **LIGHTGBM[kind]}).fit(
        rows, np.abs(targets) + 0.1)
    assert compared(model, rows) == compared(model.booster_, rows) == 20
    assert compared(model, rows, apportion.Ensemble(model, rounds=(2, 7))) == 20
    numbers = rows.assign(**{name: rows[name].cat.codes for name in (
        "c", "o") if name in rows}).to_numpy(dtype=float)
    assert compared(model, numbers) == compared(model, numbers.astype(np.float32)) == 20
    if kind != "root":
        assert compared(model, rows, linked=True) == 20


@pytest.mark.parametrize("kind", ["two", "three", "one against all", "steep", "ranker"])
def test_lightgbm_classes_agree(mixed, kind):
    lightgbm = pytest.importorskip("lightgbm")
    frame, targets = mixed
    classes = targets > 2 if kind in ("two", "steep") else np.digitize(targets, [1, 3])
    more = {"one against all": dict(objective="multiclassova"), "steep": dict(sigmoid=2.5)}.get(kind, {})
    if kind == "ranker":
        model = lightgbm.LGBMRanker(n_estimators=10, **QUIET).fit(frame, classes, group=[10] * 20)
    else:
        model = lightgbm.LGBMClassifier(n_estimators=10, **QUIET, **more).fit(frame, classes)
    assert compared(model, frame) == compared(model, frame, linked=True) == 20


CATBOOST = {
    "plain": dict(), "depthwise": dict(grow_policy="Depthwise"), "counts": dict(loss_function="Poisson"),
    "missing above": dict(nan_mode="Max"),
    "quantiles": dict(loss_function="MultiQuantile:alpha=0.1,0.5"), "many trees": dict(iterations=500),
}


@pytest.mark.parametrize("kind", CATBOOST)
def test_catboost_agrees(mixed, kind):
    catboost = pytest.importorskip("catboost")
    frame, targets = mixed
    rows = frame.assign(c=frame["c"].astype(str), o=frame["o"].astype(int))
    options = {**dict(iterations=20, cat_features=["c", "o"], **CAT), **CATBOOST[kind]}
    model = catboost.CatBoostRegressor(**options).fit(rows, np.abs(targets) + 0.1)
    assert compared(model, rows) == compared(model, rows, linked=True) == 20
    assert compared(model, rows.iloc[:, ::-1]) == compared(
        model, rows, apportion.Ensemble(model, rounds=(3, 8))) == 20
    model.set_scale_and_bias(2.0, model.get_scale_and_bias()[1])
    assert compared(model, rows) == 20


@pytest.mark.parametrize("kind", ["two", "three", "words", "ranker", "plain", "pool"])
def test_catboost_of_other_tasks_agrees(numbers, kind):
    catboost = pytest.importorskip("catboost")
    rows, targets = numbers
    classes = {"two": targets > 0, "words": np.where(targets > 0, "yes", "no")}.get(
        kind, np.digitize(targets, [-0.5, 0.5]))
    if kind == "ranker":
        model = catboost.CatBoostRanker(iterations=5, **CAT).fit(
            rows, classes, group_id=np.repeat(np.arange(12), 10))
    elif kind == "plain":
        model = catboost.CatBoost({"iterations": 5, "loss_function": "Logloss", **CAT}).fit(rows, targets > 0)
    elif kind == "pool":
        model = catboost.CatBoostRegressor(iterations=5, **CAT).fit(rows, targets)
    else:
        model = catboost.CatBoostClassifier(iterations=5, **CAT).fit(rows, classes)
    given = catboost.Pool(rows) if kind == "pool" else rows
    assert compared(model, given) == compared(model, given, linked=True) == 20


def scikit_learn_models():
    pytest.importorskip("sklearn")
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import (AdaBoostClassifier, BaggingRegressor, ExtraTreesClassifier,
                                  GradientBoostingClassifier,
                                  GradientBoostingRegressor, HistGradientBoostingClassifier,
                                  HistGradientBoostingRegressor,
                                  IsolationForest, RandomForestClassifier, RandomForestRegressor)
    from sklearn.linear_model import (
        LogisticRegression,
        PoissonRegressor,
        Ridge,
        RidgeClassifier,
        SGDClassifier,
    )
    from sklearn.model_selection import GridSearchCV
    from sklearn.multioutput import MultiOutputRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC, LinearSVR
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    few = dict(n_estimators=5, random_state=0)
    # The algorithm SAMME.R of older versions is not a sum of trees.
    boosted = AdaBoostClassifier(n_estimators=4)
    if getattr(boosted, "algorithm", None) == "SAMME.R":
        boosted.set_params(algorithm="SAMME")
    return {
        "numbers": [DecisionTreeRegressor(), RandomForestRegressor(**few), GradientBoostingRegressor(**few),
                    HistGradientBoostingRegressor(max_iter=5),
                    BaggingRegressor(n_estimators=3), Ridge(), LinearSVR(),
                    GridSearchCV(Ridge(), {"alpha": [1, 2]}),
                    make_pipeline(StandardScaler(), RandomForestRegressor(**few)),
                    IsolationForest(n_estimators=5),
                    RandomForestRegressor(200)],
        "counts": [PoissonRegressor(), HistGradientBoostingRegressor(loss="poisson", max_iter=5)],
        "targets": [RandomForestRegressor(**few), MultiOutputRegressor(GradientBoostingRegressor(**few)),
                    Ridge()],
        "classes": [DecisionTreeClassifier(), RandomForestClassifier(**few), ExtraTreesClassifier(**few),
                    GradientBoostingClassifier(**few),
                    HistGradientBoostingClassifier(max_iter=5), LogisticRegression(), RidgeClassifier(),
                    LinearSVC(), boosted,
                    LinearDiscriminantAnalysis(), SGDClassifier(),
                    make_pipeline(StandardScaler(), LogisticRegression())],
        "two classes": [RandomForestClassifier(**few), GradientBoostingClassifier(**few),
                        LogisticRegression(),
                        SVC(kernel="linear", probability=True),
                        SGDClassifier(loss="log_loss"), boosted],
    }


@pytest.mark.parametrize("task", ["numbers", "counts", "targets", "classes", "two classes"])
def test_scikit_learn_agrees(numbers, task):
    rows, targets = numbers
    wanted = {"numbers": targets, "counts": np.exp(targets), "targets": np.c_[targets, -targets],
              "classes": np.digitize(targets, [-0.5, 0.5]),
              "two classes": np.where(targets > 0, "yes", "no")}[task]
    for model in scikit_learn_models()[task]:
        model.fit(rows, wanted)
        assert compared(model, rows) == 20, model
        assert compared(model, rows.astype(np.float32)) == 20, model
        if apportion.Ensemble(model).link is not None:
            assert compared(model, rows, linked=True) == 20, model


def test_lists_agree_member_by_member(numbers):
    xgboost = pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")
    from sklearn.ensemble import IsolationForest
    from sklearn.linear_model import PoissonRegressor

    rows, targets = numbers
    for make in (lambda: xgboost.XGBClassifier(n_estimators=4, n_jobs=1),
                 lambda: IsolationForest(n_estimators=4), PoissonRegressor):
        models = [make().fit(rows[part], (targets[part] > 0).astype(int)) for part in (
            slice(0, 80), slice(40, 120))]
        assert compared(models, rows) == 20
        other = apportion.Ensemble([models[0], models[0]])
        with pytest.raises(apportion.ModelError,
                           match="model 1 of the list: the trees read from the model do not reproduce"):
            compared(models, rows, other)


@pytest.mark.parametrize("kind",
                         ["polars", "lazy", "arrow", "batch", "lists", "masked", "sparse", "nullable",
                          "tensor-like"])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_rows_of_every_container_are_compared(numbers, library, kind):
    module = pytest.importorskip(library)
    pandas = pytest.importorskip("pandas")
    rows, targets = numbers
    frame = pandas.DataFrame(rows, columns=list("abcd"))
    model = {"xgboost": lambda: module.XGBRegressor(n_estimators=5, n_jobs=1),
             "lightgbm": lambda: module.LGBMRegressor(n_estimators=5, **QUIET),
             "catboost": lambda: module.CatBoostRegressor(iterations=5, **CAT)}[library]()
    model.fit(frame if kind not in ("lists", "masked", "sparse", "tensor-like") else rows, targets)
    if kind in ("polars", "lazy"):
        polars = pytest.importorskip("polars")
        given = polars.from_pandas(frame) if kind == "polars" else polars.from_pandas(frame).lazy()
    elif kind in ("arrow", "batch"):
        pyarrow = pytest.importorskip("pyarrow")
        given = (pyarrow.Table.from_pandas(frame) if kind == "arrow"
                 else pyarrow.RecordBatch.from_pandas(frame))
    elif kind == "sparse":
        given = pytest.importorskip("scipy.sparse").csc_matrix(rows)
    elif kind == "tensor-like":
        itself = lambda self: self
        given = type("Tensor", (),
                     {"detach": itself, "cpu": itself, "numpy": lambda self: rows,
                      "__len__": lambda self: len(rows)})()
    else:
        given = {"lists": rows.tolist(), "masked": np.ma.masked_greater(rows, 1.0),
                 "nullable": frame.convert_dtypes()}.get(kind)
    assert compared(model, given) == 20


# Faults.


def edited(model, edit):
    """Returns the ensemble of an XGBoost model whose JSON document was edited."""
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    edit(document["learner"])
    return Ensemble._of([(json.dumps(document).encode(), True)], getattr(model, "classes_", None))


def trees(learner):
    return learner["gradient_booster"]["model"]["trees"]


def leaves(learner):
    tree = trees(learner)[3]
    for node, child in enumerate(tree["left_children"]):
        if child == -1:
            tree["split_conditions"][node] += 0.01


def threshold(learner):
    trees(learner)[0]["split_conditions"][0] += 1.0


def children(learner):
    tree = trees(learner)[0]
    tree["left_children"][0], tree["right_children"][0] = tree["right_children"][0], tree["left_children"][0]


def feature(learner):
    tree = trees(learner)[0]
    tree["split_indices"][0] = (tree["split_indices"][0] + 1) % 4


def default(learner):
    for tree in trees(learner):
        tree["default_left"] = [1 - left for left in tree["default_left"]]


def base(learner):
    learner["learner_model_param"]["base_score"] = "[1.25E-1]"


@pytest.mark.parametrize("edit", [leaves, threshold, children, feature, default, base])
@pytest.mark.parametrize("kind", ["wrapper", "booster", "classifier"])
def test_faults_in_trees_are_found(numbers, edit, kind):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    rows = np.where(np.random.default_rng(2).random(rows.shape) < 0.2, np.nan, rows)
    make = xgboost.XGBClassifier if kind == "classifier" else xgboost.XGBRegressor
    model = make(n_estimators=10, max_depth=3, n_jobs=1).fit(
        rows, targets > 0 if kind == "classifier" else targets)
    ensemble = edited(model, edit)
    given = model.get_booster() if kind == "booster" else model
    assert compared(given, rows, edited(model, lambda learner: None)) == 20
    text = r"row \d+ of X: .*predict\(output_margin=True\) returns .*, the trees return .*check=False"
    with pytest.raises(apportion.ModelError, match=text):
        compared(given, rows, ensemble)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_wrong_rounds_are_found(numbers, library):
    module = pytest.importorskip(library)
    rows, targets = numbers
    model = {"xgboost": lambda: module.XGBRegressor(n_estimators=20, n_jobs=1),
             "lightgbm": lambda: module.LGBMRegressor(n_estimators=20, **QUIET),
             "catboost": lambda: module.CatBoostRegressor(iterations=20, **CAT)}[library]().fit(rows, targets)
    for rounds in ((0, 19), (1, 20), (0, 1)):
        content = apportion.Ensemble(model)._made_of[0][0]
        with pytest.raises(apportion.ModelError, match="do not reproduce"):
            compared(model, rows, Ensemble._of([(content, rounds)]))
    with pytest.raises(apportion.ModelError, match="do not reproduce"):
        compared(model, rows, apportion.Ensemble(type(model)(**model.get_params()).fit(
            rows, targets + rows[:, 0])))


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_another_order_of_categories_is_found(mixed, library):
    module = pytest.importorskip(library)
    frame, targets = mixed
    make = {"xgboost": lambda: module.XGBRegressor(
        n_estimators=9, n_jobs=1, enable_categorical=True, tree_method="hist"),
            "lightgbm": lambda: module.LGBMRegressor(n_estimators=9, **QUIET)}[library]
    model = make().fit(frame, targets)
    ensemble = apportion.Ensemble(model)
    values = table(frame, ensemble.wanted()).values
    assert check(model, ensemble, frame, values) == 20
    turned = values.copy()
    turned[:, 1] = (turned[:, 1] + 1) % 3
    with pytest.raises(apportion.ModelError, match="do not reproduce"):
        check(model, ensemble, frame, turned)


@pytest.mark.parametrize("marker", [0.0, -999.0])
def test_a_wrong_missing_marker_is_found(numbers, marker):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    rows = np.where(np.random.default_rng(2).random(rows.shape) < 0.3, marker, rows)
    model = xgboost.XGBRegressor(n_estimators=9, n_jobs=1, missing=marker).fit(rows, targets)
    ensemble = apportion.Ensemble(model)
    assert compared(model, rows, ensemble) == 20
    ensemble.missing = None
    with pytest.raises(apportion.ModelError, match="do not reproduce"):
        compared(model, rows, ensemble)


@pytest.mark.parametrize("kind", ["forest", "logistic", "pipeline", "isolation", "two targets"])
def test_faults_of_models_of_scikit_learn_are_found(numbers, kind):
    pytest.importorskip("sklearn")
    from sklearn.ensemble import IsolationForest, RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows, targets = numbers
    wanted = np.digitize(targets, [0]) if kind in ("forest", "logistic") else np.c_[
        targets, -targets] if kind == "two targets" else targets
    make = {"forest": lambda: RandomForestClassifier(5), "logistic": LogisticRegression,
            "isolation": lambda: IsolationForest(n_estimators=5),
            "pipeline": lambda: make_pipeline(StandardScaler(), RandomForestRegressor(5)),
            "two targets": lambda: RandomForestRegressor(5)}[kind]
    model, other = make().fit(rows, wanted), make().fit(rows[:60], wanted[:60])
    assert compared(model, rows) == 20
    for given in (rows, rows.astype(np.float32)):
        with pytest.raises(apportion.ModelError, match="do not reproduce"):
            compared(model, given, apportion.Ensemble(other))


def test_a_users_class_that_predicts_something_else_is_found(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers

    class Shifted(xgboost.XGBRegressor):
        def predict(self, rows, **more):
            return 2 * super().predict(rows, **more) + 1

    class Same(xgboost.XGBRegressor):
        def predict(self, rows):
            return super().predict(rows)

    with pytest.raises(apportion.ModelError, match="Shifted.predict"):
        compared(Shifted(n_estimators=3, n_jobs=1).fit(rows, targets), rows)
    assert compared(Same(n_estimators=3, n_jobs=1).fit(rows, targets), rows) == 20


def test_where_there_is_nothing_to_compare_with_nothing_is_said(numbers, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    model = xgboost.XGBRegressor(n_estimators=3, n_jobs=1).fit(rows, targets)
    path = tmp_path / "model.json"
    model.save_model(path)
    for given in (str(path), path.read_bytes()):
        ensemble = apportion.Ensemble(given)
        assert check(None, ensemble, rows, rows) == 0 and ensemble.source is None

    class Refuses(xgboost.XGBRegressor):
        def predict(self, rows, **more):
            raise TypeError("not today")

    assert compared(Refuses(n_estimators=3, n_jobs=1).fit(rows, targets), rows) == 0
    ensemble = apportion.Ensemble(model)
    assert ensemble.source is model and check(None, ensemble, rows, rows) == 20
    assert check(model, ensemble, rows[:0], rows[:0]) == 0
