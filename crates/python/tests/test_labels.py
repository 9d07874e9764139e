"""Every option that names a class takes the labels that the model was trained on."""
import warnings

import numpy as np
import pytest

import apportion
from apportion import DataError, UsageError

LABELS = {
    "from 0": [0, 1, 2], "from 1": [1, 2, 3], "negative": [-1, 1, 5], "with gaps": [10, 20, 30],
    "words": ["no", "so-so", "yes"],
    "words in another order": ["z", "m", "a"], "booleans": [False, True], "whole decimals": [1.0, 2.0, 3.0],
    "texts of numbers": ["1", "2", "3"],
    "numbers in another order": [2, 0, 1],
}


def _boosting(name):
    pytest.importorskip(name)
    if name == "xgboost":
        import xgboost

        return xgboost.XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1)
    if name == "lightgbm":
        import lightgbm

        return lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1)
    import catboost

    return catboost.CatBoostClassifier(iterations=4, depth=2, verbose=0, allow_writing_files=False,
                                       thread_count=1)


def _scikit_learn(name):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.ensemble import (
        AdaBoostClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
    )
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=4),
        "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=4),
        "ada boost": lambda: AdaBoostClassifier(
            n_estimators=4,
            **({"algorithm": "SAMME"} if "algorithm" in AdaBoostClassifier().get_params() else {})),
        "logistic regression": LogisticRegression,
        "discriminant analysis": LinearDiscriminantAnalysis,
        "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        "pipeline of boosting": lambda: make_pipeline(
            StandardScaler(), HistGradientBoostingClassifier(max_iter=3)),
        "search": lambda: GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2),
    }[name]()


MODELS = ["xgboost", "lightgbm", "catboost", "histogram boosting", "gradient boosting", "ada boost",
          "logistic regression", "discriminant analysis", "pipeline",
          "pipeline of boosting", "search"]


def _model(name):
    return _boosting(name) if name in ("xgboost", "lightgbm", "catboost") else _scikit_learn(name)


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    table = random.normal(size=(150, 3))
    return table, table[:, 0] + table[:, 1] * table[:, 2] / 2 + random.normal(size=150) / 4


def _targets(given, labels, count):
    places = np.digitize(given, [0.0] if count == 2 else [-0.5, 0.5])
    return np.array(labels[:count])[places]


