"""Kernel machines of scikit-learn, whose values are exact: support vector machines, kernel ridge regression,
and the means of Gaussian processes, also after a `StandardScaler`.

A model that is not recognised is called as a function, and so is a model whose predictions differ from those
of the kernel machine that was read from it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._types import Model, Numbers

if TYPE_CHECKING:
    from ._functions import Function

# The maximum number of rows whose predictions are compared.
_ROWS = 20
# The tolerated rounding error, relative to the terms of the sum.
_TOLERANCE = 1e-9


class _Kernel(NamedTuple):
    """A kernel with its name in the engine and the rate of each feature. `shape` is the parameter alpha of a
    rational quadratic kernel, or nu of a Matérn kernel. The kernel is multiplied by `factor`.
    """

    name: str
    rates: Numbers
    shape: float | None = None
    factor: float = 1.0


class _Term(NamedTuple):
    """A kernel with its centres and coefficients (centres × outputs)."""

    kernel: _Kernel
    centres: Numbers
    coefficients: Numbers


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
        return self.terms[0].centres.shape[1]

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
        for kernel, centres, coefficients in self.terms:
            machine = machine.with_kernel(kernel.name, array(kernel.rates),
                                          array(centres, is_absolute and kernel.name == "linear"),
                                          array(kernel.factor * coefficients).ravel(), kernel.shape)
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
            if any(term.kernel.name != "linear" for term in self.terms):
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
    for kernel, centres, coefficients in found.terms:
        if kernel.name == "linear":
            centres = centres / scale
            intercept = intercept - coefficients.T @ (centres @ shift)
        else:
            rates = kernel.rates / (scale if kernel.name == "laplace" else scale**2)
            kernel, centres = kernel._replace(rates=rates), centres * scale + shift
        terms.append(_Term(kernel, centres, coefficients))
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
    term = _Term(_Kernel(model.kernel, rates), centres, _numbers(model.dual_coef_).reshape(-1, 1))
    method = "predict" if kind in ("SVR", "NuSVR") else "decision_function"
    return FittedKernels(method, _numbers(model.intercept_).reshape(1), [term])


def _of_ridge(model: Model) -> FittedKernels | None:
    kernels = {"rbf": "rbf", "laplacian": "laplace", "linear": "linear"}
    if not isinstance(model.kernel, str) or model.kernel not in kernels:
        return None
    centres = _numbers(model.X_fit_)
    coefficients = _numbers(model.dual_coef_).reshape(len(centres), -1)
    rate = 1 / centres.shape[1] if model.gamma is None else float(model.gamma)
    term = _Term(_Kernel(kernels[model.kernel], np.full(centres.shape[1], rate)), centres, coefficients)
    return FittedKernels("predict", np.zeros(coefficients.shape[1]), [term])


def _of_process(model: Model) -> FittedKernels | None:
    centres = _numbers(model.X_train_)
    kernels = _summands(model.kernel_, centres.shape[1])
    if not kernels:
        return None
    coefficients = (_numbers(model.alpha_).reshape(len(centres), -1)
                    * _numbers(model._y_train_std).reshape(1, -1))
    intercept = np.resize(_numbers(model._y_train_mean), coefficients.shape[1])
    terms = [_Term(kernel, centres, coefficients) for kernel in kernels]
    return FittedKernels("predict", intercept, terms)


def _summands(kernel: Any, features: int) -> list[_Kernel] | None:
    """Returns a kernel of a Gaussian process as a sum of kernels of the engine with factors, for rows that
    are not training rows; None if that is not possible.
    """
    kind = _kind(kernel)
    if kind == "WhiteKernel":
        return []
    if kind == "ConstantKernel":
        return [_Kernel("rbf", np.zeros(features), factor=float(kernel.constant_value))]
    if kind in ("RBF", "RationalQuadratic", "Matern"):
        rates = np.broadcast_to(0.5 / _numbers(kernel.length_scale) ** 2, features).copy()
        if kind == "RationalQuadratic":
            return [_Kernel("rational-quadratic", rates, float(kernel.alpha))]
        if kind == "RBF" or kernel.nu == np.inf:
            return [_Kernel("rbf", rates)]
        return [_Kernel("matern", rates, float(kernel.nu))] if kernel.nu in (0.5, 1.5, 2.5) else None
    if kind not in ("Sum", "Product"):
        return None
    first, second = _summands(kernel.k1, features), _summands(kernel.k2, features)
    if first is None or second is None:
        return None
    if kind == "Sum":
        return first + second
    products = [_product(one, other) for one in first for other in second]
    known = [product for product in products if product is not None]
    return known if len(known) == len(products) else None


def _product(one: _Kernel, other: _Kernel) -> _Kernel | None:
    """Returns the product of two kernels if it is a kernel of the engine: the product of two RBF kernels, or
    of any kernel and a constant. Returns None for other products.
    """
    if one.name == "rbf" and (other.name == "rbf" or not one.rates.any()):
        one, other = other, one
    if other.name != "rbf" or one.name != "rbf" and other.rates.any():
        return None
    return one._replace(rates=one.rates + other.rates, factor=one.factor * other.factor)
