"""The output that is explained: one rule for all models, and the explanation names the output."""
import warnings

import numpy as np
import pytest

import apportion

pytest.importorskip("sklearn")
try:
    import shap
except ImportError:
    shap = None

pytestmark = pytest.mark.filterwarnings("ignore::apportion.ModelWarning")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(100, 3))


def explained(model, rows, **more):
    found = apportion.Explainer(model, rows[:20], **more)(rows[:4])
    assert found.additivity_gap() < 1e-6
    return found


def test_outlier_detectors_are_explained_by_their_scores(rows):
    from sklearn.covariance import EllipticEnvelope
    from sklearn.ensemble import IsolationForest
    from sklearn.linear_model import SGDOneClassSVM
    from sklearn.neighbors import LocalOutlierFactor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import OneClassSVM

    for model in (OneClassSVM(), EllipticEnvelope(random_state=0), SGDOneClassSVM(random_state=0),
                  LocalOutlierFactor(novelty=True),
                  make_pipeline(StandardScaler(), OneClassSVM())):
        model.fit(rows)
        with pytest.warns(apportion.ModelWarning, match="labels"):
            found = explained(model, rows)
        assert np.allclose(found.predictions, model.decision_function(rows[:4])), model
        assert found.output == "decision_function" and any("labels" in note for note in found.notes)
        assert np.allclose(explained(model, rows, model_output="predict").predictions,
                           model.predict(rows[:4]))
    found = explained(IsolationForest(n_estimators=5, random_state=0).fit(rows), rows)
    assert found.output == "mean path length"


def test_clusterers_are_explained_by_distances_or_by_the_label_of_each_cluster(rows):
    from sklearn.cluster import (
        AffinityPropagation,
        Birch,
        BisectingKMeans,
        KMeans,
        MeanShift,
        MiniBatchKMeans,
    )
    from sklearn.mixture import GaussianMixture

    for model in (KMeans(3, n_init=1, random_state=0), MiniBatchKMeans(3, n_init=1, random_state=0),
                  BisectingKMeans(3, random_state=0), Birch(n_clusters=3)):
        model.fit(rows)
        found = explained(model, rows)
        assert np.allclose(found.predictions, model.transform(rows[:4])), model
        assert found.output.startswith("transform") and found.notes
    for model in (MeanShift(bandwidth=1.5), AffinityPropagation(random_state=0)):
        model.fit(rows)
        found = explained(model, rows)
        assert np.array_equal(np.array(found.output_names)[found.predictions.argmax(axis=1)].astype(int),
                              model.predict(rows[:4]))
    model = GaussianMixture(2, random_state=0).fit(rows)
    assert np.allclose(explained(model, rows).predictions, model.predict_proba(rows[:4]))


def test_labels_are_never_taken_for_numbers(rows):
    from sklearn.ensemble import RandomForestClassifier, VotingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OutputCodeClassifier

    for labels in ([1, 2, 3], ["x", "y", "z"], [-1, 0, 7], [0.5, 1.5, 2.5], [False, True]):
        targets = np.array(labels)[np.digitize(rows[:, 0], [-0.5, 0.5][: len(labels) - 1])]
        if targets.dtype.kind == "f":
            targets = targets.astype(str)
        for model in (OutputCodeClassifier(LogisticRegression(), random_state=0),
                      VotingClassifier([("one", LogisticRegression()),
                                        ("two", RandomForestClassifier(3, random_state=0))], voting="hard")):
            model.fit(rows, targets)
            found = explained(model, rows)
            assert found.output_names == [str(label) for label in model.classes_]
            assert np.array_equal(model.classes_[found.predictions.argmax(axis=1)], model.predict(rows[:4]))
            assert np.allclose(found.predictions.sum(axis=1), 1)