def _losses_of(model, table, labels):
    """Returns the log-loss of each label from the probabilities of the model."""
    classes = [str(label) for label in np.asarray(model.classes_).tolist()]
    shares = model.predict_proba(table)
    # XGBoost stores booleans as 0 and 1.
    names = [str(label) if str(label) in classes else str(int(label))
             for label in np.asarray(labels).tolist()]
    return np.array([-np.log(shares[row, classes.index(name)]) for row, name in enumerate(names)])


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", MODELS)
def test_the_loss_is_that_of_the_label(rows, name, kind):
    table, given = rows
    for count in (2, 3):
        if len(LABELS[kind]) < count or name == "xgboost" and set(LABELS[kind][:count]) != set(range(count)):
            continue
        labels = _targets(given, LABELS[kind], count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = _model(name).fit(table, labels)
        found = apportion.TreeExplainer(model, table[:15], model_output="log_loss")(table[:7], labels[:7])
        assert np.abs(found.predictions - _losses_of(model, table[:7], labels[:7])).max() < 1e-5
        assert found.additivity_gap() < 1e-9
        everywhere = apportion.Explainer(model, table[:15], model_output="log_loss")(
            table[:7], labels[:7].tolist())
        assert np.array_equal(everywhere.values, found.values)


@pytest.mark.parametrize("kind", ["from 1", "negative", "words", "booleans", "texts of numbers"])
def test_values_of_the_loss_are_those_of_enumeration(rows, enumerated, kind):
    table, given = rows
    for count in (2, 3):
        if len(LABELS[kind]) < count:
            continue
        labels = _targets(given, LABELS[kind], count)
        model = _scikit_learn("histogram boosting").fit(table, labels)
        background = table[:8]
        found = apportion.TreeExplainer(model, background, model_output="log_loss")(
            table[20:24], labels[20:24])
        for row, label, values in zip(table[20:24], labels[20:24], found.values):
            def worth(mask):
                mixed = background.copy()
                for player in range(3):
                    if mask >> player & 1:
                        mixed[:, player] = row[player]
                return _losses_of(model, mixed, [label] * len(mixed)).mean()

            assert np.abs(values - enumerated(worth, 3)).max() < 1e-9


def _columns():
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    return {
        "list": list, "tuple": tuple, "array": np.array,
        "objects": lambda given: np.array(given, dtype=object),
        "texts of NumPy": lambda given: [np.str_(one) for one in given],
        "column": lambda given: np.array(given)[:, np.newaxis],
        "series": pandas.Series, "index": pandas.Index, "frame": lambda given: pandas.DataFrame({"y": given}),
        "categories": lambda given: pandas.Series(given, dtype="category"),
        "string dtype": lambda given: pandas.Series(given, dtype="string"),
        "other index": lambda given: pandas.Series(given, index=range(len(given), 0, -1)),
        "categorical": pandas.Categorical,
        "polars": polars.Series,
        "categories of polars": lambda given: polars.Series(given, dtype=polars.Categorical),
        "frame of polars": lambda given: polars.DataFrame({"y": given}), "arrow": pyarrow.array,
        "chunks of arrow": lambda given: pyarrow.chunked_array([given[:1], given[1:]]),
        "table of arrow": lambda given: pyarrow.table({"y": given}),
        "dictionary of arrow": lambda given: pyarrow.array(given).dictionary_encode(),
    }


def test_labels_come_in_columns_of_any_kind(rows):
    table, given = rows
    labels = _targets(given, LABELS["words in another order"], 3)
    model = _scikit_learn("logistic regression").fit(table, labels)
    explainer = apportion.TreeExplainer(model, table[:9], model_output="log_loss")
    wanted = explainer(table[:5], labels[:5]).values
    for kind, made in _columns().items():
        assert np.array_equal(explainer(table[:5], made(labels[:5].tolist())).values, wanted), kind
    assert np.array_equal(explainer(table[:1], labels[0]).values, wanted[:1])
    numbers = _targets(given, LABELS["from 1"], 3)
    explainer = apportion.TreeExplainer(_scikit_learn("logistic regression").fit(table, numbers), table[:9],
                                        model_output="log_loss")
    wanted = explainer(table[:5], numbers[:5]).values
    pandas = pytest.importorskip("pandas")
    for made in (lambda given: given.astype(float), lambda given: given.astype(np.int8),
                 lambda given: pandas.Series(given, dtype="Int64"),
                 lambda given: pandas.Series(given, dtype="category"), lambda given: given.astype(str),
                 lambda given: given.astype(object)):
        assert np.array_equal(explainer(table[:5], made(numbers[:5])).values, wanted)


def test_a_label_that_is_no_class_is_named_with_its_row_and_the_classes(rows):
    table, given = rows
    for kind, wrong in [("words", "maybe"), ("words", 1), ("words", None), ("words", np.nan), ("from 1", 0),
                        ("from 1", 4), ("from 1", 1.5), ("from 1", True),
                        ("from 1", "one"), ("negative", 0), ("negative", 2), ("booleans", 2),
                        ("booleans", "maybe"), ("texts of numbers", 0), ("from 0", [1, 2])]:
        count = min(3, len(LABELS[kind]))
        labels = _targets(given, LABELS[kind], count)
        explainer = apportion.TreeExplainer(_scikit_learn("logistic regression").fit(table, labels),
                                            table[:9], model_output="log_loss")
        asked = [*labels[:2].tolist(), wrong, *labels[2:4].tolist()]
        with pytest.raises(DataError) as raised:
            explainer(table[:5], asked)
        words = str(raised.value)
        assert "row 2 of y" in words and str(LABELS[kind][1]) in words and (
            "missing label" in words or repr(wrong) in words), (kind, wrong, words)
    with pytest.raises(DataError, match="wrong number of labels of y: 3, expected 5"):
        explainer(table[:5], labels[:3])
    with pytest.raises(DataError, match="one dimension"):
        explainer(table[:5], np.zeros((5, 2)))
    with pytest.raises(UsageError, match="requires y"):
        explainer(table[:5])


def test_models_without_labels_have_numbers(rows):
    xgboost, lightgbm = (pytest.importorskip(name) for name in ("xgboost", "lightgbm"))
    table, given = rows
    for count in (2, 3):
        labels = _targets(given, LABELS["from 0"], count)
        objective = dict(objective="binary:logistic") if count == 2 else dict(
            objective="multi:softprob", num_class=3)
        of_xgboost = xgboost.train({**objective, "max_depth": 2, "nthread": 1},
                                   xgboost.DMatrix(table, labels), 4)
        of_lightgbm = lightgbm.train({**(dict(objective="binary") if count == 2
                                         else dict(objective="multiclass", num_class=3)), "verbose": -1,
                                         "num_threads": 1},
                                     lightgbm.Dataset(table, labels), 4)
        for booster, predicted in ((of_xgboost, of_xgboost.predict(xgboost.DMatrix(table[:6]))),
                                   (of_lightgbm, of_lightgbm.predict(table[:6]))):
            explainer = apportion.TreeExplainer(booster, table[:15], model_output="log_loss")
            shares = np.stack([1 - predicted, predicted], axis=1) if count == 2 else predicted
            found = explainer(table[:6], labels[:6])
            assert np.abs(found.predictions + np.log(shares[np.arange(6), labels[:6]])).max() < 1e-5
            with pytest.raises(
                    DataError,
                    match=f"invalid label {count} in row . of y: the model stores no labels.*"
                          f"numbers 0 to {count - 1}.*classes_"):
                explainer(table[:6], [0, 1, 0, 1, 0, count])
            with pytest.raises(DataError, match="invalid label 'yes' in row 0"):
                explainer(table[:6], ["yes"] * 6)


@pytest.mark.parametrize("kind",
                         ["from 1", "negative", "words", "booleans", "whole decimals",
                          "words in another order"])
def test_files_have_the_labels_that_they_store(rows, tmp_path, kind):
    from apportion.scikit_learn_to_json import save

    table, given = rows
    for count in (2, 3):
        if len(LABELS[kind]) < count:
            continue
        labels = _targets(given, LABELS[kind], count)
        made = {}
        for name in ("histogram boosting", "pipeline"):
            model = _model(name).fit(table, labels)
            made[name] = model, str(tmp_path / f"{name} {count}.json")
            save(model, made[name][1])
        model = _model("catboost").fit(table, labels)
        for ending in ("cbm", "json"):
            path = str(tmp_path / f"catboost {count}.{ending}")
            model.save_model(path, format=ending)
            made["catboost " + ending] = model, path
        for name, (model, path) in made.items():
            found = apportion.TreeExplainer(path, table[:15], model_output="log_loss")(table[:6], labels[:6])
            assert np.abs(found.predictions - _losses_of(model, table[:6], labels[:6])).max() < 1e-5, name


def test_numbers_of_classes_are_taken_only_if_no_label_is_a_number(rows, tmp_path):
    from apportion.scikit_learn_to_json import save

    table, given = rows
    words = _scikit_learn("logistic regression").fit(table, _targets(given, ["z", "m", "a"], 3))
    numbers = _scikit_learn("logistic regression").fit(table, _targets(given, [1, 2, 3], 3))
    for model, path in ((words, tmp_path / "words.json"), (numbers, tmp_path / "numbers.json")):
        save(model, str(path))
    of_words = apportion.TreeExplainer(str(tmp_path / "words.json"), table[:9], model_output="log_loss")
    assert np.array_equal(of_words(table[:3], [0, 1, 2]).values, of_words(table[:3], ["a", "m", "z"]).values)
    of_numbers = apportion.TreeExplainer(str(tmp_path / "numbers.json"), table[:9], model_output="log_loss")
    assert np.array_equal(of_numbers(table[:3], [1, 2, 3]).values,
                          of_numbers(table[:3], ["1", "2", "3"]).values)
    with pytest.raises(DataError, match="unknown label 0 in row 0"):
        of_numbers(table[:3], [0, 1, 2])
    # An estimator in memory stores its labels, and nothing else is accepted.
    with pytest.raises(DataError, match="unknown label 0 in row 0"):
        apportion.TreeExplainer(words, table[:9], model_output="log_loss")(table[:3], [0, 1, 2])


def test_models_without_such_a_loss_are_refused(rows):
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import Perceptron, RidgeClassifier
    from sklearn.svm import LinearSVC
    from sklearn.tree import DecisionTreeClassifier

    table, given = rows
    labels = _targets(given, LABELS["from 0"], 2)
    for model in (RandomForestClassifier(3), ExtraTreesClassifier(3), DecisionTreeClassifier(),
                  RidgeClassifier(), LinearSVC(), Perceptron()):
        explainer = apportion.TreeExplainer(model.fit(table, labels), table[:9], model_output="log_loss")
        with pytest.raises(UsageError, match="requires a classifier with a logistic or softmax link"):
            explainer(table[:3], labels[:3])


def test_a_regression_has_its_squared_error(rows):
    from sklearn.ensemble import GradientBoostingRegressor

    table, given = rows
    model = GradientBoostingRegressor(n_estimators=5).fit(table, given)
    found = apportion.TreeExplainer(model, table[:9], model_output="log_loss")(table[:6], given[:6])
    assert np.abs(found.predictions - (model.predict(table[:6]) - given[:6]) ** 2).max() < 1e-12


@pytest.mark.parametrize("kind", LABELS)
def test_outputs_are_selected_by_label(rows, kind):
    from sklearn.ensemble import RandomForestClassifier

    table, given = rows
    count = len(LABELS[kind])
    labels = _targets(given, LABELS[kind], count)
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(table, labels)
    found = apportion.TreeExplainer(model)(table[:5])
    classes = model.classes_.tolist()
    assert found.output_names == [str(label) for label in classes]
    shares = model.predict_proba(table[:5])
    for place, label in enumerate(classes):
        assert np.allclose(found[..., str(label)].predictions, shares[:, place])
        assert np.allclose(found[..., place].predictions, shares[:, place])
        if not isinstance(label, int) or isinstance(label, bool):
            assert np.allclose(found[:, :, label].predictions, shares[:, place])
        assert found[..., place].about["more"]["class"] == str(label)
        assert found.plot.figure("bar", output=str(label)).svg == found.plot.figure("bar", output=place).svg
    chosen = found[..., [str(classes[1]), str(classes[0])]]
    assert chosen.output_names == [str(classes[1]), str(classes[0])] and np.array_equal(
        chosen.values, found.values[..., [1, 0]])
    assert set(found.to_frame()["output"]) == {str(label) for label in classes}
    with pytest.raises(UsageError, match="unknown output"):
        found[..., "none of them"]


def test_the_door_of_shap_takes_labels(rows):
    pytest.importorskip("shap")
    import apportion.shap as ours

    table, given = rows
    for kind, count in (("from 1", 3), ("negative", 2), ("words", 3), ("booleans", 2),
                        ("words in another order", 2)):
        labels = _targets(given, LABELS[kind], count)
        model = _scikit_learn("logistic regression").fit(table, labels)
        explainer = ours.TreeExplainer(model, table[:15], model_output="log_loss")
        for label in model.classes_:
            base = explainer.expected_value(label)
            assert isinstance(base, np.float64) and np.isclose(
                base, _losses_of(model, table[:15], [label] * 15).mean())
        assert np.isclose(explainer.expected_value(labels[:15]),
                          _losses_of(model, table[:15], labels[:15]).mean())
        values = explainer.shap_values(table[:6], labels[:6])
        bases = np.array([explainer.expected_value(label) for label in labels[:6]])
        assert np.allclose(values.sum(axis=1) + bases, _losses_of(model, table[:6], labels[:6]))
        assert np.allclose(explainer(table[:6], labels[:6]).base_values, bases)
        with pytest.raises(DataError, match="unknown label"):
            explainer.expected_value("none of them")
