"""Cases that compare four libraries."""
import itertools

from shap_cases.bench import case
from shap_cases.data import adults, houses
from shap_cases.catboost_models import catboost_class, formula
from shap_cases.lightgbm_models import lightgbm_class, raw
from shap_cases.xgboost_models import xgboost_class


@case(*itertools.product(["lightgbm", "xgboost", "catboost", "sklearn"], ["values", "interactions"]),
      title="test_check_consistent_outputs_binary_classification")
@case(*itertools.product(["lightgbm", "xgboost", "catboost", "sklearn"], ["values", "interactions"]),
      title="test_check_consistent_outputs_for_regression")
def side_by_side(bench, library, what):
    binary = bench.name.startswith("test_check_consistent_outputs_binary")
    rows, target = adults(50) if binary else houses(50)
    kind = "Classifier" if binary else "Regressor"
    if library == "lightgbm":
        model = lightgbm_class(f"LGBM{kind}", max_depth=1).fit(rows, target)
        said = raw(model, rows)
    elif library == "xgboost":
        model = xgboost_class(f"XGB{kind}", max_depth=1).fit(rows, target)
        said = model.predict(rows, output_margin=True)
    elif library == "catboost":
        model = catboost_class(f"CatBoost{kind}", depth=1, iterations=10).fit(rows, target)
        said = formula(model, rows)
    else:
        from sklearn import ensemble
        model = getattr(ensemble, f"RandomForest{kind}")(n_estimators=10).fit(rows, target)
        said = model.predict_proba(rows) if binary else model.predict(rows)
    asked = rows.to_numpy(dtype=float) if library == "lightgbm" else rows
    bench.holds(model, asked, said, to_shap=rows, interactions=what == "interactions")