def test_a_margin_comes_before_probabilities_whatever_stands_before_the_model(rows):
    from sklearn.decomposition import PCA
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression, PoissonRegressor
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    targets = (rows[:, 0] > 0).astype(int)
    for model in (LogisticRegression(), HistGradientBoostingClassifier(max_iter=3), SVC()):
        alone, behind = model.fit(rows, targets), make_pipeline(PCA(), type(model)()).fit(rows, targets)
        for one in (alone, behind):
            found = explained(one, rows)
            assert np.allclose(found.predictions, one.decision_function(rows[:4]), atol=1e-9)
            assert found.output in ("log-odds", "decision_function", "margin")
    counts = np.floor(np.exp(rows[:, 0]))
    for one in (PoissonRegressor().fit(rows, counts),
                make_pipeline(PCA(), PoissonRegressor()).fit(rows, counts)):
        found = explained(one, rows)
        assert np.allclose(found.predictions,
                           np.log(one.predict(rows[:4]))) and found.output == "margin: log of predict"
    model = make_pipeline(PCA(), GaussianNB()).fit(rows, targets)
    assert explained(model, rows).output == "predict_proba"
    for library, option in (("xgboost", "output_margin"), ("lightgbm", "raw_score")):
        own = pytest.importorskip(library)
        booster = {"xgboost": lambda: own.XGBClassifier(n_estimators=3, n_jobs=1),
                   "lightgbm": lambda: own.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1)}[library]()
        model = make_pipeline(PCA(), booster).fit(rows, targets)
        found = explained(model, rows)
        assert np.allclose(found.predictions, model.predict(rows[:4], **{option: True}),
                           atol=1e-6) and "margin" in found.output


def test_models_of_several_targets_have_an_output_for_each_class_of_each(rows):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.tree import DecisionTreeClassifier

    targets = (rows[:, :2] > 0).astype(int)
    for model in (KNeighborsClassifier(), MultiOutputClassifier(GaussianNB()),
                  MultiOutputClassifier(KNeighborsClassifier())):
        model.fit(rows, targets)
        found = explained(model, rows)
        assert np.allclose(found.predictions, np.concatenate(model.predict_proba(rows[:4]), axis=1)), model
        assert found.output_names == ["0: 0", "0: 1", "1: 0", "1: 1"]
    for model in (RandomForestClassifier(3, random_state=0), DecisionTreeClassifier(max_depth=3)):
        model.fit(rows, targets)
        assert np.allclose(explained(model, rows).predictions,
                           np.concatenate(model.predict_proba(rows[:4]), axis=1))
    for model in (KNeighborsRegressor(), MultiOutputRegressor(KNeighborsRegressor())):
        model.fit(rows, rows[:, :2])
        assert np.allclose(explained(model, rows).predictions, model.predict(rows[:4]))
    chain = ClassifierChain(KNeighborsClassifier()).fit(rows, targets)
    assert np.allclose(explained(chain, rows).predictions, chain.predict_proba(rows[:4]))


def test_a_method_that_refuses_is_passed_over_with_a_note(rows):
    class Refusing:
        classes_ = np.array([1, 2])

        def __init__(self, error):
            self.error = error

        def predict_proba(self, given):
            raise self.error

        def predict(self, given):
            return np.where(given[:, 0] > 0, 2, 1)

    for error in (NotImplementedError("no probabilities"), AttributeError("predict_proba"),
                  ValueError("unfitted calibration"), TypeError("x"), RuntimeError("y")):
        found = explained(Refusing(error), rows)
        assert np.array_equal(found.predictions[:, 1], rows[:4, 0] > 0)
        assert any(str(error) in note for note in found.notes)

    class Broken(Refusing):
        def predict(self, given):
            raise ValueError("broken, too")

    with pytest.raises(ValueError, match="no probabilities"):
        explained(Broken(NotImplementedError("no probabilities")), rows)


