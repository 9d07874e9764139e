"""From a model and rows to explanations."""
# mypy: ignore-errors
# Types are in the stubs, and most of what is imported here has none.
import copy
import warnings

import numpy as np

from . import _checks, _core, _tables
from ._data import Wanted, table, weights as checked_weights
from ._errors import AccuracyWarning, DataError, ModelWarning, UsageError
from ._explanation import Explanation
from ._functions import Function
from ._groups import flat, graph as asked_graph, named, numbered, owned as owned_groups, owned_graph
from ._models import Ensemble, ensemble, ensemble_of_method, ensemble_or_reason, predicts_behind_link
from ._outputs import at_times, compare_at_times
from ._options import GAMES, NAMED, OPTIONS, accuracy_in_words, known_options, options
from ._schema import Grown, Schema
from ._sequences import players_of_sequences
from ._threads import checked as count_of_threads, engine, generation, pool

# Rows of X that are a background where none is given, as in the command.
SAMPLE = 100
# What margins and outputs are called, by the link between them.
_MARGINS = {"identity": "predict", "logistic": "log-odds", "softmax": "log-odds, up to a constant", "exponential": "margin: log of predict",
            "half-power": "mean path length"}
_BEHIND = {"identity": "predict", "logistic": "probability", "softmax": "probability", "exponential": "predict", "half-power": "anomaly score"}


