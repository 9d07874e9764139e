"""Explainers, which compute explanations from a model and rows."""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _checks, _core, _tables
from ._additive import Structure, check as check_terms, declared, holds, owned as owned_terms, structure
from ._data import Table, Wanted, table, weights as checked_weights
from ._errors import AccuracyWarning, DataError, ModelWarning, UsageError, warn
from ._explanation import Explanation
from ._functions import Function
from ._groups import flat, graph as asked_graph, named, numbered, owned as owned_groups, owned_graph
from ._kernel_machines import FittedKernels, fitted_kernels
from ._models import Ensemble, ensemble, ensemble_of_method, ensemble_or_reason, predicts_behind_link
from ._options import GAMES, Asked, accuracy_in_words, checked, named_options, options
from ._outputs import at_times, compare_at_times
from ._schema import Grown, Schema
from ._sequences import players_of_sequences
from ._tables import Array, Tensor
from ._threads import checked as count_of_threads, engine, generation, pool
from ._types import (
    Additive, Form, GameName, Graph, Groups, Measure, Model, Numbers, Path, Progress, Rounds, Rows, Scale,
)

# The maximum number of rows of X that serve as the background if none is passed, as in the command.
SAMPLE = 100
# The names of margins and of outputs after the link function, for each link function.
_MARGINS = {"identity": "predict", "logistic": "log-odds", "softmax": "log-odds, up to a constant",
            "exponential": "margin: log of predict", "half-power": "mean path length"}
_BEHIND = {"identity": "predict", "logistic": "probability", "softmax": "probability",
           "exponential": "predict", "half-power": "anomaly score"}
# The games by the names that `feature_perturbation` has in shap.
_GAMES_OF_SHAP: dict[str, GameName | None] = {"auto": None, "interventional": "marginal",
                                              "tree_path_dependent": "path-dependent"}


# A function that is called with the number of finished rows and the evaluations of the next one.
_Watch: TypeAlias = Callable[[int, int], object]