def test_a_transformed_target_is_explained_in_the_unit_of_predict(rows):
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PowerTransformer, StandardScaler

    targets = np.exp(rows[:, 0])
    pairs = [(np.log, np.exp), (np.log1p, np.expm1), (np.sqrt, np.square),
             (lambda y: np.log(y), lambda z: np.exp(z))]
    for regressor in (RandomForestRegressor(3, random_state=0), LinearRegression()):
        models = [TransformedTargetRegressor(regressor, func=func, inverse_func=inverse) for func,
                  inverse in pairs]
        models += [TransformedTargetRegressor(regressor, transformer=PowerTransformer()),
                   TransformedTargetRegressor(regressor),
                   make_pipeline(StandardScaler(),
                                 TransformedTargetRegressor(regressor, func=np.log, inverse_func=np.exp)),
                   GridSearchCV(TransformedTargetRegressor(regressor, func=np.log, inverse_func=np.exp),
                                {"check_inverse": [False]}, cv=2)]
        for model in models:
            model.fit(rows, targets)
            found = explained(model, rows)
            assert np.allclose(found.predictions, model.predict(rows[:4])), model
            assert found.output == "predict"
            if not isinstance(model, TransformedTargetRegressor) or model.inverse_func is not np.exp:
                continue
            for without in (apportion.TreeExplainer(model)(rows[:4]),
                            apportion.TreeExplainer(model, rows[:20])(rows[:4])):
                assert np.allclose(without.predictions,
                                   model.predict(rows[:4])) and without.output == "predict"
            if shap is None:
                continue
            from apportion.shap import TreeExplainer

            door = TreeExplainer(model, rows[:20])(rows[:4])
            assert np.allclose(door.values.sum(axis=1) + door.base_values, model.predict(rows[:4]))


def test_every_explanation_says_its_output(rows):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    targets = (rows[:, 0] > 0).astype(int)
    for model, output in ((Ridge().fit(rows, rows[:, 0]), "predict"),
                          (LogisticRegression().fit(rows, targets), "log-odds"),
                          (lambda given: given[:, 0], "output of the function")):
        found = explained(model, rows)
        assert found.output == output and found[0].output == output
    assert explained(LogisticRegression().fit(rows, targets), rows,
                     model_output="probability").output == "probability"
    assert explained(RandomForestClassifier(3).fit(rows, targets), rows).output == "probability"
    assert explained(LinearSVC().fit(rows, targets), rows).output == "decision_function"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explained(Ridge().fit(rows, rows[:, 0]), rows)


def test_survival_models_have_an_output_for_each_time(enumerated):
    sksurv = pytest.importorskip("sksurv.ensemble")
    from sksurv.linear_model import CoxPHSurvivalAnalysis
    from sksurv.tree import SurvivalTree
    from sksurv.util import Surv

    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 3))
    times, events = np.round(np.exp(rows[:, 0] + random.normal(size=60)), 1) + 0.1, random.random(60) > 0.3
    target = Surv.from_arrays(events, times)
    for model in (sksurv.RandomSurvivalForest(n_estimators=4, random_state=0),
                  sksurv.ExtraSurvivalTrees(n_estimators=3, random_state=0),
                  SurvivalTree(max_depth=3, random_state=0),
                  sksurv.GradientBoostingSurvivalAnalysis(n_estimators=4, random_state=0),
                  CoxPHSurvivalAnalysis()):
        model.fit(rows, target)
        for method in ("predict_cumulative_hazard_function", "predict_survival_function"):
            explainer = apportion.Explainer(model, rows[:8], model_output=method)
            is_sum = "Forest" in type(model).__name__ or "Tree" in type(model).__name__
            assert (explainer.ensemble is not None) == is_sum
            found = explainer(rows[20:24])
            own = getattr(model, method)(rows[20:24], return_array=True)
            assert np.allclose(found.predictions, own) and found.output == f"{method} at times"
            assert len(found.output_names) == own.shape[1] and found.additivity_gap() < 1e-9

            def worth(mask):
                mixed = rows[:8].copy()
                chosen = [player for player in range(3) if mask >> player & 1]
                mixed[:, chosen] = rows[20, chosen]
                return getattr(model, method)(mixed, return_array=True)[:, 2].mean()

            assert np.abs(found.values[0, :, 2] - enumerated(worth, 3)).max() < 1e-9
