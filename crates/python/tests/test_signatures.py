"""Public functions declare all their options with types and defaults, and pass them on."""
import dataclasses
import importlib
import inspect

import numpy as np
import pytest

import apportion
from apportion import _core
from apportion._errors import UnknownOption
from apportion._options import Options
from apportion._plots import Figure, Page, Plots

MODULES = ["apportion.games", "apportion.dask", "apportion.ray", "apportion.spark", "apportion.datafusion"]
OPTIONS = {field.name: field.default for field in dataclasses.fields(Options)}


def public():
    """Yields the public functions and methods with their names."""
    faces = {f"apportion.{name}": getattr(apportion, name) for name in apportion.__all__}
    for module in map(importlib.import_module, MODULES):
        faces.update({f"{module.__name__}.{name}": face for name, face in vars(module).items()
                      if getattr(face, "__module__", None) == module.__name__ and not name.startswith("_")})
    shap = importlib.import_module("apportion.shap")
    faces.update({f"apportion.shap.{name}": getattr(shap, name) for name in shap.__all__
                  if name != "explainers"})
    faces.update({"Plots": Plots, "Figure": Figure, "Page": Page})
    for name, face in faces.items():
        if inspect.isclass(face):
            if issubclass(face, (Exception, Warning)):
                continue
            for method, of_class in inspect.getmembers(face, inspect.isroutine):
                is_own = (getattr(of_class, "__module__", None) or "").startswith("apportion")
                if is_own and (not method.startswith("_") or method in ("__init__", "__call__")):
                    yield f"{name}.{method}", of_class
        elif inspect.isfunction(face):
            yield name, face


FACES = dict(public())


def test_there_are_all_of_them():
    some = {"apportion.Explainer.__init__", "apportion.explain", "apportion.spark.summarize", "Plots.bar",
            "apportion.shap.TreeExplainer.__init__"}
    assert len(FACES) > 100 and some <= set(FACES)


@pytest.mark.parametrize("name", FACES)
def test_options_are_named_and_typed(name):
    signature = inspect.signature(FACES[name])
    for parameter in signature.parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL), parameter
        if parameter.name not in ("self", "cls"):
            assert parameter.annotation is not parameter.empty, parameter
    assert signature.return_annotation is not signature.empty


@pytest.mark.parametrize("name", FACES)
def test_public_functions_are_documented(name):
    face = FACES[name]
    if not name.endswith("__init__"):
        assert inspect.getdoc(face) and inspect.getdoc(face).splitlines()[0].rstrip(), name


def test_options_have_the_defaults_of_the_explainer():
    own = inspect.signature(apportion.Explainer).parameters
    assert {name: own[name].default for name in own if name not in ("model", "background")} == OPTIONS
    for name, face in FACES.items():
        parameters = inspect.signature(face).parameters
        if "until" not in parameters and "method" not in parameters:
            continue
        for option, parameter in parameters.items():
            if option in OPTIONS and not (option == "threads" and parameter.default == 1):
                assert parameter.default == OPTIONS[option], (name, option)
                assert parameter.annotation == own[option].annotation, (name, option)


class Passed(Exception):
    """Carries the arguments that a function was called with."""


def recorder(module, name, monkeypatch):
    class Recorder:
        def __init__(self, *arguments, **options):
            raise Passed(options)

    monkeypatch.setattr(f"{module}.{name}", Recorder)


@pytest.mark.parametrize(("name", "module", "of"),
                         [("explain", "_explainers", "Explainer"),
                          ("BatchExplainer", "_batches", "Explainer"),
                          ("explain_batches", "_batches", "BatchExplainer"),
                          ("summarize", "_batches", "BatchExplainer"),
                          ("dask.explain", "_workers", "BatchExplainer"),
                          ("dask.summarize", "_workers", "BatchExplainer"),
                          ("ray.explain", "_workers", "BatchExplainer"),
                          ("ray.summarize", "_workers", "BatchExplainer"),
                          ("datafusion.register", "datafusion", "BatchExplainer")])
def test_every_option_is_passed_on(name, module, of, monkeypatch):
    if name == "datafusion.register":
        pytest.importorskip("datafusion")
    folder, _, function = name.rpartition(".")
    face = getattr(importlib.import_module(f"apportion.{folder}") if folder else apportion, function)
    parameters = inspect.signature(face).parameters
    given = {option: object() for option in parameters if option in OPTIONS
             or option in ("keep", "interactions")}
    recorder(f"apportion.{module}", of, monkeypatch)
    first = [object()] * sum(parameter.default is parameter.empty for parameter in parameters.values())
    with pytest.raises(Passed) as passed:
        face(*first, **given)
    told = passed.value.args[0]
    # The number of threads of a task is set later, and `interactions` is an argument of each explanation.
    later = {"threads"} if parameters["threads"].default == 1 or folder == "datafusion" else set()
    if name in ("explain", "BatchExplainer"):
        later |= {"interactions", "keep"}
    assert [option for option in given if option not in later and told[option] is not given[option]] == []


def test_trees_pass_every_option_on(monkeypatch):
    seen = {}
    monkeypatch.setattr(apportion.Explainer, "__init__",
                        lambda self, model, data, **options: seen.update(options))
    monkeypatch.setattr("apportion._explainers.ensemble", lambda model, rounds: object())
    given = {option: object() for option in OPTIONS
             if option not in ("model_output", "rounds", "game", "progress", "additive")}
    apportion.TreeExplainer(object(), np.zeros((1, 2)), game="marginal", **given)
    assert {option: seen[option] for option in given} == given and seen["game"] == "marginal"


def test_unknown_options_are_refused():
    game = apportion.Game(lambda coalitions: coalitions.sum(axis=1), 2)
    found = game.explain()
    for call, option, meant in [(lambda: apportion.Explainer(print, kernels=1), "kernels", "kernel"),
                                (lambda: apportion.TreeExplainer(b"", dataa=1), "dataa", "data"),
                                (lambda: apportion.explain(print, [[1.0]], sede=3), "sede", "seed"),
                                (lambda: apportion.BatchExplainer(print, keeep="id"), "keeep", "keep"),
                                (lambda: apportion.explain_batches([], print, untill=1), "untill", "until"),
                                (lambda: apportion.summarize([], print, keep_="id"), "keep_", "keep"),
                                (lambda: game.explain(metod="exact"), "metod", "method"),
                                (lambda: found.plot.bar(tops=3), "tops", "top"),
                                (lambda: apportion.explain_text(print, "a", splt=" "), "splt", "split"),
                                (lambda: apportion.explain_image(print, np.zeros((2, 2)), segment="1x1"),
                                 "segment", "segments")]:
        with pytest.raises(UnknownOption,
                           match=f"unknown option '{option}' of .*; did you mean '{meant}'") as raised:
            call()
        assert isinstance(raised.value, TypeError) and isinstance(raised.value, apportion.UsageError)
    with pytest.raises(apportion.UsageError, match="unknown option 'partner' of Plots.bar; expected one of: "
                       "ax, output, top, width, seed"):
        found.plot.bar(partner="a")


def test_there_is_a_method_for_each_figure():
    methods = {name for name, face in vars(Plots).items() if not name.startswith("_")}
    assert methods == {"figure", *(name for name, _ in _core.figures())}
