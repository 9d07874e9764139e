"""Apportion: what each feature contributed to what a model said."""
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from . import games as games
from ._core import __version__ as __version__, methods as methods
from ._plots import Page, Plots
from .games import Game as Game

__all__ = [
    "AccuracyWarning", "BatchExplainer", "CallError", "DataError", "Ensemble", "Error", "Explainer", "Explanation", "Game", "InternalError", "ModelError", "ModelWarning",
    "NotFittedError", "Summary", "TreeExplainer", "UsageError", "__version__", "explain", "explain_batches", "explain_image", "explain_text", "games", "groups", "load", "methods", "set_threads", "summarize",
]

# A model: an object of a library, a path, bytes, or a callable. Rows: arrays and frames of any library. Neither has a type of its own.
_Model = Any
_Rows = Any
_Numbers = npt.NDArray[np.float64]
_Groups = str | Sequence[Any] | Mapping[str, Any] | None
_Graph = str | Sequence[tuple[str | int, str | int]] | None
_Progress = bool | Callable[[int, int], object]

class Error(ValueError): ...
class ModelError(Error): ...
class CallError(ModelError): ...
class NotFittedError(ModelError): ...
class DataError(Error): ...
class UsageError(Error): ...
class InternalError(Error): ...
class AccuracyWarning(UserWarning): ...
class ModelWarning(UserWarning): ...

class Ensemble:
    """A tree ensemble, or a linear model."""

    classes: Any
    missing: float | None
    def __init__(self, model: _Model, *, rounds: Literal["all"] | int | tuple[int, int] | None = None) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def source(self) -> Any: ...
    @property
    def output_names(self) -> list[str] | None: ...
    @property
    def has_covers(self) -> bool: ...
    def wanted(self) -> Any: ...
    def predict(self, X: _Rows, *, output: Literal["raw", "probability"] = "raw", threads: int | None = None) -> _Numbers: ...