class Explainer:
    """Explains predictions of any model: exactly for trees, linear models, additive models and kernel
    machines (support vector machines, kernel ridge regression and Gaussian processes of scikit-learn),
    otherwise with estimates.

    The model:

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, the bytes of a model file, or a
        function from an array of shape (n_rows, n_features) (or a data frame, if the background is one) to an
        array of shape (n_rows,) or (n_rows, n_outputs).
    background: the rows that replace absent features, and to which conditional games are fitted. Default
        None: trees that store cover use the path-dependent game, other models at most 100 rows of X.
    weights: a weight for each row of the background (default None: all weights are equal).
    model_output: the output that is explained: "raw" (the default) for the margin, "probability" for the
        output of trees after the link function, "log_loss" for the loss with the targets y, or the name of a
        method of the model, such as "predict_proba".
    feature_names, output_names: the names of features and outputs (default None: those of the model or of the
        data frame).
    rounds: the boosting rounds that are used, as in `Ensemble` (default None: those of `predict`).
    check: whether predictions for the rows as the engine reads them are compared with predictions for the
        rows as they were passed (default True). A difference is an error. For functions, the comparison
        requires two predictions for each row of X and of the background; for trees, it uses at most 20 rows
        of each.

    The game and its values:

    value: the solution concept (default "shapley"): also "banzhaf", "weighted-banzhaf=0.3", "beta=4,1",
        "owen", "two-step", "quotient-shapley", "c-shapley=2", "myerson", …
    groups: the groups of features (default None): lists of names or numbers, nested or not, a dictionary of
        such lists, a string such as "age,sex;bmi", or "auto".
    graph: the graph of features (default None): "line", "grid=4x5", or pairs of features.
    game: "marginal", "path-dependent", "gaussian", "copula", "empirical" or "frequency" (default None: the
        marginal game if there is a background, else the path-dependent game if trees store cover).
    draws: the number of rows for each coalition of a conditional game (default None: 500).
    bandwidth: the width of the kernel of the empirical game, a number or "aicc" (default None: 0.1).
    share: the fraction of the total weight that the empirical game keeps (default None: 0.95).
    variant: the variant of the empirical game: "paper" or "shapr" (default None: "paper").
    fallback: the value of a coalition in the frequency game if no row agrees with it: "refuse" raises an
        error, "marginal" uses the mean over all rows, "nearest" the rows that agree on most features (default
        None: "refuse").

    The computation:

    method: the name of a method of `apportion.methods()` (default "auto"), such as "exact", "tree",
        "leverage-shap", "kernel-shap" or "permutation". For functions of 11 to 128 features and a background
        of at least 30 rows, "auto" learns a surrogate of the model from the background, once, and corrects
        its Shapley or Banzhaf values for each row; the values of a row do not depend on the other rows.
        "table" learns a surrogate of the model from all rows of a call and corrects its values for each row,
        with squared errors that are often a tenth of those of other methods; the values of a row then depend
        on all rows. With `until` or `weights`, and for other values, it learns from the background instead.
    budget: the maximum number of evaluations of the game for each row: an integer, "10n" for ten times the
        number of features, "0.5n" for half of it, or "auto" (the default).
    until: a tolerance instead of a budget (default None): 0.01 ends a run when the error is at most 1% of the
        norm of the values.
    confidence: the confidence level of `until` (default 0.95).
    relative_to: the unit of `until`: "norm" (the default) or "range" of the values, or "nothing" for units of
        the output.
    error: the error that `until` limits: "euclidean" (the default) or "every-player".
    range: the largest output of the model minus the smallest one, if it is known (default None). Methods that
        average independent draws, such as "permutation", "optimized-monte-carlo" and "monte-carlo", then have
        error bounds that also hold for few draws.
    seed: the seed of all draws, from 0 (the default) to 2^64 - 1. The same seed gives the same numbers for
        any number of threads.
    kernel: the algorithm for exact values of trees: "tables", "quadrature", "walk", "cohorts" or "masks"
        (default None: the fastest).
    precision: the floating-point type of the tables for trees: "f64" or "f32" (default None: "f64").
    rows: the number of rows for which the algorithm for trees is chosen (default None: the number of rows of
        each call). With a fixed number the values of a row do not depend on the other rows, to the last bit.
    keep_null_players: whether features that cannot affect the prediction are evaluated like all others
        (default False: their value is 0 without any evaluation).
    additive: True if the output of a function is a sum of functions of single features, or a list of
        interactions, such as [("age", "sex")], if it also contains functions of several features. In the
        marginal game, exact values then take 2 evaluations, one for each feature, and one for each pair. A
        prediction that is not the sum of these terms is an error. With None (the default), naive Bayes and
        discriminant analysis of scikit-learn, explainable boosting machines of interpret and models of pygam
        are recognized. With False, they are called like any other function.
    threads: the number of threads, 0 for one per core (default None: as `set_threads` specifies).
    progress: True for a progress bar of tqdm (default False), or a function that is called with the number of
        finished rows and the evaluations of the next one.

    Raises UsageError for invalid options, ModelError for models that cannot be explained, and DataError for a
    background that does not match the model. Issues a ModelWarning for anything that users should know about
    the model.

    >>> import numpy as np, apportion
    >>> explainer = apportion.Explainer(lambda rows: rows.sum(axis=1), np.zeros((1, 30)),
    ...                                 method="leverage-shap", budget="10n", seed=7)
    >>> explanation = explainer(np.ones((2, 30)))
    >>> explanation.shape, bool(np.allclose(explanation.values, 1))
    ((2, 30), True)
    """

    ensemble: Ensemble | None
    function: Function | None
    threads: int | None
    progress: Progress
    model_output: str
    _background: Table | None
    _schema: Schema | None
    _wanted: Wanted
    _weights: Numbers | None
    _asked: Asked
    # The cache for the next call, by name.
    _kept: dict[Any, Any]
    # The arrays of a model that is a kernel machine, and whether they are explained instead of the function.
    _kernels: FittedKernels | None
    _uses_kernels: bool
    # The bytes of a learned surrogate.
    _surrogate: bytes | None
    # The option `additive`, and the terms of a model that is recognized as additive.
    _additive: bool | list[list[Any]] | None
    _structure: Structure | None

    @named_options
    def __init__(
        self,
        model: Model,
        background: Rows | None = None,
        *,
        weights: npt.ArrayLike | None = None,
        value: str = "shapley",
        method: str = "auto",
        budget: int | str = "auto",
        until: float | None = None,
        confidence: float = 0.95,
        relative_to: Scale = "norm",
        error: Measure = "euclidean",
        range: float | None = None,
        groups: Groups = None,
        graph: Graph = None,
        game: GameName | None = None,
        model_output: str = "raw",
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        rounds: Rounds = None,
        threads: int | None = None,
        progress: Progress = False,
        check: bool = True,
        kernel: str | None = None,
        precision: Literal["f64", "f32"] | None = None,
        rows: int | None = None,
        draws: int | None = None,
        bandwidth: float | str | None = None,
        share: float | None = None,
        variant: Literal["paper", "shapr"] | None = None,
        fallback: Literal["refuse", "marginal", "nearest"] | None = None,
        keep_null_players: bool = False,
        additive: Additive = None,
    ) -> None:
        self.threads = None if threads is None else count_of_threads(threads)
        self.progress = _checked_progress(progress)
        self.model_output = _checks.text("model_output", model_output)
        self._check = _checks.flag("check", check)
        self._names = None if feature_names is None else _checks.names("feature_names", feature_names)
        self._output_names = None if output_names is None else _checks.names("output_names", output_names)
        self._reasons: list[str] = []
        self._groups, self._graph = owned_groups(groups), owned_graph(graph)
        self._additive, self._structure = owned_terms(additive), None
        self._game = None if game is None else _checks.choice("game", game, GAMES)
        # Store the checked options: the objects that were passed may change later.
        self._asked = checked(
            value=value, method=method, budget=budget, until=until, confidence=confidence,
            relative_to=relative_to, error=error, range=range, seed=seed, kernel=kernel, precision=precision,
            rows=rows, draws=draws, bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
            keep_null_players=keep_null_players)
        method_of_model = model_output if model_output not in ("raw", "probability", "log_loss") else None
        reason: str | None = None
        self.ensemble, self.function, self._schema = None, None, None
        if method_of_model is None:
            self.ensemble, reason = ensemble_or_reason(model, rounds)
        # Survival models return functions of time. The values of these functions at the training times are
        # the outputs.
        self._at_times = at_times(model, method_of_model) if method_of_model is not None else None
        if self._at_times is not None and method_of_model is not None and rounds is None:
            self.ensemble, reason = ensemble_of_method(model, method_of_model)
        if (self.ensemble is not None and model_output == "raw" and not isinstance(model, Ensemble)
                and predicts_behind_link(model)):
            self.model_output = model_output = "probability"
        self._kept = {}
        self._background = None
        self._kernels, self._uses_kernels, self._surrogate = None, False, None
        if self.ensemble is None:
            if model_output in ("log_loss", "probability"):
                raise UsageError(f'model_output="{model_output}" requires a tree ensemble or a linear model; '
                                 'explain a function that returns it')
            if kernel is not None or precision is not None or self._asked["rows"] is not None:
                raise UsageError("kernel, precision and rows require a model that can be read as trees; "
                                 "remove them")
            if rounds is not None:
                raise UsageError("rounds requires a model that can be read as trees"
                                 + ("" if reason is None else f" ({reason})") + "; remove rounds")
            self.function = Function(model, method_of_model)
            self._kernels = fitted_kernels(model)
            if self._additive is None:
                self._structure = structure(model)
            if reason is not None:
                self._reasons.append(f"the model is explained as a function, not exactly: {reason}")
            self._wanted = Wanted(self._names)
            if background is not None:
                self._own_background(background)
        else:
            if self._additive is not None:
                raise UsageError("additive requires a model that is called as a function; models that are "
                                 "read as trees have exact values without it")
            # Classifiers without a link are sums of scores, or means of probabilities.
            self._has_scores = callable(getattr(self.ensemble.source, "decision_function", None))
            self._wanted = self.ensemble.wanted()
            if self._names is not None:
                _checks.names("feature_names", self._names, self._wanted.count)
            self._check_output_names()
            if background is not None:
                self._background = table(background, self._wanted, "the background").owned()
        count = 0 if self._background is None else len(self._background.values)
        if weights is not None and background is None:
            raise UsageError("weights requires a background; pass a background, or remove weights")
        self._weights = None if weights is None else checked_weights(weights, count).copy()
        if game == "path-dependent" and self.ensemble is None:
            raise UsageError('game="path-dependent" requires a tree ensemble; use game="marginal"')
        if self._background is not None:
            if self.ensemble is not None:
                self._compare(background, self._background, "the background", model)
            self._prepare(self._background)
            self._background.given = self._background.index = None

    def __call__(
        self,
        X: Rows,
        y: npt.ArrayLike | None = None,
        *,
        interactions: bool | Form = False,
        threads: int | None = None,
        progress: Progress | None = None,
        checkpoint: Path | None = None,
    ) -> Explanation:
        """Explains rows: returns an `Explanation` with values of shape (n_rows, n_features), and n_outputs at
        the end if the model has several outputs.

        X: the rows, a data frame or an array of shape (n_rows, n_features).
        y: the targets of the rows, for model_output="log_loss" (default None).
        interactions: whether interactions of all pairs are computed, of shape (n_rows, n_features,
            n_features) (default False). True or "index" for the interaction index of the solution concept:
            exact for trees, linear models, kernel machines and additive models, and for functions if the
            budget covers all coalitions; otherwise estimates with std_errors (Shapley and Banzhaf).
            "remainder" for the convention of shap, in which the rows of a matrix add up to the values: for
            trees, linear models and kernel machines.
        threads: the number of threads of this call (default None: that of the explainer).
        progress: the progress bar of this call (default None: that of the explainer).
        checkpoint: the path of a file that stores the finished rows and the evaluations of the current one,
            every few seconds and when the run stops (default None). The same call resumes from it, also in
            another process; the file remains when all rows are done. A file from a different model, rows,
            background, options or version is rejected, and so is one that another run uses. A function is
            compared by its predictions for all rows of X and of the background, and for some rows mixed from
            both, so each call with a checkpoint evaluates these once more.

        The algorithm for exact values of trees is chosen by the number of rows, so the last bits of a row's
        values may differ if the row is explained alone or in a large table. The option rows= fixes the
        choice.

        Raises DataError for rows that do not match the model, UsageError for invalid options, and ModelError
        if the model fails or its predictions differ from those of its trees. Issues an AccuracyWarning if the
        values are less accurate than `until`. If the run is interrupted, the attribute `explanation` of the
        exception contains the finished rows.
        """
        form: Form | None = None
        if interactions is not False and interactions is not None:
            forms: tuple[Form, ...] = ("index", "remainder")
            form = ("index" if interactions is True
                    else _checks.choice("form of interactions", interactions, forms))
        path = None if checkpoint is None else _checks.path("checkpoint", checkpoint)
        progress = self.progress if progress is None else _checked_progress(progress)
        rows = self._table(X)
        if path is not None:
            other = ("interactions" if form is not None
                     else 'model_output="log_loss"' if self.model_output == "log_loss" else None)
            if other is not None:
                raise UsageError(f"checkpoint cannot be combined with {other}; remove checkpoint")
            if not len(rows.values):
                raise UsageError("checkpoint requires at least one row; pass rows, or remove checkpoint")
            _core.Checkpoint.check(path)
        if self.model_output == "log_loss":
            self._compare(X, rows, "X")
            return self._losses(rows, y, threads)
        core = self._prepare(rows)
        self._compare(X, rows, "X")
        if self._uses_kernels and not self._reproduces(rows.values, rows.schema or self._schema):
            core = self._without_kernels(rows)
        workers = pool(self.threads if threads is None else threads)
        if form is not None:
            if self.ensemble is None and not self._uses_kernels and form == "remainder":
                raise UsageError('interactions="remainder" requires a tree ensemble, a linear model or a '
                                 'kernel machine; use interactions="index"')
            told = engine(core.interactions, rows.values, workers, form == "remainder")
            return self._explanation(told, rows, interactions=form)
        watcher, close = _watcher(progress, len(rows.values))
        try:
            if path is None:
                told, stopped = engine(core.explain, rows.values, workers, watcher)
            else:
                if self.ensemble is not None:
                    # Choose the algorithm by the number of all rows, even if some of them are finished.
                    background = rows.background if rows.background is not None else self._background
                    core, rows.members = self._engine_for(rows, background, len(rows.values))
                told, stopped = engine(core.explain, rows.values, workers, watcher,
                                       self._checkpoint(path, rows))
        finally:
            close()
        if stopped is not None:
            if len(told["rows"]):
                interrupted: Any = stopped
                interrupted.explanation = self._explanation(told, rows)
                stopped.add_note(f"finished rows: {len(told['rows'])} of {len(rows.values)}; the attribute "
                                 "explanation of this exception contains the values of these rows")
            raise stopped
        explanation = self._explanation(told, rows)
        for warning in told.get("warnings", ()):
            warn(warning, AccuracyWarning)
        return explanation

    def learn(self, X: Rows, *, threads: int | None = None) -> Explainer:
        """Learns a surrogate of the model from rows, and returns an explainer that uses it; requires
        method="table" and a background.

        X: the rows, a few hundred of those that are explained later. threads: the number of threads (default
        None: that of the explainer).

        The values of a row then depend on the row, the seed and the surrogate, not on the other rows of a
        call. Therefore, the explainer can also be passed to functions that explain batches and to data
        engines. The cost is that of explaining X.

        Raises UsageError for another method or a model that is read as trees, and the errors of the call.

        >>> import numpy as np, apportion
        >>> rows = np.random.default_rng(0).normal(size=(60, 8))
        >>> explainer = apportion.Explainer(lambda rows: np.tanh(rows.sum(axis=1)), rows[:10], method="table")
        >>> learned = explainer.learn(rows[10:])
        >>> bool((learned(rows[:1]).values[0] == learned(rows[:5]).values[0]).all())
        True
        """
        if self.function is None:
            raise UsageError("learn requires a model that is called as a function; models that are read as "
                             "trees have exact values without it")
        if self._asked["method"] != "table":
            raise UsageError('learn requires method="table"; pass it to Explainer')
        if self._background is None:
            raise UsageError("learn requires a background; pass it to Explainer")
        rows = self._table(X)
        core = self._without_surrogate(rows)
        self._compare(X, rows, "X")
        workers = pool(self.threads if threads is None else threads)
        learned = copy.copy(self)
        learned._surrogate = engine(core.learn, rows.values, workers).to_bytes()
        learned._kept = {}
        return learned

    def shap_values(self, X: Rows, y: npt.ArrayLike | None = None) -> Numbers:
        """Returns the values of rows as an array. X, y and the errors are as in the call."""
        values: Numbers = self(X, y).values
        return values

    def shap_interaction_values(self, X: Rows) -> Numbers:
        """Returns the interactions of all pairs as an array, in the convention of shap
        (`interactions="remainder"`).
        """
        values: Numbers = self(X, interactions="remainder").values
        return values

    @property
    def expected_value(self) -> float | Numbers:
        """The base value: a number, or an array with one for each output.

        Raises UsageError if there is no background and the game depends on the rows.
        """
        if "base" not in self._kept:
            if self._background is not None:
                rows = self._background.values[:1]
            elif self.ensemble is not None and self._game_for(None) == "path-dependent":
                rows = np.zeros((1, self._wanted.count or 0))
            else:
                raise UsageError("expected_value requires a background for this game; "
                                 "pass one, or use the base_values of an explanation")
            core, _ = self._kept_engine()
            told, stopped = engine(core.explain, rows, pool(self.threads), None)
            if stopped is not None:
                raise stopped
            base = told["base"][: self.output_count]
            self._kept["base"] = float(base[0]) if len(base) == 1 else base.copy()
        kept: float | Numbers = self._kept["base"]
        return kept

    @property
    def _trees(self) -> Ensemble:
        """The model, if it is read as trees."""
        assert self.ensemble is not None
        return self.ensemble

    @property
    def _called(self) -> Function:
        """The model, if it is called as a function."""
        assert self.function is not None
        return self.function

    @property
    def output_count(self) -> int:
        """The number of outputs of the model."""
        if self.ensemble is not None:
            return self.ensemble.output_count
        count = self._called.outputs
        assert count is not None
        return count

    @property
    def output_names(self) -> list[str] | None:
        """The names of the outputs; None if there is one output, or if they have no names."""
        if self.output_count == 1:
            return None
        if self._output_names is not None:
            return list(self._output_names)
        names = self.ensemble.output_names if self.ensemble is not None else self._called.output_names
        return None if names is None else list(names)

    def _check_output_names(self) -> None:
        count = self.output_count
        if self._output_names is not None and count > 1:
            _checks.names("output_names", self._output_names, count, "output")

    @property
    def notes(self) -> list[str]:
        """Notes for users about the model and the choice of the output, as sentences."""
        if self.ensemble is not None:
            return [*self.ensemble.notes, *self._reasons]
        return [*self._called.notes, *([] if self._uses_kernels else self._reasons)]

    def _output(self) -> str:
        """Returns a description of the predictions."""
        if self.ensemble is None:
            return self._called.about
        link = self.ensemble.link
        if self._at_times is not None:
            return self._at_times.about
        if self.model_output == "probability":
            return _BEHIND.get(link, f"predict ({link})")
        if link == "identity" and self.ensemble.classes is not None:
            return "decision_function" if self._has_scores else "probability"
        return _MARGINS.get(link, "margin")

    def plan(self, X: Rows) -> dict[str, Any]:
        """Returns the plan for explaining rows: a dictionary with "method"; "least" and "most", the minimum
        and maximum number of evaluations for each row; and "seconds", the time for all rows. A number is None
        if it is unknown.

        X: the rows, as in the call.
        """
        rows = self._table(X)
        return dict(zip(("method", "least", "most", "seconds"),
                        self._prepare(rows).plan(rows.values, pool(self.threads))))

    def __getstate__(self) -> dict[str, Any]:
        # The process that unpickles the explainer prepares the engine again. The background in the form in
        # which it was passed is only needed for the check of predictions, which has already been made.
        state = {name: value for name, value in self.__dict__.items() if name not in ("_kept", "_wanted")}
        if self._background is not None and self._background.given is not None:
            state["_background"] = copy.copy(self._background)
            state["_background"].given = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _kept={})
        if self.ensemble is None:
            self._wanted = Wanted(self._names, None if self._schema is None else self._schema.width)
        else:
            self._wanted = self.ensemble.wanted()

    def _checkpoint(self, path: str, rows: Table) -> _core.Checkpoint:
        """Opens the checkpoint of these rows. If it already exists, it must be from the same run."""
        from ._checkpoint import key

        background = rows.background if rows.background is not None else self._background
        return _core.Checkpoint(path, key(self, rows, background, self._game_for(rows)))

    def _compare(self, given: Rows, rows: Table, what: str, model: Model = None) -> None:
        """Raises ModelError if the model predicts differently for the original rows and for the rows as
        passed on to it, or if the trees as read predict differently.
        """
        if not self._check or not len(rows.values):
            return
        if self.function is not None:
            assert rows.schema is not None and rows.given is not None
            self.function.taking(rows.schema).check(rows.given, rows.values, what)
        elif self._at_times is not None:
            compare_at_times(self._at_times, self._trees, given, rows.values, what, self.threads)
        else:
            from ._agreement import check

            check(None if isinstance(model, Ensemble) else model, self._trees, given, rows.values, what,
                  linked=self.model_output == "probability", threads=self.threads)

    def _table(self, X: Rows, what: str = "X") -> Table:
        """Returns rows as a table that belongs to the call and does not change with X."""
        if self.function is None:
            return table(X, self._wanted, what).owned()
        given, background, players = _tables.of(X, what), None, None
        if self._schema is None:
            schema, (rows,) = Schema.of([given], self._names, what)
            shape = schema.template.shape or ()
            if len(shape) > 1:
                players = players_of_sequences(shape, self._names, self._groups, self._asked["value"])
                schema.names = rows.names = players[0]
        else:
            schema = self._schema
            if isinstance(given, (Array, Tensor)) and (given.length, *given.shape) == schema.template.shape:
                given = given.as_row()
            try:
                rows = schema.encoded(given, what)
            except Grown:
                assert self._background is not None
                before = _tables.of(schema.table(self._background.values), "the background")
                _, (background, rows) = Schema.of([before, given], self._names, what)
        rows.given, rows.background, rows.players = given, background, players
        return rows.owned()

    def _own_background(self, background: Rows) -> None:
        """Sets the background, whose columns determine the features."""
        self._background = self._table(background, "the background")
        self._schema = self._background.schema
        if self._background.players is not None:
            self._names, self._groups, self._asked["value"] = self._background.players
            self._background.players = None
        elif self._names is None and self._background.names is not None:
            self._names = list(self._background.names)
        self._wanted = Wanted(self._names, None if self._schema is None else self._schema.width)

    def _asked_of(self, rows: Table | None) -> tuple[Any, Asked]:
        """Returns the groups and the options for these rows, which for sequences depend on their shape."""
        if rows is not None and rows.players is not None:
            _, groups, value = rows.players
            return groups, {**self._asked, "value": value}
        return self._groups, self._asked

    def _names_of(self, rows: Table) -> list[str]:
        names = rows.names if rows.players is not None else self._names or self._wanted.names or rows.names
        return (list(names) if names is not None
                else [f"f{feature}" for feature in range(rows.values.shape[1])])

    def _game_for(self, rows: Table | None) -> GameName:
        """Returns the game that was passed, else the marginal game with the background, else the
        path-dependent game, else the marginal game with rows of X.
        """
        if self._game is not None:
            return self._game
        if (self._background is not None or self.model_output != "raw" or self.ensemble is None
                or not self.ensemble.has_covers):
            return "marginal"
        return "path-dependent"

    def _prepare(self, rows: Table) -> _core.Explainer:
        """Returns the explainer for these rows, and stores their groups in them. Without a background, it
        depends on the rows, unless the game requires no background.
        """
        core = self._without_surrogate(rows)
        if self._surrogate is None:
            return core
        if "surrogate" not in self._kept:
            self._kept["surrogate"] = engine(_core.Surrogate, self._surrogate)
        return core.with_surrogate(self._kept["surrogate"])

    def _without_surrogate(self, rows: Table) -> _core.Explainer:
        if rows.background is not None:
            core, rows.members = self._engine_for(rows, rows.background)
            return core
        if self._background is None and (self._game_for(None) != "path-dependent"
                                         or isinstance(self._groups, str)):
            core, rows.members = self._engine_for(rows, None)
            return core
        core, rows.members = self._kept_engine(rows)
        if rows.schema is not None and rows.schema is not self._schema:
            # Only this call knows the cells that the background does not contain.
            if self._uses_kernels:
                return self._without_kernels(rows)
            return core.with_function(self._called.taking(rows.schema))
        return core

    def _kept_engine(self, rows: Table | None = None) -> tuple[_core.Explainer, list[Any] | None]:
        """Returns the explainer with the background, or with the cover of the trees, and its groups. It is
        created once in each process.
        """
        rows = rows if self._background is None else self._background
        # With the cover of the trees, each table has its own names, which groups and graphs may refer to.
        names = None if rows is None or self._groups is None and self._graph is None else self._names_of(rows)
        made_of = generation(), names
        found = self._kept.get("core")
        if found is None or found[0] != made_of:
            found = self._kept["core"] = (made_of, *self._engine_for(rows, self._background))
        core, members = found[1:]
        return core, members

    def _engine_for(self, rows: Table | None, background: Table | None,
                    count: int | None = None) -> tuple[_core.Explainer, list[Any] | None]:
        """Returns an explainer with a background, else with the cover of the trees or with some of these
        rows; and the groups, if there are any. `count` is the number of rows for which the tree algorithm is
        chosen; by default, the number of rows of each call.
        """
        game, weights = self._game_for(None), self._weights
        absent = None if background is None else background.values
        if absent is None and game != "path-dependent":
            absent = self._sampled(rows, game)
        known = rows if rows is not None else background
        names = self._names_of(known) if known is not None else self._names or self._wanted.names
        if names is None:
            names = [f"f{feature}" for feature in range(self._wanted.count or 0)]
        groups, asked = self._asked_of(rows)
        members = None
        if groups is not None:
            known = background if background is not None else rows
            data = None if known is None else known.values
            members = numbered(groups, names, None if data is None else lambda: data, self.threads)
        if count is not None and asked["rows"] is None:
            asked = {**asked, "rows": count}
        of_engine = options(asked, game=game, groups=members, graph=asked_graph(self._graph, names),
                            linked=self.model_output == "probability")
        if self.ensemble is not None:
            return _core.Explainer.of_trees(self.ensemble._core, of_engine, absent, weights), members
        schema = known.schema if known is not None and known.schema is not None else self._schema
        assert schema is not None and absent is not None
        words = schema.categorical()
        if words and game not in ("marginal", "frequency"):
            raise UsageError(f'game="{game}" requires numbers in every column, found '
                             f'{schema.described(words)}; use game="marginal" or game="frequency"')
        function = self._called.taking(schema)
        if function.outputs is None:
            function.settle(absent[: min(len(absent), 8)])
            self.function = function
            self._check_output_names()
            for note in function.warnings:
                warn(note, ModelWarning)
        if self._check and background is not None and background.given is not None:
            function.check(background.given, background.values, "the background")
        kernels = self._kernel_engine(schema, of_engine, absent)
        self._uses_kernels = kernels is not None
        if kernels is not None:
            return kernels, members
        return _core.Explainer.of_function(function, absent.shape[1], self.output_count, of_engine, absent,
                                           weights, words, self._terms(function, names, absent)), members

    def _kernel_engine(self, schema: Schema, of_engine: dict[str, Any],
                       absent: Numbers) -> _core.Explainer | None:
        """Returns the explainer that computes exact values of the kernel machine; None if the model must be
        called as a function, because it is not a kernel machine or the exact method does not support the
        request (game, method, categories, explained output).
        """
        if (self._kernels is None or self._game_for(None) != "marginal" or schema.categorical()
                or self._asked["method"] not in ("auto", "kernel-machine")
                or not self._reproduces(absent, schema)):
            return None
        return _core.Explainer.of_kernel_machine(self._kernels.machine, of_engine, absent, self._weights)

    def _terms(self, function: Function, names: Sequence[str], absent: Numbers) -> list[list[int]] | None:
        """Returns the interactions of an additive model, as numbers of features; None for other models."""
        found, workers = self._structure, pool(self.threads)
        is_used = self._game_for(None) == "marginal" and self._asked["method"] in ("auto", "additive")
        if found is None:
            interactions = declared(self._additive, names)
            if interactions is not None and is_used and self._check:
                check_terms(function, interactions, absent, workers)
            return interactions
        if not is_used or function.way.about not in found.methods:
            return None
        interactions = found.numbered(names)
        if interactions is None or not holds(function, interactions, absent, workers):
            return None
        return interactions

    def _reproduces(self, values: Numbers, schema: Schema | None) -> bool:
        """Returns whether the kernel machine reproduces the explained predictions of the model for rows."""
        assert self._kernels is not None and schema is not None
        return self._kernels.reproduces(self._called.taking(schema), values, pool(self.threads))

    def _without_kernels(self, rows: Table) -> _core.Explainer:
        """Returns the explainer of these rows that calls the model, for this and all later calls."""
        self._kernels, self._uses_kernels = None, False
        self._kept.clear()
        return self._prepare(rows)

    def _sampled(self, rows: Table | None, game: GameName) -> Numbers:
        assert rows is not None
        if game != "marginal":
            return rows.values
        if len(rows.values) == 1:
            raise DataError("X has a single row, which cannot be its own background (all values would be 0); "
                            "pass a background")
        chosen = _core.sampled_rows(len(rows.values), SAMPLE, self._asked["seed"])
        return np.ascontiguousarray(rows.values[chosen])

    def _explanation(self, told: dict[str, Any], rows: Table,
                     interactions: Form | None = None) -> Explanation:
        values, predictions = told["values"], told["predictions"]
        done = told.get("rows")
        count = len(rows.values) if done is None else len(done)
        outputs = self.output_count
        names, (groups, asked) = self._names_of(rows), self._asked_of(rows)
        players = players_of(names, groups, asked["value"], rows.members)
        is_of_groups = asked["value"].startswith("quotient")
        shape = ((count, len(players)) + ((len(players),) if interactions else ())
                 + ((outputs,) if outputs > 1 else ()))
        base = told["base"]
        per_row = (count, outputs) if outputs > 1 else (count,)
        base = np.resize(base, per_row) if len(base) == outputs else base.reshape(per_row)
        shown, categories = ((rows.values, rows.categories) if rows.schema is None
                             else rows.schema.shown(rows.values))
        data = shown if done is None or count == len(rows.values) else shown[done]
        index = (rows.index if rows.index is None or done is None or count == len(rows.values)
                 else rows.index[done])
        more: dict[str, Any] = {}
        if self.model_output == "probability":
            more["output"] = self.ensemble.link if self.ensemble is not None else "probability"
        if self._background is not None:
            more["background_rows"] = len(self._background.values)
        about = dict(value=asked["value"], output=self._output(), notes=self.notes, game=self._game_for(None),
                     method=told.get("method", ""), same_as=told.get("same_as"), budget=told.get("budget"),
                     accuracy=accuracy_in_words(asked), seed=asked["seed"], more=more,
                     groups=None if rows.members is None else named(rows.members, names))
        errors = told.get("std_errors")
        return Explanation._of(values.reshape(shape), base, data, feature_names=players,
                               input_names=names if is_of_groups else None, output_names=self.output_names,
                               predictions=predictions.reshape(per_row),
                               std_errors=None if errors is None else errors.reshape(shape),
                               evaluations=told.get("evaluations"),
                               degrees_of_freedom=told.get("degrees_of_freedom"), draws=told.get("draws"),
                               certificates=told.get("certificates"), index=index, row_numbers=done,
                               categories=categories, interactions=interactions, about=about)

    def _losses(self, rows: Table, y: npt.ArrayLike | None, threads: int | None) -> Explanation:
        """Explains the loss of each row."""
        from ._losses import losses

        return losses(self, rows, y, threads)

    def __repr__(self) -> str:
        what = repr(self.ensemble) if self.ensemble is not None else f"function {self._called.name}"
        return (f"{type(self).__name__}({what}, value={self._asked['value']!r}, "
                f"method={self._asked['method']!r})")


