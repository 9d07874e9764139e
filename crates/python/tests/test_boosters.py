"""Models in memory: their rounds for prediction, means of several models, column names, and models that
cannot be read exactly.
"""
import json
import pickle
import warnings

import numpy as np
import pytest

import apportion
from apportion._column_names import names_as
from apportion._models import ensemble_or_reason

QUIET = dict(n_jobs=1, verbose=-1)
CAT = dict(verbose=0, allow_writing_files=False, thread_count=1)


def read(model, **options):
    """Reads a model as an ensemble; returns it with the warnings."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        ensemble = apportion.Ensemble(model, **options)
    return ensemble, [str(warning.message) for warning in warned if issubclass(
        warning.category, apportion.ModelWarning)]


@pytest.fixture(scope="module")
def stopped(numbers):
    """Rows and models whose training stopped early, some rounds after the best one."""
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    valid, noise = rows[:40], 0.2 * targets[:40]
    matrix = xgboost.DMatrix(valid, noise)
    settings = dict(n_estimators=30, max_depth=3, learning_rate=0.05, early_stopping_rounds=4, n_jobs=1)

    def fit(**more):
        return xgboost.XGBRegressor(**{**settings, **more}).fit(
            rows, targets, eval_set=[(valid, noise)], verbose=False)

    booster = xgboost.train({"nthread": 1, "max_depth": 3, "eta": 0.05}, xgboost.DMatrix(rows, targets), 30,
                            evals=[(matrix, "valid")],
                            early_stopping_rounds=4, verbose_eval=False)
    assert 1 < booster.best_iteration + 1 < booster.num_boosted_rounds()
    return rows, booster, fit


XGBOOST_OBJECTS = {
    "Booster": lambda booster, fit: booster,
    "Booster of a wrapper": lambda booster, fit: fit().get_booster(),
    "slice": lambda booster, fit: booster[1:4],
    "copy": lambda booster, fit: booster.copy(),
    "wrapper": lambda booster, fit: fit(),
    "dart": lambda booster, fit: fit(booster="dart", rate_drop=0.5),
    "gblinear": lambda booster, fit: fit(booster="gblinear"),
    "parallel trees": lambda booster, fit: fit(num_parallel_tree=3, subsample=0.5),
    "wrapper without stopping": lambda booster, fit: fit(early_stopping_rounds=None, n_estimators=3),
}


@pytest.mark.parametrize("kind", XGBOOST_OBJECTS)
def test_objects_of_xgboost_use_the_rounds_that_their_predict_uses(stopped, kind):
    import xgboost

    rows, booster, fit = stopped
    model = XGBOOST_OBJECTS[kind](booster, fit)
    is_booster = isinstance(model, xgboost.Booster)
    own = model.predict(xgboost.DMatrix(rows), output_margin=True) if is_booster else model.predict(
        rows, output_margin=True)
    ensemble, _ = read(model)
    assert np.abs(ensemble.predict(rows) - own).max() < 1e-5
    found = apportion.TreeExplainer(model, rows[:20])(rows[:5])
    assert np.abs(found.predictions - own[:5]).max() < 1e-5 and found.additivity_gap() < 1e-9


def test_a_choice_of_rounds_is_noted_and_can_be_changed(stopped):
    rows, booster, fit = stopped
    best = booster.best_iteration + 1
    ensemble, warned = read(booster)
    assert warned == ensemble.notes and len(warned) == 1
    assert (f"all {best + 4} rounds, as Booster.predict does" in warned[0]
            and f"rounds={best} uses only those up to it" in warned[0])
    assert ensemble.rounds == (0, best + 4, best + 4, best)
    chosen, warned = read(booster, rounds=best)
    assert chosen.rounds[:2] == (0, best) and warned == chosen.notes == []
    model = fit()
    best = model.best_iteration + 1
    ensemble, warned = read(model)
    assert ensemble.rounds[:2] == (0, best) and 'rounds="all"' in warned[0]
    assert f"rounds 0..{best} of {best + 4}, up to the best one" in warned[0]
    assert read(model, rounds="all")[0].rounds[1] == best + 4
    # A file does not store the type of object that was saved.
    ensemble, warned = read(bytes(booster.save_raw("json")))
    assert ensemble.rounds[1] == booster.best_iteration + 1 and "the file does not store" in warned[0]
    assert read(fit(early_stopping_rounds=None, n_estimators=3))[1] == []
    again = pickle.loads(pickle.dumps(ensemble))
    assert again.notes == ensemble.notes and again.rounds == ensemble.rounds
    with pytest.raises(apportion.UsageError):
        apportion.Ensemble(booster, rounds=1000)
    # Rounds can also be chosen later.
    later = apportion.TreeExplainer(apportion.Ensemble(model), rounds=2)
    assert later.ensemble.rounds[:2] == (0, 2) and later.ensemble.source is model
    assert np.abs(later.ensemble.predict(rows) - model.predict(rows, iteration_range=(0, 2))).max() < 1e-5


@pytest.mark.parametrize("kind",
                         ["wrapper", "Booster", "kept in training", "best chosen", "forest", "from text"])
def test_objects_of_lightgbm_use_the_rounds_that_their_predict_uses(numbers, kind):
    lightgbm = pytest.importorskip("lightgbm")
    rows, targets = numbers
    boosting = "rf" if kind == "forest" else "gbdt"
    model = lightgbm.LGBMRegressor(n_estimators=20, boosting_type=boosting, bagging_freq=1,
                                   bagging_fraction=0.5, **QUIET)
    model.fit(rows, targets)
    booster = model.booster_
    if kind == "kept in training":
        data = lightgbm.Dataset(rows, targets)
        booster = lightgbm.train({"verbose": -1, "num_threads": 1}, data, 15, keep_training_booster=True)
    if kind in ("best chosen", "forest", "kept in training"):
        booster.best_iteration = 7
    if kind == "from text":
        booster = lightgbm.Booster(model_str=booster.model_to_string(num_iteration=9))
    one = model if kind == "wrapper" else booster
    ensemble, warned = read(one)
    assert warned == []
    assert np.abs(ensemble.predict(rows) - one.predict(rows)).max() < 1e-12
    if booster.best_iteration == 7:
        assert "rounds 0..7 of" in ensemble.notes[0]
        assert np.abs(read(one, rounds="all")[0].predict(rows) - one.predict(
            rows, num_iteration=-1)).max() < 1e-12


@pytest.mark.parametrize("kind", ["best model", "all trees", "shrunk", "from a file"])
def test_objects_of_catboost_use_the_trees_that_their_predict_uses(numbers, kind, tmp_path):
    catboost = pytest.importorskip("catboost")
    rows, targets = numbers
    model = catboost.CatBoostRegressor(iterations=30, use_best_model=kind == "best model", **CAT)
    model.fit(rows, targets, eval_set=(rows[:40], 0.2 * targets[:40]))
    if kind == "shrunk":
        model.shrink(12)
    if kind == "from a file":
        model.save_model(str(tmp_path / "model.cbm"))
        model = catboost.CatBoostRegressor().load_model(str(tmp_path / "model.cbm"))
    ensemble, warned = read(model)
    assert warned == [] and np.abs(ensemble.predict(rows) - model.predict(rows)).max() < 1e-12
    if kind != "from a file":
        assert bool(ensemble.notes) == (kind != "best model")


# Means of several models.


def folds(make, rows, targets):
    """Fits models to overlapping parts of the rows."""
    return [make().fit(rows[part], targets[part]) for part in (slice(0, 80), slice(40, 120), slice(20, 100))]


def mean_makers():
    """Returns by name: a constructor, whether it makes classifiers, and the prediction to average."""
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression, Ridge

    return {
        "forest": (lambda: RandomForestRegressor(5, random_state=0), False, lambda model,
                   rows: model.predict(rows)),
        "forest of classes": (lambda: RandomForestClassifier(5, random_state=0), True, lambda model,
                              rows: model.predict_proba(rows)),
        "histogram boosting": (lambda: HistGradientBoostingRegressor(max_iter=5), False, lambda model,
                               rows: model.predict(rows)),
        "ridge": (Ridge, False, lambda model, rows: model.predict(rows)),
        "logistic": (LogisticRegression, True, lambda model, rows: model.decision_function(rows)),
    }


@pytest.mark.parametrize("kind", ["forest", "forest of classes", "histogram boosting", "ridge", "logistic"])
def test_lists_of_models_of_scikit_learn_are_their_means(numbers, kind):
    pytest.importorskip("sklearn")
    make, is_classifier, predict = mean_makers()[kind]
    rows, targets = numbers
    models = folds(make, rows, np.digitize(targets, [-0.5, 0.5]) if is_classifier else targets)
    ensemble, _ = read(models)
    own = np.mean([predict(model, rows) for model in models], axis=0)
    assert np.abs(ensemble.predict(rows) - own).max() < 1e-9
    assert apportion.TreeExplainer(models, rows[:10])(rows[:5]).additivity_gap() < 1e-9
    assert "mean of the raw predictions (margins) of 3 models" in ensemble.notes[-1]
    assert ("no link function" in ensemble.notes[-1]) == (kind == "logistic")


@pytest.mark.parametrize("kind", ["regressors", "classifiers", "boosters", "tuple", "array"])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost"])
def test_lists_of_boosters_are_their_means(numbers, library, kind):
    module = pytest.importorskip(library)
    rows, targets = numbers
    prefix = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}[library]
    options = {"xgboost": dict(n_estimators=6, n_jobs=1), "lightgbm": dict(n_estimators=6, **QUIET),
               "catboost": dict(iterations=6, **CAT)}[library]
    own = {"xgboost": dict(output_margin=True), "lightgbm": dict(raw_score=True),
           "catboost": dict(prediction_type="RawFormulaVal")}[library]
    is_classifier = kind == "classifiers"
    make = getattr(module, prefix + ("Classifier" if is_classifier else "Regressor"))
    models = folds(lambda: make(**options), rows,
                   np.digitize(targets, [-0.5, 0.5]) if is_classifier else targets)
    mean = np.mean([model.predict(rows, **own) for model in models], axis=0)
    if kind == "boosters":
        take = {"xgboost": lambda model: model.get_booster(),
                "lightgbm": lambda model: model.booster_}.get(library, lambda model: model)
        models = [take(model) for model in models]
    if kind == "tuple":
        models = tuple(models)
    if kind == "array":
        models = np.array([*models, None], dtype=object)[:-1]
    ensemble, _ = read(models)
    assert np.abs(ensemble.predict(rows) - mean).max() < 1e-5
    assert ensemble.tree_count == 18 * (3 if is_classifier else 1) if library != "catboost" else 18
    assert ensemble.link == (None if is_classifier else "identity")
    found = apportion.TreeExplainer(models, rows[:10])(rows[:5])
    assert np.abs(found.predictions - mean[:5]).max() < 1e-5 and found.additivity_gap() < 1e-9
    again = pickle.loads(pickle.dumps(ensemble))
    assert np.array_equal(again.predict(rows), ensemble.predict(rows)) and again.notes == ensemble.notes
    if is_classifier:
        with pytest.raises(apportion.ModelError, match="mean of 3 models"):
            apportion.TreeExplainer(models, rows[:10], model_output="probability")(rows[:5])


def test_cross_validated_boosters_are_their_means(numbers, enumerated):
    lightgbm = pytest.importorskip("lightgbm")
    rows, targets = numbers
    data = lightgbm.Dataset(rows, targets)
    found = lightgbm.cv({"verbose": -1, "num_threads": 1}, data, 5, nfold=3, stratified=False,
                        return_cvbooster=True)
    cross = found["cvbooster"]
    ensemble, _ = read(cross)
    assert np.abs(ensemble.predict(rows) - np.mean(cross.predict(rows), axis=0)).max() < 1e-12
    background, row = rows[:6], rows[50]

    def worth(mask):
        mixed = background.copy()
        present = [player for player in range(4) if mask >> player & 1]
        mixed[:, present] = row[present]
        return np.mean([booster.predict(mixed) for booster in cross.boosters])

    values = apportion.TreeExplainer(cross, background)(row).values[0]
    assert np.abs(values - enumerated(worth, 4)).max() < 1e-10


def test_path_dependent_values_of_a_mean_are_the_means_of_values(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    models = folds(lambda: xgboost.XGBRegressor(n_estimators=4, n_jobs=1), rows, targets)
    each = [apportion.TreeExplainer(model)(rows[:9]).values for model in models]
    assert np.abs(apportion.TreeExplainer(models)(rows[:9]).values - np.mean(each, axis=0)).max() < 1e-9


def test_folds_of_xgboosts_own_cross_validation(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers
    kept = []

    class Keep(xgboost.callback.TrainingCallback):
        def after_training(self, model):
            kept.append(model)
            return model

    xgboost.cv({"nthread": 1}, xgboost.DMatrix(rows, targets), 4, nfold=3, callbacks=[Keep()])
    ensemble, _ = read(kept[0])
    own = np.mean([fold.bst.predict(xgboost.DMatrix(rows)) for fold in kept[0].cvfolds], axis=0)
    assert np.abs(ensemble.predict(rows) - own).max() < 1e-5


def test_catboost_folds_with_words_and_their_combinations(frame):
    catboost = pytest.importorskip("catboost")
    rows, targets = frame
    rows = rows.assign(colour=rows["colour"].astype(str), rooms=rows["rooms"].astype(str))
    models = [catboost.CatBoostRegressor(iterations=10, depth=4, cat_features=["colour", "rooms"],
                                         **CAT).fit(rows[part], targets[part])
              for part in (slice(0, 100), slice(50, 150))]
    ensemble, _ = read(models)
    own = np.mean([model.predict(rows) for model in models], axis=0)
    assert np.abs(ensemble.predict(rows) - own).max() < 1e-9
    assert apportion.TreeExplainer(models, rows[:9])(rows[:5]).additivity_gap() < 1e-9


def test_lists_that_have_no_mean_are_refused(numbers):
    xgboost = pytest.importorskip("xgboost")
    lightgbm = pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    from sklearn.neighbors import KNeighborsRegressor

    rows, targets = numbers
    make = lambda **more: xgboost.XGBRegressor(n_estimators=2, n_jobs=1, **more)
    first, classes = make().fit(rows, targets), np.digitize(targets, [0])
    classifier = lambda labels: lightgbm.LGBMClassifier(n_estimators=2, **QUIET).fit(rows, labels)
    cases = [
        ([], "list of models is empty"),
        ([first, make().fit(rows[:, :3], targets)], "model 1 of the list has 3 features, expected 4"),
        ([first, make().fit(rows, np.c_[targets, targets])], "2 outputs, expected 1"),
        ([first, make(missing=0.0).fit(rows, targets)], "missing= 0.0, expected None"),
        ([first, lightgbm.LGBMRegressor(n_estimators=2, **QUIET).fit(rows, targets)],
         "library lightgbm, expected xgboost"),
        ([classifier(classes), classifier(np.array(["a", "b"])[classes])], "the classes"),
        ([first, KNeighborsRegressor().fit(rows, targets)], "model 1 of the list"),
        ([first, 3], "model 1 of the list"),
    ]
    for models, says in cases:
        with pytest.raises(apportion.ModelError, match=says):
            apportion.Ensemble(models)
        with pytest.raises(apportion.ModelError):
            apportion.Explainer(models, rows)
    with pytest.raises(apportion.NotFittedError):
        apportion.Ensemble([first, make()])


# Names of columns.

LABELS = {
    "levels": [("p", "mean"), ("p", "std"), ("q", "mean"), ("q", "std")],
    "levels of numbers": [("p", 1), ("p", 2), ("q", 1), ("q", 2)],
    "whole numbers": [3, 1, 2, 0],
    "floats": [0.5, 1.0, 2.0, 3.5],
    "several types": ["a", 1, 2.5, "b"],
    "tabs": ["a\tb", "c", "d\x0bx", "e"],
    "blanks": ["a b", " c", "d ", "  "],
    "beyond ASCII": ["größe", "日本", "é e", "\u00a0x"],
    "lines": ["a\u2028b", "c", "d\x0c", "e\r"],
    "empty": ["", "a", "b", "c"],
    "signs": ["a=b", "c|d", "e;f", "g%"],
}


def labelled(rows, kind):
    pandas = pytest.importorskip("pandas")
    labels = LABELS[kind]
    columns = pandas.MultiIndex.from_tuples(labels) if isinstance(labels[0], tuple) else labels
    return pandas.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "catboost", "sklearn"])
def test_a_frame_that_a_model_was_trained_on_has_its_features(numbers, library, kind):
    module = pytest.importorskip(library)
    rows, targets = numbers
    frame = labelled(rows, kind)
    if library == "sklearn":
        from sklearn.ensemble import RandomForestRegressor

        model = RandomForestRegressor(3, random_state=0)
    else:
        model = {"xgboost": lambda: module.XGBRegressor(n_estimators=4, n_jobs=1),
                 "lightgbm": lambda: module.LGBMRegressor(n_estimators=4, **QUIET),
                 "catboost": lambda: module.CatBoostRegressor(iterations=4, **CAT)}[library]()
    try:
        model.fit(frame, targets)
    except Exception as error:
        pytest.skip(f"the library refuses such names: {error}")
    own = model.predict(frame)
    assert np.abs(read(model)[0].predict(frame) - own).max() < 1e-5
    assert np.abs(apportion.TreeExplainer(model, frame[:20])(frame[:9]).predictions - own[:9]).max() < 1e-5
    if library in ("xgboost", "catboost") and kind != "empty":
        # Columns are matched by name, in any order.
        mixed = frame.iloc[:, ::-1]
        assert np.abs(read(model)[0].predict(mixed) - own).max() < 1e-5


@pytest.mark.parametrize("names",
                         [["a\nb", "c", "d", "e"], ["", "a", "b", "c"], ["a", "b", "c", ""],
                          ["a\tb", "c\n\nd", "e", "f"]])
def test_names_that_lightgbm_has_in_memory_alone(numbers, names):
    lightgbm = pytest.importorskip("lightgbm")
    pandas = pytest.importorskip("pandas")
    rows, targets = numbers
    data = lightgbm.Dataset(rows, targets, feature_name=names)
    model = lightgbm.train({"verbose": -1, "num_threads": 1}, data, 4, keep_training_booster=True)
    ensemble, _ = read(model)
    assert ensemble.feature_names == names
    assert np.abs(ensemble.predict(pandas.DataFrame(rows, columns=names)) - model.predict(rows)).max() < 1e-12


def test_a_columns_own_label_comes_before_what_others_are_rewritten_to(numbers):
    lightgbm = pytest.importorskip("lightgbm")
    pandas = pytest.importorskip("pandas")
    rows, targets = numbers
    model = lightgbm.LGBMRegressor(n_estimators=4,
                                   **QUIET).fit(pandas.DataFrame(rows, columns=["a_b", "c", "d", "e"]),
                                                targets)
    frame = pandas.DataFrame(np.c_[-rows[:, 0], rows], columns=["a b", "a_b", "c", "d", "e"])
    assert np.abs(read(model)[0].predict(frame) - model.predict(rows)).max() < 1e-12
    assert names_as("LightGBM", ["a:b", "a b"]) == [["a:b", "a_b"], ["a b", "a_b"]]
    assert names_as("XGBoost", [("p", 1), "a b"]) == [["('p', 1)", "p 1"], ["a b"]]
    assert names_as("CatBoost", ["a", ""]) == [["a"], ["", "1"]]


# Models that are not read exactly.


def test_models_of_other_kinds_have_a_reason_or_none(numbers):
    rows, targets = numbers

    class Plain:
        def predict(self, rows):
            return rows[:, 0]

    assert ensemble_or_reason(Plain()) == (None, None)
    assert ensemble_or_reason(lambda rows: rows[:, 0]) == (None, None)
    for kind in (int, object):
        assert ensemble_or_reason(kind()) == (None, None)
    with pytest.raises(apportion.ModelError, match=r"apportion\.Explainer\(model, X\)"):
        apportion.TreeExplainer(Plain())
    found = apportion.Explainer(Plain(), rows[:5])(rows[:3])
    assert np.allclose(found.predictions, rows[:3, 0])


def unreadable(kind, rows, targets):
    """Returns a model that predicts but that no converter reads exactly."""
    if kind == "nearest neighbours":
        pytest.importorskip("sklearn")
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor().fit(rows, targets)
    if kind == "early stop of predictions":
        lightgbm = pytest.importorskip("lightgbm")
        stop = dict(pred_early_stop=True, pred_early_stop_freq=2, pred_early_stop_margin=0.5)
        return lightgbm.LGBMClassifier(n_estimators=20, **stop, **QUIET).fit(rows, targets > 0)
    if kind in ("broken booster", "broken document"):
        xgboost = pytest.importorskip("xgboost")
        model = xgboost.XGBRegressor(n_estimators=3, n_jobs=1).fit(rows, targets)

        class Broken:
            def save_raw(self, form):
                if kind == "broken document":
                    return b'{"learner": {}}'
                raise AttributeError("no such thing")

        class Own(xgboost.XGBRegressor):
            def get_booster(self):
                return Broken()

            def predict(self, rows, **more):
                return model.predict(rows, **more)

        return Own()
    catboost = pytest.importorskip("catboost")

    class Old(catboost.CatBoostRegressor):
        def save_model(self, *given, **more):
            raise KeyError("format")

    return Old(iterations=3, **CAT).fit(rows, targets)


UNREADABLE = ["nearest neighbours", "early stop of predictions", "broken booster", "broken document",
              "broken save_model"]


@pytest.mark.parametrize("kind", UNREADABLE)
def test_failures_of_converters_become_functions_with_a_reason(numbers, kind):
    rows, targets = numbers
    model = unreadable(kind, rows, targets)
    found, reason = ensemble_or_reason(model)
    assert found is None and isinstance(reason, str) and len(reason) > 20
    with pytest.raises(apportion.ModelError, match=r"apportion\.Explainer\(model, X\)"):
        apportion.TreeExplainer(model)
    own = model.predict(rows[:4], **(dict(raw_score=True) if kind == "early stop of predictions" else {}))
    assert np.abs(apportion.Explainer(model, rows[:5])(rows[:4]).predictions - own).max() < 1e-5


def test_texts_of_catboost_are_left_to_the_object():
    catboost = pytest.importorskip("catboost")
    pandas = pytest.importorskip("pandas")
    words = ["red apple", "green pear", "red pear", "green apple"]
    frame = pandas.DataFrame({"text": [words[row % 4] for row in range(40)], "size": np.arange(40.0)})
    model = catboost.CatBoostClassifier(iterations=4, text_features=["text"], **CAT).fit(
        frame, np.arange(40) % 2)
    found, reason = ensemble_or_reason(model)
    assert found is None and "text" in reason


def test_classes_are_recognised_by_their_module_and_by_what_they_have(numbers):
    xgboost = pytest.importorskip("xgboost")
    rows, targets = numbers

    class Mine(xgboost.XGBRegressor):
        pass

    model = Mine(n_estimators=3, n_jobs=1).fit(rows, targets)
    assert np.abs(read(model)[0].predict(rows) - model.predict(rows)).max() < 1e-5
    for module in ("xgboost_utils", "xgboost", "lightgbm", "catboost.extra"):
        other = type("Other", (), {"__module__": module, "predict": lambda self, rows: rows[:, 1]})()
        assert ensemble_or_reason(other) == (None, None), module
    # An object that has every attribute is not an ONNX message.
    anything = type("Anything", (),
                    {"__getattr__": lambda self, name: lambda *given: 1, "__call__": lambda self,
                     rows: rows[:, 1]})()
    assert ensemble_or_reason(anything) == (None, None)
    assert ensemble_or_reason(xgboost.DMatrix(rows)) == (None, None)


@pytest.mark.parametrize("kind",
                         ["XGBRFRegressor", "XGBRFClassifier", "XGBRanker", "LGBMRanker", "CatBoostRanker",
                          "CatBoost"])
def test_forests_and_rankers(numbers, kind):
    library = "xgboost" if kind.startswith("XGB") else "lightgbm" if kind.startswith("LGBM") else "catboost"
    module = pytest.importorskip(library)
    rows, targets = numbers
    grades, queries = np.digitize(targets, [-0.5, 0.5]), np.repeat(np.arange(12), 10)
    make = getattr(module, kind)
    if kind == "CatBoost":
        model = make({"iterations": 5, "loss_function": "Logloss", **CAT}).fit(rows, grades > 0)
    elif library == "catboost":
        model = make(iterations=5, **CAT).fit(rows, grades, group_id=queries)
    elif library == "lightgbm":
        model = make(n_estimators=5, **QUIET).fit(rows, grades, group=[10] * 12)
    elif kind == "XGBRanker":
        model = make(n_estimators=5, n_jobs=1).fit(rows, grades, qid=queries)
    else:
        model = make(n_estimators=5, n_jobs=1).fit(rows, grades if "Classifier" in kind else targets)
    own = model.predict(rows, output_margin=True) if library == "xgboost" else model.predict(rows)
    assert np.abs(read(model)[0].predict(rows) - own).max() < 1e-5


def test_bytes_of_every_kind_keep_their_notes_through_json(stopped):
    rows, booster, _ = stopped
    document = json.loads(bytes(booster.save_raw("json")))
    del document["learner"]["attributes"]["best_iteration"]
    ensemble, warned = read(json.dumps(document).encode())
    assert warned == ensemble.notes == [] and ensemble.rounds[1] == booster.num_boosted_rounds()
