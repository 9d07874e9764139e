#!/usr/bin/env python3
"""Compares the command with the library of each model, for common kinds of model files and tables.

    python3 benches/rivals/doors.py BINARY [--rows-as csv|parquet|numbers]
                                    [--only xgboost|lightgbm|catboost|scikit_learn]

BINARY is the `apportion` command. The interpreter needs pandas and any of xgboost, lightgbm, catboost and
scikit-learn (and pyarrow for Parquet); missing libraries are skipped and named. Models are trained on a table
with categories, booleans, missing values and names with spaces, with early stopping, and with three classes
or targets. `--rows-as numbers` passes category codes and 0 and 1 for booleans in a matrix without names,
which separates the predictions of a model from the reading of rows. Each line of the table states `agree`,
`differ` with the largest difference, or `refused` with the error. Differences are relative to the largest
number. The exit status is 1 if anything differs.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import pandas as pd

from command import Command, Refused, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Append the path instead of inserting it, since the directory also contains a module named shap.
sys.path.append(str(ROOT / "crates/python/python/apportion"))
ROWS, SHOWN = 600, 40
NUMBERS, WORDS, FLAG = ["Annual Income (k$)", "age", "Körpergröße"], ["city", "grade"], "is member"


def people(seed=0, missing=False):
    """Returns rows with numbers (names with spaces and brackets), two categorical columns and a boolean."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({
        "Annual Income (k$)": random.lognormal(3, 0.8, ROWS).round(2),
        "age": random.integers(18, 90, ROWS),
        "Körpergröße": random.normal(170, 10, ROWS),
        "city": random.choice(["Oslo", "New York", "Rome", "Lima, Peru", "Bern"], ROWS),
        "grade": random.choice(["low", "mid", "high"], ROWS),
        "is member": random.random(ROWS) < 0.4,
    })
    if missing:
        for column in [*NUMBERS, *WORDS]:
            rows[column] = rows[column].mask(random.random(ROWS) < 0.12)
    return rows


def target(rows, seed=1):
    noise = np.random.default_rng(seed).normal(0, 0.2, len(rows))
    city = rows["city"].map({"Oslo": 1.0, "New York": -1.0, "Rome": 0.5}).fillna(0).astype(float)
    return (np.log(rows["Annual Income (k$)"].fillna(10)) + city * rows["is member"].astype(float)
            + 0.02 * rows["age"].fillna(40)
            + (rows["grade"] == "high") + noise).to_numpy(float)


def classes(rows, count):
    values = target(rows)
    return np.searchsorted(np.quantile(values, np.linspace(0, 1, count + 1)[1:-1]), values)


def typed(rows):
    return rows.astype({column: "category" for column in WORDS})


def numeric(rows):
    return rows.drop(columns=WORDS)


def targets(rows):
    values = target(rows)
    return np.column_stack([values, values ** 2, rows["age"].fillna(0)])


class Case:
    """A model file, rows, and the predictions and contributions of its library."""

    def __init__(self, library, what, model, rows, margins, contributions=None, tolerance=(1e-9, 1e-9),
                 options=()):
        (self.library, self.what, self.model, self.rows, self.tolerance, self.options) = (
            library, what, model, rows, tolerance, options)
        self.margins = np.asarray(margins, dtype=float).reshape(len(rows), -1)
        self.contributions = contributions  # rows × features × outputs