class Explainer:
    """Explains the predictions of any model."""

    ensemble: Ensemble | None
    function: Any
    threads: int | None
    progress: _Progress
    model_output: str
    def __init__(
        self,
        model: _Model,
        background: _Rows | None = None,
        *,
        weights: npt.ArrayLike | None = None,
        value: str = "shapley",
        method: str = "auto",
        budget: int | str = "auto",
        until: float | None = None,
        groups: _Groups = None,
        graph: _Graph = None,
        game: str | None = None,
        model_output: str = "raw",
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        rounds: Literal["all"] | int | tuple[int, int] | None = None,
        threads: int | None = None,
        progress: _Progress = False,
        check: bool = True,
        **more: Any,
    ) -> None: ...
    def __call__(
        self,
        X: _Rows,
        y: npt.ArrayLike | None = None,
        *,
        interactions: bool | Literal["index", "remainder"] = False,
        threads: int | None = None,
        progress: _Progress | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Explanation: ...
    def shap_values(self, X: _Rows, y: npt.ArrayLike | None = None) -> _Numbers: ...
    def shap_interaction_values(self, X: _Rows) -> _Numbers: ...
    @property
    def expected_value(self) -> float | _Numbers: ...
    @property
    def output_count(self) -> int: ...
    @property
    def output_names(self) -> list[str] | None: ...
    @property
    def notes(self) -> list[str]: ...
    def plan(self, X: _Rows) -> dict[str, Any]: ...

class BatchExplainer:
    """Explains record batches of Arrow: an explainer and how its results are laid out."""

    explainer: Explainer
    layout: str
    interactions: bool
    keep: list[str]
    def __init__(
        self,
        model: _Model,
        background: _Rows | None = None,
        *,
        keep: str | Sequence[str] = (),
        layout: Literal["columns", "lists"] = "columns",
        interactions: bool | Literal["index"] = False,
        **more: Any,
    ) -> None: ...
    def with_threads(self, threads: int | None) -> BatchExplainer: ...
    def with_inputs(self) -> BatchExplainer: ...
    def columns(self, given: Sequence[str]) -> list[str]: ...
    def schema(self, given: Any) -> Any: ...
    def plan(self, sample: Any, rows: int, seconds: float = 2.0) -> dict[str, Any]: ...
    def __call__(self, batches: Any) -> Iterator[Any]: ...

class Summary:
    """What is said of many rows together."""

    rows: int
    def __init__(self) -> None: ...
    @classmethod
    def of(cls, results: Any) -> Summary: ...
    def add(self, batch: Any) -> None: ...
    def merge(self, other: Summary) -> None: ...
    def __add__(self, other: Summary) -> Summary: ...
    @property
    def players(self) -> list[str]: ...
    @property
    def output_names(self) -> list[str] | None: ...
    @property
    def mean(self) -> _Numbers: ...
    @property
    def mean_absolute(self) -> _Numbers: ...
    @property
    def standard_deviation(self) -> _Numbers: ...
    @property
    def least(self) -> _Numbers: ...
    @property
    def largest(self) -> _Numbers: ...
    def quantile(self, share: float) -> _Numbers: ...
    def density(self, player: str | int, output: int = 0) -> tuple[_Numbers, npt.NDArray[np.int64]]: ...
    def table(self) -> list[dict[str, Any]]: ...
    def explanation(self) -> Explanation: ...
    def report(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Page: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, written: bytes) -> Summary: ...

class TreeExplainer(Explainer):
    """Exact values of tree ensembles and linear models, in the manner of shap."""

    ensemble: Ensemble
    def __init__(
        self,
        model: _Model,
        data: _Rows | None = None,
        *,
        model_output: Literal["raw", "probability", "log_loss"] = "raw",
        feature_perturbation: Literal["auto", "interventional", "tree_path_dependent"] = "auto",
        feature_names: Sequence[str] | None = None,
        rounds: Literal["all"] | int | tuple[int, int] | None = None,
        **more: Any,
    ) -> None: ...

class Explanation:
    """The values of players for the predictions of rows."""

    values: Any
    base_values: Any
    data: Any
    predictions: Any
    std_errors: Any
    evaluations: Any
    draws: Any
    degrees_of_freedom: Any
    feature_names: Any
    input_names: Any
    output_names: Any
    index: Any
    row_numbers: Any
    categories: dict[int, list[Any]]
    interactions: Literal["index", "remainder"] | None
    about: dict[str, Any]
    text: str | None
    spans: list[tuple[int, int]] | None
    segments: npt.NDArray[np.intp] | None
    image: npt.NDArray[Any] | None
    def __init__(
        self,
        values: Any,
        base_values: Any,
        data: Any = None,
        *,
        feature_names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        predictions: Any = None,
        std_errors: Any = None,
        evaluations: Any = None,
        degrees_of_freedom: Any = None,
        draws: Any = None,
        certificates: Any = None,
        index: Any = None,
        row_numbers: Any = None,
        categories: dict[int, list[Any]] | None = None,
        interactions: Literal["index", "remainder"] | None = None,
        about: dict[str, Any] | None = None,
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    @property
    def value(self) -> str | None: ...
    @property
    def game(self) -> str | None: ...
    @property
    def method(self) -> str | None: ...
    @property
    def output(self) -> str | None: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def display_data(self) -> Any: ...
    @property
    def certificates(self) -> Any: ...
    @property
    def certificate(self) -> dict[str, Any] | None: ...
    def intervals(self, confidence: float = 0.95) -> tuple[Any, Any]: ...
    def additivity_gap(self) -> float: ...
    def importance(self) -> Any: ...
    @property
    def plot(self) -> Plots: ...
    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        interactions: Explanation | None = None,
        title: str | None = None,
        seed: int = 0,
    ) -> Page: ...
    def __getitem__(self, key: Any) -> Explanation: ...
    def to_shap(self) -> Any: ...
    def to_shapiq(self, row: int | None = None, output: int | str | None = None) -> Any: ...
    def to_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any: ...
    def to_arrow(self) -> Any: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Explanation: ...
    def _repr_html_(self) -> str: ...

def explain(model: _Model, X: _Rows, background: _Rows | None = None, **more: Any) -> Explanation: ...
@overload
def explain_text(
    model: _Model,
    text: str,
    *,
    split: str | Callable[[str], Sequence[tuple[int, int]]] | None = None,
    absent: str = "",
    value: str = "shapley",
    graph: _Graph = None,
    groups: _Groups = None,
    **more: Any,
) -> Explanation: ...
@overload
def explain_text(
    model: _Model,
    text: list[str] | tuple[str, ...],
    *,
    split: str | Callable[[str], Sequence[tuple[int, int]]] | None = None,
    absent: str = "",
    value: str = "shapley",
    graph: _Graph = None,
    groups: _Groups = None,
    **more: Any,
) -> list[Explanation]: ...
def explain_batches(
    batches: Any,
    model: _Model,
    background: _Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    layout: Literal["columns", "lists"] = "columns",
    interactions: bool | Literal["index"] = False,
    **more: Any,
) -> Iterator[Any]: ...
def summarize(
    batches: Any,
    model: _Model,
    background: _Rows | None = None,
    *,
    keep: str | Sequence[str] = (),
    interactions: bool | Literal["index"] = False,
    **more: Any,
) -> Summary: ...
def explain_image(
    model: _Model,
    image: npt.ArrayLike,
    *,
    segments: str | npt.ArrayLike = "8x8",
    reference: str | npt.ArrayLike = "mean",
    value: str = "shapley",
    graph: _Graph = None,
    groups: _Groups = None,
    batch: int = 32,
    **more: Any,
) -> Explanation: ...
def groups(
    X: _Rows,
    *,
    count: int | None = None,
    tree: bool = False,
    dependence: str | None = None,
    linkage: str | None = None,
    threads: int | None = None,
) -> list[Any]: ...
def load(path: str | os.PathLike[str]) -> Explanation: ...
def set_threads(threads: int) -> None: ...