class Explainer:
    """Explains the predictions of any model: exactly where it is of trees or linear, else from as few calls as it takes.

    model: an object of xgboost, lightgbm, catboost or scikit-learn, a path, bytes of a model file, or any callable from an array of rows ×
        features (or a data frame, where the background is one) to an array of rows or rows × outputs.
    background: rows that stand in for absent features, and that conditional games are fitted on. By default trees play by their covers, and
        other models against 100 rows of X.
    value: "shapley", "banzhaf", "weighted-banzhaf=0.3", "beta=4,1", "owen", "two-step", "quotient-shapley", "c-shapley=2", "myerson", …
    method: "auto", "exact", "tree", "leverage-shap", "kernel-shap", "permutation", …: `apportion.methods()` lists them.
    budget: evaluations of the game for each row: a number, "10n" for ten times the players, "auto".
    until: in place of a budget an accuracy: 0.01 for an error of 1 % of the norm of the values, with `confidence`. Also `relative_to` ("norm",
        "range", "nothing"), `error` ("euclidean", "every-player") and `range`.
    groups: lists of features, by name or number, within each other or not, a dictionary of such lists, "age,sex;bmi", or "auto".
    graph: "line", "grid=4x5", or pairs of features.
    game: "marginal", "path-dependent", "gaussian", "copula", "empirical", "frequency".
    model_output: "raw", "probability" for what is behind the link of trees, "log_loss" with y, or the name of a method of the model.
    rows: of trees, for how many rows it is chosen how to compute, in place of those of each call: then the values of a row are the same to the
        last bit whatever rows stand beside it.
    check: whether predictions for the rows as they are passed on are compared with those for the rows as they were given; a difference is an error. It
        takes two predictions for each row of X and of the background.
    seed: of all draws. The same seed gives the same numbers on any number of threads.

    >>> import numpy as np, apportion
    >>> explainer = apportion.Explainer(lambda rows: rows.sum(axis=1), np.zeros((1, 30)), method="leverage-shap", budget="10n", seed=7)
    >>> explanation = explainer(np.ones((2, 30)))
    >>> explanation.shape, bool(np.allclose(explanation.values, 1))
    ((2, 30), True)
    """

    def __init__(self, model, background=None, *, weights=None, value="shapley", method="auto", budget="auto", until=None, groups=None,
                 graph=None, game=None, model_output="raw", seed=0, feature_names=None, output_names=None, rounds=None, threads=None,
                 progress=False, check=True, **more):
        known_options(more, (*NAMED, *OPTIONS), type(self).__name__)
        self.threads, self.progress = None if threads is None else count_of_threads(threads), _checked_progress(progress)
        self.model_output, self._check = _checks.text("model_output", model_output), _checks.flag("check", check)
        self._names = None if feature_names is None else _checks.names("feature_names", feature_names)
        self._output_names = None if output_names is None else _checks.names("output_names", output_names)
        self._reasons = []
        self._groups, self._graph, self._game = owned_groups(groups), owned_graph(graph), game
        checked = options(game="marginal" if game is None else game, value=value, method=method, budget=budget, until=until, seed=seed, **more)
        # As they are checked: what was given may be changed later.
        self._asked = {name: checked[name] for name in ("value", "method", "budget", "seed", *more) if name in checked}
        self._asked["until"] = None
        if until is not None:
            self._asked.update(zip(("until", "relative_to", "error", "confidence", "range"), checked["until"]))
        method_of_model = model_output if model_output not in ("raw", "probability", "log_loss") else None
        self.ensemble, reason = ensemble_or_reason(model, rounds, 4) if method_of_model is None else (None, None)
        # Survival models return functions of time, whose values at the times of the training are outputs.
        self._at_times = at_times(model, method_of_model) if method_of_model is not None else None
        if self._at_times is not None and rounds is None:
            self.ensemble, reason = ensemble_of_method(model, method_of_model)
        if self.ensemble is not None and model_output == "raw" and not isinstance(model, Ensemble) and predicts_behind_link(model):
            self.model_output = model_output = "probability"
        self._kept = {}
        if self.ensemble is None:
            if model_output in ("log_loss", "probability"):
                raise UsageError(f'model_output="{model_output}" is of tree ensembles and linear models; explain a function that returns it')
            if any(more.get(option) is not None for option in ("kernel", "precision", "rows")):
                raise UsageError("kernel, precision and rows say how the tree oracle computes, which is not asked here; leave them out")
            if rounds is not None:
                raise UsageError("rounds requires a model that is read as trees" + ("" if reason is None else f": {reason}"))
            self.function, self._schema = Function(model, method_of_model), None
            if reason is not None:
                self._reasons.append(f"not exact, explained as a function: {reason}")
            self._wanted = Wanted(self._names)
            self._background = None
            if background is not None:
                self._own_background(background)
        else:
            self.function = None
            # Classifiers without a link are sums of scores, or means of probabilities.
            self._has_scores = callable(getattr(self.ensemble.source, "decision_function", None))
            self._wanted = self.ensemble.wanted()
            if self._names is not None:
                _checks.names("feature_names", self._names, self._wanted.count)
            self._check_output_names()
            self._background = None if background is None else table(background, self._wanted, "the background").owned()
        rows = 0 if self._background is None else len(self._background.values)
        if weights is not None and background is None:
            raise UsageError("weights say how much rows of a background count; give a background")
        self._weights = None if weights is None else checked_weights(weights, rows).copy()
        if game == "path-dependent" and self.ensemble is None:
            raise UsageError('game="path-dependent" is of tree ensembles, and the model is none')
        if self._background is not None:
            if self.ensemble is not None:
                self._compare(background, self._background, "the background", model)
            self._prepare(self._background)
            self._background.given = self._background.index = None

    def __call__(self, X, y=None, *, interactions=False, threads=None, progress=None, checkpoint=None):
        """The explanation of rows: values rows × players, with several outputs × outputs.

        The kernel for exact values of trees is chosen by the number of rows: a row alone and the same row in a large table may differ in the last
        bits. The option rows= fixes the choice.

        y: targets of the rows, for model_output="log_loss".
        interactions: True, or "index", for the interactions of all pairs, rows × players × players: of trees and linear models exact, of functions by all
            coalitions where the budget covers them, else estimates (Shapley and Banzhaf) with std_errors. "remainder" for shap's convention, in which
            rows of a matrix add up to the values: of trees and linear models.
        checkpoint: a file that keeps the rows that are done, and the evaluations of the one that is not, every few seconds and when the work is stopped. The
            same call resumes from it, also in another process; it stays when all is done. A file of another model, of other rows, background or options,
            or of another version is refused, and one that another run uses. A function is compared by its predictions for all rows of X and of the
            background, and for some between both, so that each call with a checkpoint predicts these once more.
        """
        form = False if interactions is False or interactions is None else "index" if interactions is True else _checks.choice(
            "form of interactions", interactions, ("index", "remainder"))
        if checkpoint is not None:
            checkpoint = _checks.path("checkpoint", checkpoint)
        progress = self.progress if progress is None else _checked_progress(progress)
        rows, interactions = self._table(X), form
        if checkpoint is not None and (interactions or self.model_output == "log_loss" or not len(rows.values)):
            raise UsageError("checkpoint: it is kept of the values of rows, and not of interactions, losses or no rows; leave it out")
        if checkpoint is not None:
            _core.Checkpoint.check(checkpoint)
        if self.model_output == "log_loss":
            self._compare(X, rows, "X")
            return self._losses(rows, y, threads)
        core = self._prepare(rows)
        self._compare(X, rows, "X")
        if interactions:
            if self.ensemble is None and form == "remainder":
                raise UsageError('interactions="remainder" is of trees and linear models; of a function give "index"')
            told = engine(core.interactions, rows.values, pool(self.threads if threads is None else threads), form == "remainder")
            return self._explanation(told, rows, interactions=form)
        watcher, close = _watcher(progress, len(rows.values))
        try:
            threads = pool(self.threads if threads is None else threads)
            if checkpoint is None:
                told, stopped = engine(core.explain, rows.values, threads, watcher)
            else:
                if self.ensemble is not None:
                    # The kernel is chosen for all rows, whichever of them are left.
                    core, rows.members = self._core(rows, rows.background if rows.background is not None else self._background, len(rows.values))
                told, stopped = engine(core.explain, rows.values, threads, watcher, self._checkpoint(checkpoint, rows))
        finally:
            close()
        if stopped is not None:
            if len(told["rows"]):
                stopped.explanation = self._explanation(told, rows, core)
                stopped.add_note(f"{len(told['rows'])} of {len(rows.values)} rows were done: they are in the attribute explanation")
            raise stopped
        explanation = self._explanation(told, rows, core)
        for warning in told.get("warnings", ()):
            warnings.warn(warning, AccuracyWarning, stacklevel=2)
        return explanation

    def shap_values(self, X, y=None):
        """The values as an array alone."""
        return self(X, y).values

    def shap_interaction_values(self, X):
        """Interactions of all pairs in shap's convention, as an array alone."""
        return self(X, interactions="remainder").values

    @property
    def expected_value(self):
        """The value without any feature: a number, or one for each output."""
        if "base" not in self._kept:
            if self._background is not None:
                rows = self._background.values[:1]
            elif self.ensemble is not None and self._game_for(None) == "path-dependent":
                rows = np.zeros((1, self._wanted.count))
            else:
                raise UsageError("without a background, the expected value is known when rows were explained")
            core, _ = self._kept_core()
            told, stopped = engine(core.explain, rows, pool(self.threads), None)
            if stopped is not None:
                raise stopped
            base = told["base"][: self.output_count]
            self._kept["base"] = float(base[0]) if len(base) == 1 else base.copy()
        return self._kept["base"]

    @property
    def output_count(self):
        """How many outputs the model has."""
        return self.ensemble.output_count if self.ensemble is not None else self.function.outputs

    @property
    def output_names(self):
        """What the outputs are called, where there are several."""
        if self.output_count == 1:
            return None
        if self._output_names is not None:
            return list(self._output_names)
        names = self.ensemble.output_names if self.ensemble is not None else self.function.output_names
        return None if names is None else list(names)

    def _check_output_names(self):
        count = self.output_count
        if self._output_names is not None and count > 1:
            _checks.names("output_names", self._output_names, count, "output")

    @property
    def notes(self):
        """What should be known of the choice of the output and of the model: a list of sentences."""
        return list(self.ensemble.notes if self.ensemble is not None else self.function.notes) + self._reasons

    def _output(self):
        """What the predictions are, in words."""
        if self.ensemble is None:
            return self.function.about
        link = self.ensemble.link
        if self._at_times is not None:
            return self._at_times.about
        if self.model_output == "probability":
            return _BEHIND.get(link, f"predict ({link})")
        if link == "identity" and self.ensemble.classes is not None:
            return "decision_function" if self._has_scores else "probability"
        return _MARGINS.get(link, "margin")

    def plan(self, X):
        """What would be done with rows, before it is done: method, the fewest and most evaluations for each row, and seconds where they are known."""
        rows = self._table(X)
        return dict(zip(("method", "least", "most", "seconds"), self._prepare(rows).plan(rows.values, pool(self.threads))))

    def __getstate__(self):
        # What was prepared is prepared again in the other process, and the rows as they were given have been compared.
        state = {name: value for name, value in self.__dict__.items() if name not in ("_kept", "_wanted")}
        if self._background is not None and self._background.given is not None:
            state["_background"] = copy.copy(self._background)
            state["_background"].given = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state, _kept={})
        if self.ensemble is None:
            self._wanted = Wanted(self._names, None if self._schema is None else self._schema.width)
        else:
            self._wanted = self.ensemble.wanted()

    def _checkpoint(self, path, rows):
        """Opens the checkpoint of these rows, which must be one of the same run if it exists."""
        from ._checkpoint import key

        background = rows.background if rows.background is not None else self._background
        return _core.Checkpoint(path, key(self, rows, background, self._game_for(rows)))

    def _compare(self, given, rows, what, model=None):
        """Raises if the model predicts something else for rows as they are passed on, or as its trees were read."""
        if not self._check or not len(rows.values):
            return
        if self.function is not None:
            self.function.taking(rows.schema).check(rows.given, rows.values, what)
        elif self._at_times is not None:
            compare_at_times(self._at_times, self.ensemble, given, rows.values, what, self.threads)
        else:
            from ._agreement import check

            check(None if isinstance(model, Ensemble) else model, self.ensemble, given, rows.values, what, linked=self.model_output == "probability", threads=self.threads)

    def _table(self, X, what="X"):
        """Returns rows as a table that belongs to the call: whatever becomes of X, it stays as it is."""
        if self.function is None:
            return table(X, self._wanted, what).owned()
        given, background, players = _tables.of(X, what), None, None
        if self._schema is None:
            schema, (rows,) = Schema.of([given], self._names, what)
            if len(schema.template.shape or ()) > 1:
                players = players_of_sequences(schema.template.shape, self._names, self._groups, self._asked["value"])
                schema.names = rows.names = players[0]
        else:
            schema = self._schema
            if schema.template.shape is not None and given.shape is not None and (given.length, *given.shape) == schema.template.shape:
                given = given.as_row()
            try:
                rows = schema.encoded(given, what)
            except Grown:
                before = _tables.of(schema.table(self._background.values), "the background")
                _, (background, rows) = Schema.of([before, given], self._names, what)
        rows.given, rows.background, rows.players = given, background, players
        return rows.owned()

    def _own_background(self, background):
        """Takes rows as the background: what is known of the features is that of its columns."""
        self._background = self._table(background, "the background")
        self._schema = self._background.schema
        if self._background.players is not None:
            self._names, self._groups, self._asked["value"] = self._background.players
            self._background.players = None
        elif self._names is None:
            self._names = self._background.names
        self._wanted = Wanted(self._names, self._schema.width)

    def _asked_of(self, rows):
        """The groups and the value for these rows, which for rows of steps depend on their shape."""
        if rows is not None and rows.players is not None:
            _, groups, value = rows.players
            return groups, {**self._asked, "value": value}
        return self._groups, self._asked

    def _names_of(self, rows):
        names = rows.names if rows.players is not None else self._names or self._wanted.names or rows.names
        return list(names) if names is not None else [f"f{feature}" for feature in range(rows.values.shape[1])]

    def _game_for(self, rows):
        """The game that is played, where it is left open: against the background, else by the covers, else against rows of X."""
        if self._game is not None:
            return self._game
        if self._background is not None or self.model_output != "raw" or self.ensemble is None or not self.ensemble.has_covers:
            return "marginal"
        return "path-dependent"

    def _prepare(self, rows):
        """Returns the explainer for these rows, and stores their groups in them. Without a background it depends on the rows, unless the game needs none."""
        if rows.background is not None:
            core, rows.members = self._core(rows, rows.background)
            return core
        if self._background is None and (self._game_for(None) != "path-dependent" or isinstance(self._groups, str)):
            core, rows.members = self._core(rows, None)
            return core
        core, rows.members = self._kept_core(rows)
        if rows.schema is not None and rows.schema is not self._schema:
            # Its cells beyond those of the background are known to this call alone.
            return core.with_function(self.function.taking(rows.schema))
        return core

    def _kept_core(self, rows=None):
        """The explainer against the background, or by the covers, and its groups: made once in each process."""
        rows = rows if self._background is None else self._background
        # By covers, each table has its own names, by which groups and graphs may be given.
        names = None if rows is None or self._groups is None and self._graph is None else self._names_of(rows)
        made_of = generation(), names
        found = self._kept.get("core")
        if found is None or found[0] != made_of:
            found = self._kept["core"] = (made_of, *self._core(rows, self._background))
        return found[1:]

    def _core(self, rows, background, count=None):
        """An explainer against a background, else by the covers or against some of these rows; and the groups, if there are any. `count` is the number of
        rows that the kernel of trees is chosen for, if it is not that of each call."""
        game, weights = self._game_for(None), self._weights
        absent = None if background is None else background.values
        if absent is None and game != "path-dependent":
            absent = self._sampled(rows, game)
        known = rows if rows is not None else background
        names = self._names_of(known) if known is not None else self._names or self._wanted.names
        if names is None:
            names = [f"f{feature}" for feature in range(self._wanted.count)]
        groups, asked = self._asked_of(rows)
        members = None
        if groups is not None:
            known = background if background is not None else rows
            members = numbered(groups, names, None if known is None else lambda: known.values, self.threads)
        if count is not None and asked.get("rows") is None:
            asked = {**asked, "rows": count}
        asked = options(**asked, game=game, groups=members, graph=asked_graph(self._graph, names), linked=self.model_output == "probability")
        if self.ensemble is not None:
            return _core.Explainer.of_trees(self.ensemble._core, asked, absent, weights), members
        schema = known.schema if known.schema is not None else self._schema
        words = schema.categorical()
        if words and game not in ("marginal", "frequency"):
            raise UsageError(f'game="{game}" requires numbers in every column, found {schema.described(words)}; use game="marginal" or game="frequency"')
        function = self.function.taking(schema)
        if function.outputs is None:
            function.settle(absent[: min(len(absent), 8)])
            self.function = function
            self._check_output_names()
            for note in function.warnings:
                warnings.warn(note, ModelWarning, stacklevel=5)
        if self._check and background is not None and background.given is not None:
            function.check(background.given, background.values, "the background")
        return _core.Explainer.of_function(function, absent.shape[1], function.outputs, asked, absent, weights), members

    def _sampled(self, rows, game):
        if game != "marginal":
            return rows.values
        if len(rows.values) == 1:
            raise DataError("X has a single row, and against itself every value would be 0: give rows to compare it with as background")
        chosen = _core.sampled_rows(len(rows.values), SAMPLE, self._asked["seed"])
        return np.ascontiguousarray(rows.values[chosen])

    def _explanation(self, told, rows, core=None, interactions=None):
        values, predictions = told["values"], told["predictions"]
        done = told.get("rows")
        count = len(rows.values) if done is None else len(done)
        outputs = self.output_count
        names, (groups, asked) = self._names_of(rows), self._asked_of(rows)
        players = players_of(names, groups, asked["value"], rows.members)
        is_of_groups = asked["value"].startswith("quotient")
        shape = (count, len(players)) + ((len(players),) if interactions else ()) + ((outputs,) if outputs > 1 else ())
        base = told["base"]
        per_row = (count, outputs) if outputs > 1 else (count,)
        base = np.resize(base, per_row) if len(base) == outputs else base.reshape(per_row)
        shown, categories = (rows.values, rows.categories) if rows.schema is None else rows.schema.shown(rows.values)
        data = shown if done is None or count == len(rows.values) else shown[done]
        index = rows.index if rows.index is None or done is None or count == len(rows.values) else rows.index[done]
        method = told.get("method", "")
        budget = None
        if "evaluations" in told and core is not None and method not in ("tree", "exact") and count:
            budget = core.plan(np.ascontiguousarray(rows.values[:1]), pool(self.threads))[2]
        accuracy = None
        if asked["until"] is not None:
            accuracy = accuracy_in_words(asked["until"], **{key: asked[key] for key in ("confidence", "relative_to", "error", "range") if key in asked})
        about = {}
        if self.model_output == "probability":
            about["output"] = self.ensemble.link if self.ensemble is not None else "probability"
        if self._background is not None:
            about["background_rows"] = len(self._background.values)
        errors = told.get("std_errors")
        return Explanation._of(
            values.reshape(shape), base, data, feature_names=players, input_names=names if is_of_groups else None,
            output_names=self.output_names, predictions=predictions.reshape(per_row), std_errors=None if errors is None else errors.reshape(shape),
            evaluations=told.get("evaluations"), degrees_of_freedom=told.get("degrees_of_freedom"), draws=told.get("draws"),
            certificates=told.get("certificates"), index=index, row_numbers=done, categories=categories, interactions=interactions,
            about=dict(value=asked["value"], output=self._output(), notes=self.notes, game=self._game_for(None), method=method, same_as=told.get("same_as"), budget=budget,
                       accuracy=accuracy, seed=asked["seed"], more=about,
                       groups=None if rows.members is None else named(rows.members, names)))

    def _losses(self, rows, y, threads):
        """The division of each row's loss."""
        from ._losses import losses

        return losses(self, rows, y, threads)

    def __repr__(self):
        what = repr(self.ensemble) if self.ensemble is not None else f"function {self.function.name}"
        return f"{type(self).__name__}({what}, value={self._asked['value']!r}, method={self._asked['method']!r})"