def xgboost_cases(folder):
    import xgboost

    def case(what, model, rows, file, tolerance=(2e-5, 2e-5), contributions=True):
        path = folder / file
        model.save_model(path)
        few = rows.head(SHOWN)
        data = xgboost.DMatrix(few, enable_categorical=True,
                               missing=model.get_params().get("missing", np.nan))
        best = getattr(model, "best_iteration",
                       None) if model.get_params().get("early_stopping_rounds") else None
        rounds = (0, 0 if best is None else best + 1)
        margins = model.get_booster().predict(data, output_margin=True, iteration_range=rounds)
        said = None
        if contributions:
            said = model.get_booster().predict(data, pred_contribs=True, iteration_range=rounds).astype(float)
            said = said[..., :-1][:, :, None] if said.ndim == 2 else said[..., :-1].transpose(0, 2, 1)
        sentinel = model.get_params().get("missing", np.nan)
        return Case("XGBoost " + xgboost.__version__, what, path, few, margins, said, tolerance,
                    () if np.isnan(sentinel) else (f"--missing={sentinel:g}",))

    def regressor(**more):
        return xgboost.XGBRegressor(n_estimators=20, max_depth=4, **more)

    rows, holes = people(), people(missing=True)
    yield lambda: case("numbers and booleans", regressor().fit(numeric(rows), target(rows)), numeric(rows),
                       "plain.json")
    yield lambda: case("UBJ", regressor().fit(numeric(rows), target(rows)), numeric(rows), "plain.ubj")
    yield lambda: case("missing values", regressor().fit(numeric(holes), target(holes)), numeric(holes),
                       "missing.json")
    yield lambda: case("words", regressor(enable_categorical=True).fit(typed(rows), target(rows)),
                       typed(rows), "words.json")
    yield lambda: case("words, UBJ", regressor(enable_categorical=True).fit(typed(rows), target(rows)),
                       typed(rows), "words.ubj")
    yield lambda: case("words, missing values",
                       regressor(enable_categorical=True, max_cat_to_onehot=1).fit(
                           typed(holes), target(holes)),
                       typed(holes), "words_missing.json")
    yield lambda: case("early stopping", xgboost.XGBRegressor(n_estimators=300, early_stopping_rounds=5).fit(
        numeric(rows), target(rows), eval_set=[(numeric(people(5)), target(people(5)))], verbose=False),
        numeric(rows), "stopped.json")
    yield lambda: case("three classes",
                       xgboost.XGBClassifier(n_estimators=10).fit(numeric(rows), classes(rows, 3)),
                       numeric(rows), "classes.json")
    yield lambda: case("two classes",
                       xgboost.XGBClassifier(n_estimators=10).fit(numeric(rows), classes(rows, 2)),
                       numeric(rows), "binary.json")
    yield lambda: case("three targets", regressor().fit(numeric(rows), targets(rows)), numeric(rows),
                       "targets.json")
    yield lambda: case("three targets, vector leaves",
                       regressor(multi_strategy="multi_output_tree").fit(numeric(rows), targets(rows)),
                       numeric(rows), "vectors.json", contributions=False)
    yield lambda: case("dart", regressor(booster="dart", rate_drop=0.3).fit(numeric(rows), target(rows)),
                       numeric(rows), "dart.json")
    yield lambda: case("linear booster",
                       xgboost.XGBRegressor(booster="gblinear", n_estimators=10).fit(
                           numeric(rows), target(rows)), numeric(rows),
                       "linear.json")
    yield lambda: case("random forest",
                       xgboost.XGBRFRegressor(n_estimators=20).fit(numeric(rows), target(rows)),
                       numeric(rows), "forest.json")
    yield lambda: case("-999 for missing",
                       regressor(missing=-999.0).fit(numeric(holes).astype(float).fillna(-999),
                                                     target(holes)),
                       numeric(holes).astype(float).fillna(-999), "sentinel.json")
    yield lambda: case("ranking",
                       xgboost.XGBRanker(n_estimators=10).fit(
                           numeric(rows), classes(rows, 3), qid=np.arange(ROWS) // 20),
                       numeric(rows), "ranking.json")


def lightgbm_cases(folder):
    import lightgbm

    def case(what, model, rows, file, contributions=True):
        path = folder / file
        model.booster_.save_model(path)
        few = rows.head(SHOWN)
        margins, said = model.predict(few, raw_score=True), None
        if contributions:
            outputs = np.asarray(margins).reshape(SHOWN, -1).shape[1]
            said = np.asarray(model.predict(few, pred_contrib=True)).reshape(SHOWN, outputs, -1)[
                ..., :-1].transpose(0, 2, 1)
        # Raw scores and contributions of a forest are sums over its trees, its predictions are means.
        if model.get_params()["boosting_type"] == "rf":
            margins, said = model.predict(few), said / model.n_estimators_
        return Case("LightGBM " + lightgbm.__version__, what, path, few, margins, said)

    def of(kind="LGBMRegressor", **more):
        return getattr(lightgbm,
                       kind)(**({"n_estimators": 20, "verbose": -1, "min_child_samples": 5,
                                 "n_jobs": 1} | more))

    rows, holes = people(), people(missing=True)
    yield lambda: case("numbers and booleans, names with blanks", of().fit(numeric(rows), target(rows)),
                       numeric(rows), "plain.txt")
    yield lambda: case("missing values", of().fit(numeric(holes), target(holes)), numeric(holes),
                       "missing.txt")
    yield lambda: case("words", of().fit(typed(rows), target(rows)), typed(rows), "words.txt")
    yield lambda: case("words, missing values", of(max_cat_to_onehot=1).fit(typed(holes), target(holes)),
                       typed(holes), "words_missing.txt")
    yield lambda: case("words of booleans and numbers", of().fit(*both_of(rows)), both_of(rows)[0],
                       "words_numbers.txt")
    yield lambda: case("early stopping", of(n_estimators=300, early_stopping_round=5).fit(
        typed(rows), target(rows), eval_set=[(typed(people(5)), target(people(5)))]), typed(rows),
        "stopped.txt")
    yield lambda: case("three classes", of("LGBMClassifier").fit(numeric(rows), classes(rows, 3)),
                       numeric(rows), "classes.txt")
    yield lambda: case("two classes, words", of("LGBMClassifier").fit(typed(rows), classes(rows, 2)),
                       typed(rows), "binary.txt")
    yield lambda: case("linear leaves", of(linear_tree=True).fit(numeric(rows), target(rows)), numeric(rows),
                       "linear.txt", contributions=False)
    yield lambda: case("dart", of(boosting_type="dart").fit(numeric(rows), target(rows)), numeric(rows),
                       "dart.txt")
    yield lambda: case("random forest",
                       of(boosting_type="rf", subsample=0.6, subsample_freq=1).fit(
                           numeric(rows), target(rows)), numeric(rows),
                       "forest.txt")


def both_of(rows):
    rows = numeric(rows).assign(**{"is member": rows["is member"].astype("category"),
                                   "rooms": (rows["age"] % 5).astype("category")})
    return rows, target(people())


def catboost_cases(folder):
    import catboost

    def case(what, model, rows, file, words=(), contributions=True):
        path = folder / file
        few = rows.head(SHOWN)
        pool = catboost.Pool(few, cat_features=list(words))
        model.save_model(path, format="json" if file.endswith("json") else "cbm",
                         pool=catboost.Pool(rows, cat_features=list(words)))
        margins, said = model.predict(pool, prediction_type="RawFormulaVal"), None
        if contributions:
            said = np.asarray(model.get_feature_importance(pool, type="ShapValues"))
            said = said[..., :-1][:, :, None] if said.ndim == 2 else said[..., :-1].transpose(0, 2, 1)
        return Case("CatBoost " + catboost.__version__, what, path, few, margins, said,
                    (1e-6 if words else 1e-9, 1e-9))

    def of(kind="CatBoostRegressor", **more):
        return getattr(catboost,
                       kind)(**({"iterations": 20, "depth": 4, "verbose": False, "allow_writing_files": False,
                                 "thread_count": 1} | more))

    def filled(rows):
        return rows.assign(**{column: rows[column].astype(object).where(
            rows[column].notna(), "none") for column in WORDS})

    rows, holes = people(), people(missing=True)
    for kind in ("json", "cbm"):
        yield lambda kind=kind: case(f"numbers and booleans, {kind}", of().fit(numeric(rows), target(rows)),
                                     numeric(rows), f"plain.{kind}")
        yield lambda kind=kind: case(f"missing values, {kind}", of().fit(numeric(holes), target(holes)),
                                     numeric(holes), f"missing.{kind}")
        yield lambda kind=kind: case(f"words, one-hot, {kind}",
                                     of(one_hot_max_size=10, cat_features=WORDS).fit(
                                         filled(rows), target(rows)),
                                     filled(rows), f"one_hot.{kind}", WORDS)
        yield lambda kind=kind: case(f"words, statistics (CTR), {kind}",
                                     of(one_hot_max_size=1, cat_features=WORDS).fit(
                                         filled(holes), target(holes)),
                                     filled(holes), f"ctr.{kind}", WORDS, contributions=False)
        yield lambda kind=kind: case(f"early stopping, {kind}",
                                     of(iterations=300, early_stopping_rounds=5).fit(
            numeric(rows), target(rows), eval_set=(numeric(people(5)), target(people(5)))), numeric(rows),
            f"stopped.{kind}")
        yield lambda kind=kind: case(f"three classes, {kind}",
                                     of("CatBoostClassifier").fit(numeric(rows), classes(rows, 3)),
                                     numeric(rows),
                                     f"classes.{kind}")
        yield lambda kind=kind: case(f"two classes named by words, {kind}", of("CatBoostClassifier").fit(
            numeric(rows), np.where(classes(rows, 2) == 1, "yes", "no")), numeric(rows), f"binary.{kind}")
        yield lambda kind=kind: case(f"three targets, {kind}",
                                     of(loss_function="MultiRMSE").fit(numeric(rows), targets(rows)),
                                     numeric(rows),
                                     f"targets.{kind}")


def scikit_learn_cases(folder):
    import sklearn
    from sklearn import ensemble, multioutput, tree
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    from scikit_learn_to_json import save

    def said_by_shap(model, rows):
        try:
            import shap
            values = np.asarray(shap.TreeExplainer(model).shap_values(rows))
        except Exception:  # shap is not installed or does not support the model
            return None
        return values[:, :, None] if values.ndim == 2 else values

    # shap sums the trees of scikit-learn partly in f32, hence the second tolerance.
    def case(what, model, rows, margins="predict", tolerance=(1e-9, 1e-6)):
        path = folder / (what.replace(" ", "_").replace(",", "") + ".json")
        save(model, path)
        few = rows.head(SHOWN)
        return Case("scikit-learn " + sklearn.__version__, what, path, few, getattr(model, margins)(few),
                    said_by_shap(model, few),
                    tolerance)

    def columns(encoder, scaler="passthrough"):
        return ColumnTransformer([("words", encoder, WORDS)], remainder=scaler)

    rows, holes, wanted = people(), people(missing=True), target(people())
    forest = ensemble.RandomForestRegressor(10, max_depth=6, random_state=0)
    shares = ensemble.RandomForestClassifier(10, max_depth=5, random_state=0)
    yield lambda: case("forest, booleans", forest.fit(numeric(rows), wanted), numeric(rows))
    yield lambda: case("forest, missing values", forest.fit(numeric(holes).astype(float), target(holes)),
                       numeric(holes).astype(float))
    yield lambda: case("forest, three classes", shares.fit(numeric(rows), classes(rows, 3)), numeric(rows),
                       "predict_proba")
    yield lambda: case("forest, three targets", forest.fit(numeric(rows), targets(rows)), numeric(rows))
    yield lambda: case("extra trees",
                       ensemble.ExtraTreesRegressor(10, max_depth=6).fit(numeric(rows), wanted),
                       numeric(rows))
    yield lambda: case("gradient boosting, early stopping",
                       ensemble.GradientBoostingRegressor(n_estimators=300, n_iter_no_change=5).fit(
        numeric(rows), wanted), numeric(rows))
    yield lambda: case("histogram boosting, words, early stopping",
                       ensemble.HistGradientBoostingRegressor(early_stopping=True).fit(
        typed(rows), wanted), typed(rows))
    yield lambda: case("histogram boosting, words, missing values",
                       ensemble.HistGradientBoostingClassifier(max_iter=20).fit(
        typed(holes), classes(holes, 3)), typed(holes), "decision_function")
    yield lambda: case("one-hot and scaler in a pipeline",
                       make_pipeline(columns(OneHotEncoder(), StandardScaler()), forest).fit(rows, wanted),
                       rows)
    yield lambda: case("imputer and ordinal in a pipeline", make_pipeline(columns(OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=-1), SimpleImputer(add_indicator=True)),
        forest).fit(holes, target(holes)), holes)
    yield lambda: case("AdaBoost",
                       ensemble.AdaBoostClassifier(n_estimators=10).fit(numeric(rows), classes(rows, 2)),
                       numeric(rows),
                       "decision_function")
    yield lambda: case("bagging",
                       ensemble.BaggingRegressor(n_estimators=5, max_features=2).fit(numeric(rows), wanted),
                       numeric(rows))
    yield lambda: case("voting", ensemble.VotingRegressor([
        ("one", make_pipeline(columns(OneHotEncoder()), forest)),
        ("two", make_pipeline(columns(OrdinalEncoder()), tree.DecisionTreeRegressor(max_depth=4)))]).fit(
            rows, wanted), rows)
    yield lambda: case(
        "multi-output",
        multioutput.MultiOutputRegressor(ensemble.HistGradientBoostingRegressor(max_iter=5)).fit(
            numeric(rows), targets(rows)), numeric(rows))
    for name, library in [("XGB", "xgboost"), ("LGBM", "lightgbm")]:
        for kind, wanted_of, margins in [("Regressor", target, "predict"),
                                         ("Classifier", lambda rows: classes(rows, 3), "raw")]:
            yield lambda name=name, library=library, kind=kind, wanted_of=wanted_of, margins=margins: (
                boosted_pipeline(case, columns, name + kind, library, wanted_of(holes), holes, margins))
    yield lambda: case("stacking",
                       ensemble.StackingRegressor([("forest", forest)]).fit(numeric(rows), wanted),
                       numeric(rows))


