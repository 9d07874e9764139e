"""Kernel machines of scikit-learn, whose values are exact: support vector machines, kernel ridge regression,
and the means of Gaussian processes, also after a `StandardScaler`.

A model that is not recognised is called as a function, and so is a model whose predictions differ from those
of the kernel machine that was read from it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _core
from ._types import Model, Numbers

if TYPE_CHECKING:
    from ._functions import Function

# The kernel by name, the rate of each feature, the centres, and the coefficients (centres × outputs).
_Term: TypeAlias = tuple[str, Numbers, Numbers, Numbers]
# The factor of a kernel, and the rate of each feature.
_Factor: TypeAlias = tuple[float, Numbers]

# The maximum number of rows whose predictions are compared.
_ROWS = 20
# The tolerated rounding error, relative to the terms of the sum.
_TOLERANCE = 1e-9


class FittedKernels:
    """The arrays of a fitted kernel machine.

    method: the method of the model that returns its outputs.
    intercept: a number for each output.
    terms: the kernels with their centres and coefficients.
    """

    def __init__(self, method: str, intercept: Numbers, terms: list[_Term]) -> None:
        self.method, self.intercept, self.terms = method, intercept, terms
        self._built: tuple[_core.KernelMachine, _core.KernelMachine] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_built": None}

    @property
    def features(self) -> int:
        """The number of features of a row."""
        return self.terms[0][2].shape[1]

    @property
    def machine(self) -> _core.KernelMachine:
        """The machine in the engine."""
        return self._machines()[0]

    def _machines(self) -> tuple[_core.KernelMachine, _core.KernelMachine]:
        """Returns the machine, and the machine of the absolute coefficients, whose outputs are the scale of
        rounding errors.
        """
        if self._built is None:
            self._built = self._machine(False), self._machine(True)
        return self._built

    def _machine(self, is_absolute: bool) -> _core.KernelMachine:
        def array(numbers: Numbers, changes: bool = is_absolute) -> Numbers:
            return np.ascontiguousarray(np.abs(numbers) if changes else numbers)

        machine = _core.KernelMachine(self.features, array(self.intercept))
        for kernel, rates, centres, coefficients in self.terms:
            machine = machine.with_kernel(kernel, array(rates),
                                          array(centres, is_absolute and kernel == "linear"),
                                          array(coefficients).ravel())
        return machine

    def reproduces(self, function: Function, values: Numbers, workers: _core.Pool) -> bool:
        """Returns whether the machine predicts what a function predicts for some of these rows."""
        if function.way.about != self.method or values.shape[1] != self.features:
            return False
        places = np.unique(np.linspace(0, len(values) - 1, min(_ROWS, len(values))).astype(int))
        rows = np.ascontiguousarray(values[places])
        try:
            machine, absolute = self._machines()
            read, scale = machine.predict(rows, workers), absolute.predict(np.abs(rows), workers)
            if any(kernel != "linear" for kernel, *_ in self.terms):
                scale = np.maximum(absolute.predict(rows, workers), np.abs(read))
            own = function._answer(rows.copy()).ravel()
        except Exception:  # rows that the machine or the model rejects are reported when they are explained
            return False
        return own.shape == read.shape and bool((np.abs(own - read) <= _TOLERANCE * scale).all())


def fitted_kernels(model: Model) -> FittedKernels | None:
    """Returns the arrays of a fitted kernel machine; None for any other model."""
    try:
        return _read(model)
    except Exception:  # a version of scikit-learn may lack an attribute, but its models can still be called
        return None


def _read(model: Model) -> FittedKernels | None:
    shift, scale, found = None, None, None
    if _kind(model) == "Pipeline":
        *steps, model = [step for _, step in model.steps]
        for step in steps:
            if step is None or isinstance(step, str) and step == "passthrough":
                continue
            if _kind(step) != "StandardScaler":
                return None
            mean = step.mean_ if step.with_mean else np.zeros(step.n_features_in_)
            deviation = step.scale_ if step.with_std else np.ones(step.n_features_in_)
            shift = mean if shift is None else shift + scale * mean
            scale = deviation if scale is None else scale * deviation
    kind = _kind(model)
    if kind in ("SVR", "NuSVR", "SVC", "NuSVC", "OneClassSVM"):
        found = _of_support_vectors(model, kind)
    elif kind == "KernelRidge":
        found = _of_ridge(model)
    elif kind == "GaussianProcessRegressor":
        found = _of_process(model)
    if found is None or shift is None or scale is None:
        return found
    intercept, terms = found.intercept, []
    for kernel, rates, centres, coefficients in found.terms:
        if kernel == "linear":
            centres = centres / scale
            intercept = intercept - coefficients.T @ (centres @ shift)
        else:
            centres, rates = centres * scale + shift, rates / (scale**2 if kernel == "rbf" else scale)
        terms.append((kernel, rates, centres, coefficients))
    return FittedKernels(found.method, intercept, terms)


def _kind(model: Model) -> str | None:
    """Returns the name of a class of scikit-learn itself; None for classes derived from it, which may predict
    differently.
    """
    kind = type(model)
    return kind.__name__ if kind.__module__.partition(".")[0] == "sklearn" else None


def _numbers(array: Any) -> Numbers:
    """Returns an array of 64-bit floats. Raises an exception for sparse matrices and for other cells."""
    if hasattr(array, "toarray"):
        raise TypeError("expected an array that is not sparse")
    return np.array(array, dtype=np.float64)


def _of_support_vectors(model: Model, kind: str) -> FittedKernels | None:
    if model.kernel not in ("rbf", "linear") or kind in ("SVC", "NuSVC") and len(model.classes_) != 2:
        return None
    centres = _numbers(model.support_vectors_)
    rates = np.full(centres.shape[1], model._gamma if model.kernel == "rbf" else 0.0)
    term = model.kernel, rates, centres, _numbers(model.dual_coef_).reshape(-1, 1)
    method = "predict" if kind in ("SVR", "NuSVR") else "decision_function"
    return FittedKernels(method, _numbers(model.intercept_).reshape(1), [term])


def _of_ridge(model: Model) -> FittedKernels | None:
    kernels = {"rbf": "rbf", "laplacian": "laplace", "linear": "linear"}
    if not isinstance(model.kernel, str) or model.kernel not in kernels:
        return None
    centres = _numbers(model.X_fit_)
    coefficients = _numbers(model.dual_coef_).reshape(len(centres), -1)
    rate = 1 / centres.shape[1] if model.gamma is None else float(model.gamma)
    term = kernels[model.kernel], np.full(centres.shape[1], rate), centres, coefficients
    return FittedKernels("predict", np.zeros(coefficients.shape[1]), [term])


def _of_process(model: Model) -> FittedKernels | None:
    centres = _numbers(model.X_train_)
    factors = _factors(model.kernel_, centres.shape[1])
    if not factors:
        return None
    coefficients = (_numbers(model.alpha_).reshape(len(centres), -1)
                    * _numbers(model._y_train_std).reshape(1, -1))
    intercept = np.resize(_numbers(model._y_train_mean), coefficients.shape[1])
    terms = [("rbf", rates, centres, factor * coefficients) for factor, rates in factors]
    return FittedKernels("predict", intercept, terms)


def _factors(kernel: Any, features: int) -> list[_Factor] | None:
    """Returns a kernel of a Gaussian process as a sum of RBF kernels with factors, for rows that are not
    training rows; None for other kernels.
    """
    kind = _kind(kernel)
    if kind == "WhiteKernel":
        return []
    if kind == "ConstantKernel":
        return [(float(kernel.constant_value), np.zeros(features))]
    if kind == "RBF":
        return [(1.0, np.broadcast_to(0.5 / _numbers(kernel.length_scale) ** 2, features).copy())]
    if kind not in ("Sum", "Product"):
        return None
    first, second = _factors(kernel.k1, features), _factors(kernel.k2, features)
    if first is None or second is None:
        return None
    if kind == "Sum":
        return first + second
    return [(one * other, rates + more) for one, rates in first for other, more in second]
