"""The examples of the documentation run."""
import doctest
import importlib
import pathlib
import re
import runpy

import pytest

import apportion

MODULES = ["apportion", "apportion.games", "apportion._models", "apportion._explainers",
           "apportion._explanation", "apportion._groups", "apportion._media", "apportion._threads"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_modules(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_examples_of_the_readme():
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    assert doctest.testfile(str(readme), module_relative=False).failed == 0


@pytest.mark.parametrize("example", ["trees", "any_model", "in_groups", "text"])
def test_examples_that_are_programs(example, tmp_path, monkeypatch):
    for needed in ("pandas", "sklearn"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(pathlib.Path(__file__).parent.parent / "examples" / f"{example}.py"))


@pytest.mark.parametrize("library", ["shap", "shapiq"])
def test_pages_name_what_there_is(library):
    page = pathlib.Path(__file__).parents[3] / "docs" / f"coming_from_{library}.md"
    if not page.exists():
        pytest.skip("the documentation is not beside the tests")
    text = page.read_text()
    for module in (pytest.importorskip(library), apportion):
        for name in set(re.findall(rf"(?<![\w.]){module.__name__}\.([A-Za-z_.]+)", text)):
            found = module
            for part in name.rstrip(".").split("."):
                found = importlib.import_module("apportion.shap") if (found, part) == (
                    apportion, "shap") else getattr(found, part)
