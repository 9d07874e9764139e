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
    "bar of cohorts": lambda found: shap.plots.bar({"low": found[:30], "high": found[30:]}, show=False),
    "scatter by another": lambda found: shap.plots.scatter(found[:, "a"], color=found, show=False),
    "group difference": lambda found: shap.plots.group_difference(found.values, found.data[:, 0] > 0, found.feature_names, show=False),
    "monitoring": lambda found: shap.plots.monitoring(0, found.values, found.data, feature_names=found.feature_names, show=False),
    "embedding": lambda found: shap.plots.embedding(0, found.values, feature_names=found.feature_names, show=False),
    "force of many": lambda found: shap.plots.force(found.base_values[0], found.values[:5], feature_names=found.feature_names),
    "summary": lambda found: shap.summary_plot(found.values, found.data, feature_names=found.feature_names, show=False),
    "dependence": lambda found: shap.dependence_plot(0, found.values, found.data, feature_names=found.feature_names, show=False),
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


def test_plots_of_several_outputs_draw(pictures, numbers):
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(numbers[0], np.digitize(numbers[1], [-0.5, 0.5]))
    found = apportion.TreeExplainer(model)(numbers[0]).to_shap()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", module="shap|matplotlib|numba")
        for output in range(3):
            for plot in ("beeswarm", "waterfall", "bar", "heatmap", "force"):
                PLOTS[plot](found[..., output])
                pictures.close("all")
        shap.summary_plot(found.values, numbers[0], show=False, class_names=["0", "1", "2"])
    pictures.close("all")


def test_plots_of_texts_and_images_draw(pictures):
    text = apportion.explain_text(lambda texts: np.array([[text.count("a"), len(text)] for text in texts]), "an apple a day")
    for found in (text[..., 0], text[..., 1]):
        assert "apple" in shap.plots.text(found.to_shap(), display=False)
        shap.plots.bar(found.to_shap(), show=False)
        shap.plots.waterfall(found.to_shap(), show=False)
    image = apportion.explain_image(lambda images: images[:, :4].sum(axis=(1, 2, 3)), np.random.default_rng(0).random((8, 8, 3)), segments="2x2")
    shap.plots.image(image.to_shap(), show=False)
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

@pytest.fixture(scope="module")
def of_three(numbers):
    def model(rows):
        rows = np.asarray(rows)
        return np.column_stack([rows[:, 0] * rows[:, 1] * rows[:, 2] + rows[:, 3], np.maximum(rows[:, 1], rows[:, 3])])

    return model, numbers[0]


def test_explainers_of_any_model_by_shap_names(of_three):
    import apportion.shap as ours

    model, rows = of_three
    exact = ours.explainers.Exact(model, rows[:20])(rows[:5])
    theirs = shap.explainers.ExactExplainer(model, rows[:20])(rows[:5])
    assert type(exact) is shap.Explanation and np.allclose(exact.values, theirs.values, atol=1e-9)
    assert np.allclose(exact.base_values, theirs.base_values)
    sampled = ours.PermutationExplainer(lambda rows: rows[:, 0] * rows[:, 1] + rows[:, 2], np.zeros((1, 4)))(rows[:5], max_evals=100)
    assert np.allclose(sampled.values[:, 0], rows[:5, 0] * rows[:5, 1] / 2)
    chosen = ours.Explainer(model, rows[:20])(rows[:5])
    assert np.allclose(chosen.values, exact.values)
    assert ours.datasets is shap.datasets and ours.explainers.KernelExplainer is shap.explainers.KernelExplainer


def test_the_partition_explainer_gives_owen_values_of_the_clustering(of_three):
    import apportion.shap as ours

    model, rows = of_three
    masker = shap.maskers.Partition(rows[:20], clustering="correlation")
    explainer = ours.PartitionExplainer(model, masker)
    found = explainer(rows[:2])
    children = {4 + merge: (int(left), int(right)) for merge, (left, right, *_) in enumerate(masker.clustering)}

    def players(node):
        return {node} if node < 4 else players(children[node][0]) | players(children[node][1])

    def worth(row, present):
        mixed = masker.data.copy()
        for player in present:
            mixed[:, player] = row[player]
        return model(mixed).mean(axis=0)

    def share(row, node, context, weight, values):
        if node < 4:
            values[node] += weight * (worth(row, context | {node}) - worth(row, context))
            return
        left, right = children[node]
        for first, second in ((left, right), (right, left)):
            share(row, first, context, weight / 2, values)
            share(row, first, context | players(second), weight / 2, values)

    for row, values in zip(rows[:2], found.values):
        wanted = np.zeros((4, 2))
        share(row, max(children), set(), 1.0, wanted)
        assert np.allclose(values, wanted)
    shap.plots.bar(found[..., 0], show=False)
    assert found[0].values.shape == (4, 2)