def boosted_pipeline(case, columns, kind, library, wanted, rows, margins):
    """Returns the case of a pipeline of encoders and a boosting model of another library."""
    import importlib

    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    model = getattr(importlib.import_module(library), kind)(n_estimators=10)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    pipeline = make_pipeline(columns(encoder, SimpleImputer(strategy="median")), model).fit(rows, wanted)
    if margins == "raw":
        pipeline.raw = lambda few: model.predict(
            pipeline[:-1].transform(few), **{"output_margin" if library == "xgboost" else "raw_score": True})
    return case(f"{kind} behind encoders", pipeline, rows, margins,
                tolerance=(2e-5, 2e-5) if library == "xgboost" else (1e-9, 1e-6))


def apart(found, wanted):
    """Returns the largest difference relative to the largest expected number."""
    if found.shape != wanted.shape:
        return np.inf
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-300))


def as_numbers(case):
    """Returns the rows as the numbers that splits compare."""
    rows, words = case.rows, {}
    if case.model.suffix == ".json" and case.library.startswith("scikit"):
        made = json.loads(case.model.read_text())
        rows = rows[made.get("feature_names", list(rows))]
        words = {rows.columns[entry["feature"]]: entry["values"] for entry in made.get("categories", [])}
    columns = []
    for name in rows:
        column = rows[name]
        if name in words:
            column = column.astype(object).map({word: code for code, word in enumerate(words[name])})
        elif isinstance(column.dtype, pd.CategoricalDtype):
            column = column.cat.codes.where(column.notna())
        columns.append(column.to_numpy(dtype=float, na_value=np.nan))
    return np.stack(columns, axis=1)