class TreeExplainer(Explainer):
    """Explains tree ensembles and linear models exactly, with the arguments of `shap.TreeExplainer`.

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, the bytes of a model file, or an
        `Ensemble`.
    data: the background (default None: the path-dependent game with the cover of the training).
    model_output: "raw" (the default), "probability", or "log_loss" with y in the call.
    feature_perturbation: "auto" (the default), "interventional" for the marginal game with data, or
        "tree_path_dependent".
    game: the game by its name in `Explainer`, instead of feature_perturbation (default None).

    All other options are those of `Explainer`. Raises ModelError for a model that is not read as trees, and
    the errors of `Explainer`.

    >>> import apportion
    >>> tree = b'''{"format": "apportion-trees", "version": 1, "width": "double", "features": 1,
    ...     "base_margins": [0.5], "operator": "<=", "trees": [{"left": [1, -1, -1], "right": [2, -1, -1],
    ...     "feature": [0, 0, 0], "threshold": [1.5, 0, 0], "value": [0, 10, 20]}]}'''
    >>> explainer = apportion.TreeExplainer(tree, [[0.0], [2.0]])
    >>> explainer.expected_value, explainer.shap_values([[2.0]])
    (15.5, array([[5.]]))
    """

    ensemble: Ensemble

    @named_options
    def __init__(
        self,
        model: Model,
        data: Rows | None = None,
        *,
        feature_perturbation: Literal["auto", "interventional", "tree_path_dependent"] = "auto",
        weights: npt.ArrayLike | None = None,
        value: str = "shapley",
        method: str = "auto",
        budget: int | str = "auto",
        until: float | None = None,
        confidence: float = 0.95,
        relative_to: Scale = "norm",
        error: Measure = "euclidean",
        range: float | None = None,
        groups: Groups = None,
        graph: Graph = None,
        game: GameName | None = None,
        model_output: str = "raw",
        seed: int = 0,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        rounds: Rounds = None,
        threads: int | None = None,
        progress: Progress = False,
        check: bool = True,
        kernel: str | None = None,
        precision: Literal["f64", "f32"] | None = None,
        rows: int | None = None,
        draws: int | None = None,
        bandwidth: float | str | None = None,
        share: float | None = None,
        variant: Literal["paper", "shapr"] | None = None,
        fallback: Literal["refuse", "marginal", "nearest"] | None = None,
        keep_null_players: bool = False,
    ) -> None:
        if _checks.text("model_output", model_output) not in ("raw", "probability", "log_loss"):
            raise UsageError(f'invalid model_output {model_output!r}; expected "raw", "probability" or '
                             '"log_loss" (apportion.Explainer explains any method)')
        of_shap = _checks.choice("feature_perturbation", feature_perturbation, tuple(_GAMES_OF_SHAP))
        game = _GAMES_OF_SHAP[of_shap] if game is None else _checks.choice("game", game, GAMES)
        if game == "path-dependent" and model_output != "raw":
            raise UsageError(f'model_output="{model_output}" is not supported with the path-dependent game; '
                             'pass data for the marginal game')
        if game == "marginal" and data is None:
            raise UsageError('the marginal game (feature_perturbation="interventional" or game="marginal") '
                             "requires data; pass it, or use the path-dependent game")
        is_behind_link = (not isinstance(model, Ensemble) and game != "path-dependent"
                          and model_output == "raw" and predicts_behind_link(model))
        model = ensemble(model, rounds)
        if is_behind_link:
            model_output = "probability"
        if game is None and data is None and not model.has_covers and model_output == "raw":
            problem = model.lacks_covers.partition("; ")[0]
            raise UsageError(f"{problem}; pass data for the marginal game")
        super().__init__(
            model, data,
            weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
            relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
            model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
            threads=threads, progress=progress, check=check, kernel=kernel, precision=precision, rows=rows,
            draws=draws, bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
            keep_null_players=keep_null_players)


