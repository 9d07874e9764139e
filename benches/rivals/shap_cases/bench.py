"""Operations of the cases: save a model, explain it with the command, and compare."""
import importlib
import pathlib
import sys

import numpy as np
import shap

from command import Refused
from shap_cases.enumeration import by_coalitions, expected, outputs

# Append the path instead of inserting it, since the directory also contains a module named shap.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "crates/python/python/apportion"))
import scikit_learn_to_json  # noqa: E402

SINGLE, DOUBLE = 2e-5, 1e-6
MOST_PLAYERS = 12  # for enumeration


class Differs(Exception):
    """Raised if the command differs; `is_right` if enumeration of all coalitions confirms the command."""

    def __init__(self, what, is_right=False):
        super().__init__(what)
        self.is_right = is_right


def apart(found, wanted):
    """Returns the largest difference relative to the largest number."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    if found.shape != wanted.shape:
        raise Differs(f"shapes differ: {found.shape} and {wanted.shape}")
    if not np.isfinite(found).all():
        raise Differs("some numbers are not finite")
    return float(np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1e-12))


class Bench:
    """Saves models and explains them with the command."""

    def __init__(self, command, folder):
        self.command, self.folder, self.count, self.notes = command, folder, 0, []

    def saved(self, model):
        """Saves a model in the format of its library; returns the path."""
        self.count += 1
        library = type(model).__module__.split(".")[0]
        path = self.folder / f"model{self.count}.json"
        if library == "xgboost":
            model.save_model(path)
        elif library == "lightgbm":
            path = path.with_suffix(".txt")
            getattr(model, "booster_", model).save_model(path)
        elif library == "catboost":
            model.save_model(path, format="json")
        elif library in ("sklearn", "skopt", "pyod", "ngboost"):
            try:
                scikit_learn_to_json.save(model, path)
            except scikit_learn_to_json.Refused as problem:
                raise Refused(f"scikit_learn_to_json: {problem}") from problem
        else:
            raise Refused(f"models of {library} are not supported")
        return path

    def holds(self, model, rows, predicted=None, *, to_shap=None, background=None, output="raw",
              interactions=False, tolerance=None,
              compare=True, options=()):
        """Compares predictions with those of the library and, if `compare`, values with shap's."""
        path = self.saved(model)
        tolerance = tolerance or (SINGLE if type(model).__module__.startswith("xgboost") else DOUBLE)
        asked = list(options) + (["--interactions=remainder"] if interactions else [])
        asked += ["--output", "probability"] if output != "raw" else []
        game = "path-dependent" if background is None else "marginal"
        values, bases, predictions = self.command.explain(
            path, rows, *asked, game=game, background=background)
        own = apart(values.sum(axis=(1, 2) if interactions else 1) + bases, predictions)
        if own > 1e-9:
            raise Differs(f"base value plus values differ from the command's own prediction by {own:.0e}")
        if predicted is not None:
            share = apart(predictions, np.asarray(predicted, dtype=float).reshape(len(predictions), -1))
            if share > tolerance:
                raise Differs(f"predictions differ from the library's by {share:.0e}")
        if interactions and apart(values, np.swapaxes(values, 1, 2)) > 1e-9:
            raise Differs("interactions are not symmetric")
        if compare:
            self.beside_shap(model, rows if to_shap is None else to_shap, rows, background, output,
                             interactions, values, tolerance)
        return values, bases, predictions

    def beside_shap(self, model, to_shap, rows, background, output, interactions, values, tolerance):
        try:
            data = background
            if background is not None:  # all rows instead of a sample of 100
                data = shap.maskers.Independent(np.asarray(background, dtype=float),
                                                max_samples=len(background))
            explainer = shap.TreeExplainer(model, data, model_output=output,
                                           feature_perturbation="tree_path_dependent"
                                           if background is None else "interventional")
            said = (explainer.shap_interaction_values(to_shap) if interactions
                    else explainer.shap_values(to_shap, check_additivity=False))
        except Exception as problem:
            self.notes.append(f"shap itself fails: {type(problem).__name__}: "
                              f"{str(problem).splitlines()[0][:80] if str(problem) else ''}")
            return
        said = np.stack(said, axis=-1) if isinstance(said, list) else np.asarray(said, dtype=float)
        said = said[..., None] if said.ndim == (3 if interactions else 2) else said
        share = apart(values, said)
        if share > tolerance:
            self.judge(share, tolerance, model, explainer, rows, background, output, interactions, values,
                       said)

    def judge(self, share, tolerance, model, explainer, rows, background, output, interactions, ours, theirs):
        """Raises `Differs`, with errors from enumeration for the row where both differ most."""
        what = f"values differ from shap's by {share:.0e}"
        if interactions or ours.shape[1] > MOST_PLAYERS or background is None and ours.shape[2] > 1:
            raise Differs(f"{what}; not enumerated")
        row, _, place = np.unravel_index(np.abs(ours - theirs).argmax(), ours.shape)
        x = np.asarray(rows, dtype=float)[row]
        if background is None:
            wanted = by_coalitions(len(x), lambda mask: expected(explainer.model, x, mask))
        else:
            data = np.asarray(background, dtype=float)
            wanted = by_coalitions(len(x),
                                   lambda mask: outputs(model, np.where(mask, x, data), output)[
                                       :, place].mean())
        errors = [apart(side[row, :, place], wanted) for side in (ours, theirs)]
        raise Differs(f"{what}; the error compared with enumeration is {errors[0]:.0e} for the command "
                      f"and {errors[1]:.0e} for shap", errors[0] <= tolerance)


def needs(library):
    try:
        return importlib.import_module(library)
    except ImportError as problem:
        raise Refused(f"{library.split('.')[0]} is not installed") from problem


CASES = []


def case(*parameters, title=None):
    """Registers a case, or one for each of the parameters."""
    def register(function):
        name = title or function.__name__
        for given in parameters or [()]:
            given = given if isinstance(given, tuple) else (given,)
            label = "-".join(getattr(value, "__name__", str(value)) for value in given)
            CASES.append((name + (f"[{label}]" if given else ""), function, given))
        return function
    return register