def verdict(share, tolerance):
    return f"agree ({share:.0e})" if share <= tolerance else f"**differ** ({share:.1e})"


def held(command, case):
    """Returns the verdicts on the predictions and the contributions of a case."""
    try:
        rows = as_numbers(case) if command.rows_as == "numbers" else case.rows
    except ValueError as problem:
        return f"not numeric: {problem}", ""
    try:
        predictions = verdict(apart(command.predict(case.model, rows, *case.options), case.margins),
                              case.tolerance[0])
    except Refused as refusal:
        return f"refused: {refusal}", ""
    try:
        values, bases, sums = command.explain(case.model, rows, *case.options)
        adds = apart(values.sum(axis=1) + bases, sums)
        if case.contributions is None:
            return predictions, verdict(adds, 1e-9) + ", sums agree"
        return predictions, verdict(max(apart(values, case.contributions), adds), case.tolerance[1])
    except Refused as refusal:
        return predictions, f"refused: {refusal}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--rows-as", choices=["csv", "parquet", "numbers"], default="csv")
    parser.add_argument("--only", choices=["xgboost", "lightgbm", "catboost", "scikit_learn"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        command = Command(given.binary.resolve(), folder, given.rows_as)
        for cases in (xgboost_cases, lightgbm_cases, catboost_cases, scikit_learn_cases):
            library = cases.__name__.removesuffix("_cases")
            if given.only not in (None, library):
                continue
            made = cases(pathlib.Path(folder))
            try:
                for make in made:
                    try:
                        case = make()
                    except ValueError as problem:  # the converter of scikit-learn states the reason
                        lines.append([library, "", f"not written: {problem}", ""])
                        continue
                    lines.append([case.library, case.what, *held(command, case)])
                    print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
            except ImportError as problem:
                lines.append([library, "", f"skipped: {problem}", ""])
    print(table(lines, ["library", "model and rows", "predictions", "contributions"]))
    differ = sum("differ" in cell for line in lines for cell in line)
    print(f"\n{sum('agree' in line[2] for line in lines)} of {len(lines)} predictions agree; "
          f"{differ} cells differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