class TreeExplainer(Explainer):
    """Exact values of tree ensembles and linear models, in the manner of shap.

    data: the background; without one the game is path-dependent, by the covers of the training.
    model_output: "raw", "probability", "log_loss" (with y in the call).
    feature_perturbation: "auto", "interventional" (against data), "tree_path_dependent".
    Further options are those of `Explainer`: value, groups, weights, rounds, kernel, precision, threads, …

    >>> import apportion
    >>> tree = b'''{"format": "apportion-trees", "version": 1, "width": "double", "features": 1, "base_margins": [0.5], "operator": "<=",
    ...     "trees": [{"left": [1, -1, -1], "right": [2, -1, -1], "feature": [0, 0, 0], "threshold": [1.5, 0, 0], "value": [0, 10, 20]}]}'''
    >>> explainer = apportion.TreeExplainer(tree, [[0.0], [2.0]])
    >>> explainer.expected_value, explainer.shap_values([[2.0]])
    (15.5, array([[5.]]))
    """

    def __init__(self, model, data=None, *, model_output="raw", feature_perturbation="auto", feature_names=None, rounds=None, **more):
        if _checks.text("model_output", model_output) not in ("raw", "probability", "log_loss"):
            raise UsageError(f'invalid model_output {model_output!r}; expected "raw", "probability" or "log_loss" (apportion.Explainer explains any method)')
        games = {"auto": None, "interventional": "marginal", "tree_path_dependent": "path-dependent"}
        game = more.pop("game", games[_checks.choice("feature_perturbation", feature_perturbation, tuple(games))])
        if game is not None:
            _checks.choice("game", game, GAMES)
        if game == "path-dependent" and model_output != "raw":
            raise UsageError(f'model_output="{model_output}": what trees expect along their paths is defined for margins only; give data')
        if game == "marginal" and data is None:
            raise UsageError('feature_perturbation="interventional" is played against rows: give data')
        is_behind_link = not isinstance(model, Ensemble) and game != "path-dependent" and model_output == "raw" and predicts_behind_link(model)
        model = ensemble(model, rounds)
        if is_behind_link:
            model_output = "probability"
        if game is None and data is None and not model.has_covers and model_output == "raw":
            raise UsageError(f"{model.lacks_covers}; give data to explain against")
        super().__init__(model, data, game=game, model_output=model_output, feature_names=feature_names, **more)


def explain(model, X, background=None, **more):
    """Explains the rows X of a model, in one call: `Explainer(model, background, …)(X)`.

    >>> import numpy as np, apportion
    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> apportion.explain(lambda rows: rows.sum(axis=1), rows).values
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    call = {key: more.pop(key) for key in ("interactions", "y", "checkpoint") if key in more}
    return Explainer(model, background, **more)(X, **call)


def players_of(names, groups, value, members):
    """What those are called who have values: the features, or groups that play as one."""
    if not value.startswith("quotient") or members is None:
        return names
    if isinstance(groups, dict):
        return [str(name) for name in groups]
    return [",".join(names[feature] for feature in flat(group)) for group in members]


def _checked_progress(given):
    if callable(given):
        return given
    return _checks.flag("progress", given)


def _watcher(progress, rows):
    """What is called with the rows that are done and the evaluations of the next, and what is to be called at the end."""
    if progress is False or progress is None:
        return None, lambda: None
    if callable(progress):
        return progress, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bar = tqdm(total=rows, unit="row")

    def watch(done, evaluations):
        bar.set_postfix_str(f"{evaluations} evaluations" if evaluations else "", refresh=False)
        bar.update(done - bar.n)

    return watch, bar.close