@named_options
def explain(
    model: Model,
    X: Rows,
    background: Rows | None = None,
    *,
    y: npt.ArrayLike | None = None,
    interactions: bool | Form = False,
    checkpoint: Path | None = None,
    weights: npt.ArrayLike | None = None,
    value: str = "shapley",
    method: str = "auto",
    budget: int | str = "auto",
    until: float | None = None,
    confidence: float = 0.95,
    relative_to: Scale = "norm",
    error: Measure = "euclidean",
    range: float | None = None,
    groups: Groups = None,
    graph: Graph = None,
    game: GameName | None = None,
    model_output: str = "raw",
    seed: int = 0,
    feature_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    rounds: Rounds = None,
    threads: int | None = None,
    progress: Progress = False,
    check: bool = True,
    kernel: str | None = None,
    precision: Literal["f64", "f32"] | None = None,
    rows: int | None = None,
    draws: int | None = None,
    bandwidth: float | str | None = None,
    share: float | None = None,
    variant: Literal["paper", "shapr"] | None = None,
    fallback: Literal["refuse", "marginal", "nearest"] | None = None,
    keep_null_players: bool = False,
    additive: Additive = None,
) -> Explanation:
    """Explains rows of a model in one call: `Explainer(model, background, …)(X)`.

    model, background, and all options that are not described here: as in `Explainer`.
    X: the rows, a data frame or an array of shape (n_rows, n_features).
    y, interactions, checkpoint: as in the call of an `Explainer`.

    Returns an `Explanation`. Raises the errors of `Explainer` and of its call.

    >>> import numpy as np, apportion
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> apportion.explain(lambda rows: rows.sum(axis=1), rows).values
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    explainer = Explainer(
        model, background,
        weights=weights, value=value, method=method, budget=budget, until=until, confidence=confidence,
        relative_to=relative_to, error=error, range=range, groups=groups, graph=graph, game=game,
        model_output=model_output, seed=seed, feature_names=feature_names, output_names=output_names,
        rounds=rounds, threads=threads, progress=progress, check=check, kernel=kernel, precision=precision,
        rows=rows, draws=draws, bandwidth=bandwidth, share=share, variant=variant, fallback=fallback,
        keep_null_players=keep_null_players, additive=additive)
    return explainer(X, y, interactions=interactions, checkpoint=checkpoint)


def players_of(names: list[str], groups: Any, value: str, members: list[Any] | None) -> list[str]:
    """Returns the names of the players: the features, or the groups if each is a player."""
    if not value.startswith("quotient") or members is None:
        return names
    if isinstance(groups, dict):
        return [str(name) for name in groups]
    return [",".join(names[feature] for feature in flat(group)) for group in members]


def _checked_progress(given: Any) -> Progress:
    if callable(given):
        return given
    return _checks.flag("progress", given)


def _watcher(progress: Progress, rows: int) -> tuple[_Watch | None, Callable[[], object]]:
    """Returns the function that is called with the number of finished rows and the evaluations of the next
    one, and the function that is called at the end.
    """
    if progress is False or progress is None:
        return None, lambda: None
    if callable(progress):
        return progress, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(total=rows, unit="row")

    def watch(done: int, evaluations: int) -> None:
        bar.set_postfix_str(f"{evaluations} evaluations" if evaluations else "", refresh=False)
        bar.update(done - bar.n)

    return watch, bar.close