def test_requests_of_shap_that_are_not_here():
    import apportion.shap as ours

    with pytest.raises(shap.utils._exceptions.InvalidModelError, match="not yet supported"):
        ours.TreeExplainer(object())
    with pytest.raises(shap.utils._exceptions.InvalidFeaturePerturbationError, match="must be"):
        ours.TreeExplainer(b"", feature_perturbation="random")
    for wrong in (lambda: ours.PartitionExplainer(lambda rows: rows[:, 0], np.zeros((3, 2))), lambda: ours.ExactExplainer(len, "words"),
                  lambda: ours.ExactExplainer(lambda rows: rows[:, 0], np.zeros((3, 2)), link=shap.links.logit)):
        with pytest.raises(Exception, match="clustering|masker|link|axes|rows"):
            wrong()


def test_single_rows_and_two_classes_have_the_shapes_of_shap(numbers):
    from sklearn.ensemble import HistGradientBoostingClassifier

    import apportion.shap as ours

    rows, targets = numbers
    model = HistGradientBoostingClassifier(max_iter=4, max_depth=2).fit(rows, targets > 0)
    explainer = ours.TreeExplainer(model, rows[:10], model_output="predict_proba")
    found = explainer(rows[:7])
    assert found.shape == (7, 4, 2) and np.allclose(found.values.sum(axis=1) + found.base_values, model.predict_proba(rows[:7]))
    assert np.allclose(explainer.expected_value, found.base_values[0])
    path = ours.TreeExplainer(model)
    assert path.shap_values(rows[0]).shape == (4,) and path(rows[0], interactions=True).shape == (4, 4)
    path.assert_additivity(path.shap_values(rows), path.model.predict(rows))
    with pytest.raises(shap.utils._exceptions.ExplainerError, match="add up"):
        path.assert_additivity(path.shap_values(rows) + 1, path.model.predict(rows))


def test_the_missing_number_of_xgboost_is_known():
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(7)
    rows = random.normal(size=(80, 3))
    rows[random.random((80, 3)) < 0.3] = -999
    model = xgboost.XGBRegressor(n_estimators=5, max_depth=3, missing=-999, n_jobs=1).fit(rows, np.where(rows[:, 0] == -999, 2, rows[:, 1]))
    for made in (apportion.TreeExplainer(model), apportion.Explainer(model), apportion.TreeExplainer(model, rows[:9])):
        assert np.allclose(made(rows).predictions, model.predict(rows), atol=1e-5)
    assert np.allclose(apportion.Ensemble(model).predict(rows), model.predict(rows), atol=1e-5)


def test_sparse_rows_are_read_as_the_library_reads_them():
    xgboost, lightgbm, sparse = (pytest.importorskip(name) for name in ("xgboost", "lightgbm", "scipy.sparse"))
    random = np.random.default_rng(8)
    rows = sparse.random(200, 6, density=0.4, format="csr", random_state=3)
    targets = np.asarray(rows.sum(axis=1)).ravel() + (rows[:, 0].toarray().ravel() == 0) + random.normal(size=200) / 50
    for model in (xgboost.XGBRegressor(n_estimators=5, max_depth=3, n_jobs=1), lightgbm.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)):
        model.fit(rows, targets)
        assert np.allclose(apportion.TreeExplainer(model)(rows).predictions, model.predict(rows), atol=1e-5)


def test_rows_in_the_place_of_a_masker_are_rows_whatever_their_columns_are_called(numbers):
    from sklearn.ensemble import RandomForestRegressor

    import apportion.shap as ours

    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(numbers[0], columns=["data", "values", "shape", "columns"])
    model = RandomForestRegressor(5, max_depth=3, random_state=0).fit(rows, numbers[1])
    wanted = apportion.TreeExplainer(model, rows[:10])(rows[:3]).values
    for background in (rows[:10], shap.maskers.Independent(rows[:10])):
        assert np.allclose(ours.Explainer(model, background)(rows[:3]).values, wanted)
        assert np.allclose(ours.TreeExplainer(model, background)(rows[:3]).values, wanted)
    assert np.allclose(ours.Explainer(model.predict, rows[:10])(rows[:3]).values, wanted)
