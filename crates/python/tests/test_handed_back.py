"""Rows reach a function unchanged, or the difference is an error."""
import numpy as np
import pytest

import apportion

pandas = pytest.importorskip("pandas")


def frame():
    return pandas.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["x", "y", "x", "z"], "c": [1, 2, 3, 4]})


def test_a_model_that_predicts_something_else_for_what_it_is_passed_is_refused():
    rows = frame()

    class Peculiar:
        """A model that predicts differently for rows with a given property."""

        def __init__(self, sign):
            self.sign = sign

        def __call__(self, given):
            return given.a * (1.0 if self.sign(given) else 2.0)

    given = rows.set_axis(["A1", "A2", "A3", "A4"])
    for sign in (lambda known: not isinstance(known.index, pandas.RangeIndex),
                 lambda known: "A" in str(known.index[0]), lambda known: known.index.dtype != np.int64,
                 lambda known: known.index.is_unique and "A4" in known.index,
                 lambda known: known.index[-1] != 3):
        model = Peculiar(sign)
        with pytest.raises(apportion.ModelError, match="as given.*as passed on") as caught:
            apportion.Explainer(model, rows)(given)
        assert "row 0" in str(caught.value) and "check=False" in str(caught.value)
        found = apportion.Explainer(model, rows, check=False)(given)
        assert found.additivity_gap() < 1e-12
    # The metadata of a frame is kept.
    rows.columns.name, rows.index.name, rows.attrs["note"] = "features", "house", "mine"
    for sign in (lambda known: known.columns.name == "features", lambda known: known.index.name == "house",
                 lambda known: known.attrs.get("note") == "mine"):
        assert np.allclose(apportion.Explainer(Peculiar(sign), rows)(rows).predictions, rows.a)


def test_types_of_x_that_differ_from_those_of_the_background_are_compared():
    background = frame()

    def by_type(given):
        return np.array([float(value) if isinstance(
            value, (float, np.floating)) else -1.0 for value in given.a.tolist()])

    with pytest.raises(apportion.ModelError, match="row 0 of|row 0:"):
        apportion.Explainer(by_type, background)(background.astype({"a": int}))
    assert apportion.Explainer(by_type,
                               background)(background.assign(a=[0.5, 1.5, 2.5, 3.5])).additivity_gap() < 1e-12


def test_cells_that_the_background_cannot_hold_are_refused():
    background = frame()
    for column, cells, says in [("a", ["1.5"] * 4, "cannot represent"),
                                ("a", [2**60 + 1] * 4, "cannot represent"),
                                ("c", ["x"] * 4, "cannot represent"),
                                ("a", [[]] * 4, "cannot represent")]:
        with pytest.raises(apportion.DataError, match=says):
            apportion.Explainer(lambda given: given.a.to_numpy(dtype=float),
                                background)(background.assign(**{column: pandas.Series(cells, dtype=object)}))
    categories = background.assign(b=pandas.Categorical(background.b))
    with pytest.raises(apportion.DataError, match="unknown category 'q'"):
        apportion.Explainer(lambda given: given.a, categories)(background.assign(b="q"))
    with pytest.raises(apportion.DataError, match='did you mean "x"|categories of the background'):
        apportion.Explainer(lambda given: given.a, categories)(background.assign(b="xx"))
    strings = apportion.Explainer(lambda given: given.a * (given.b == "x"), categories)(background)
    assert strings.additivity_gap() < 1e-12


def test_columns_are_chosen_by_name_and_foreign_tables_become_the_model_s_own():
    background = frame()
    kinds = []

    def model(given):
        kinds.append((type(given), list(given.columns), list(map(str, given.dtypes))))
        return given.a * (given.b == "x") + given.c

    wanted = apportion.Explainer(model, background)(background).values
    others = [background[["c", "b", "a"]].assign(more=1.0)]
    for library in ("polars", "pyarrow"):
        if library == "polars":
            others.append(pytest.importorskip("polars").DataFrame(background.to_dict("list")))
        else:
            others.append(pytest.importorskip("pyarrow").table(background.to_dict("list")))
    others += [background.to_numpy(), background.to_numpy().tolist(), background.convert_dtypes(),
               background.astype(object)]
    for given in others:
        found = apportion.Explainer(model, background)(given)
        assert np.allclose(found.values, wanted)
        assert kinds[-1] == (pandas.DataFrame, ["a", "b", "c"], list(map(str, background.dtypes)))
    row = apportion.Explainer(model, background)(background.iloc[2])
    assert np.allclose(row.values, wanted[2:3])


def test_a_null_of_another_library_is_what_is_missing_in_the_background():
    pyarrow = pytest.importorskip("pyarrow")
    for missing in (None, np.nan, pandas.NA, float("nan"), pandas.NaT):
        background = pandas.DataFrame({"b": pandas.Series(["x", missing, "y"], dtype=object),
                                       "a": [1.0, 2.0, 3.0]})
        seen = []

        def model(given):
            seen.extend(cell for cell in given.b if not isinstance(cell, str))
            return given.a * [1.0 if isinstance(cell, str) else 5.0 for cell in given.b]

        found = apportion.Explainer(model,
                                    background)(pyarrow.table({"b": ["x", None, "z"], "a": [1.0, 2.0, 3.0]}))
        assert np.allclose(found.predictions,
                           [1.0, 10.0, 3.0]) and {type(cell) for cell in seen} == {type(missing)}


def test_functions_that_take_no_such_tables_get_arrays_with_a_note():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    columns = {"a": [1.0, 2.0, 3.0], "b": [1.0, 0.0, 2.0]}
    for table in (polars.DataFrame(columns), pyarrow.table(columns)):
        def only_arrays(given):
            if not isinstance(given, np.ndarray):
                raise TypeError("an array, please")
            return given[:, 0] * given[:, 1]

        with pytest.warns(apportion.ModelWarning, match="NumPy arrays"):
            found = apportion.Explainer(only_arrays, table)(table)
        assert np.allclose(found.predictions, [1.0, 0.0, 6.0]) and found.feature_names == ["a", "b"]


def test_sparse_matrices_and_tensors_come_back_as_such():
    sparse = pytest.importorskip("scipy.sparse")
    random = np.random.default_rng(0)
    full = random.normal(size=(12, 4)) * (random.random((12, 4)) > 0.5)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.lil_matrix,
                 sparse.csr_array):
        rows, kinds = kind(full), set()

        def model(given):
            kinds.add(type(given))
            # Entries that are not stored count as missing, as in XGBoost.
            given = given.tocsr()
            return np.array([given[row].nnz + given[row].sum() ** 2 for row in range(given.shape[0])],
                            dtype=float)

        found = apportion.Explainer(model, rows)(rows)
        assert kinds == {kind} and np.allclose(
            found.predictions, model(rows)) and found.additivity_gap() < 1e-9
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.float64, torch.int64, torch.bool):
        rows, kinds = torch.as_tensor(full).to(dtype), set()

        def model(given):
            kinds.add((type(given), given.dtype))
            return (given[:, 0] * given[:, 1]).to(torch.float64) + given[:, 2]

        apportion.Explainer(model, rows)(rows)
        assert kinds == {(torch.Tensor, dtype)}


def test_rows_of_steps_are_explained_by_feature_by_step_or_by_cell(enumerated):
    random = np.random.default_rng(0)
    sequences = random.normal(size=(30, 5, 3)).astype(np.float32)
    weights = np.arange(5.0)[:, None] * np.array([1.0, -1.0, 2.0])

    def model(given):
        assert given.ndim == 3 and given.shape[1:] == (5, 3) and given.dtype == np.float32
        return (given * weights).sum(axis=(1, 2)) * (1 + (given[:, :, 0] > 0).any(axis=1))

    found = apportion.Explainer(model, sequences[:6],
                                feature_names=["heart", "lungs", "skin"])(sequences[10:13])
    assert found.feature_names == ["heart", "lungs", "skin"] and found.values.shape == (3, 3)

    def worth(mask):
        mixed = sequences[:6].copy()
        for player in range(3):
            if mask >> player & 1:
                mixed[:, :, player] = sequences[10, :, player]
        return model(mixed).mean()

    assert np.abs(found.values[0] - enumerated(worth, 3)).max() < 1e-6
    steps = apportion.Explainer(model, sequences[:6], groups="steps")(sequences[10:13])
    assert steps.feature_names == [f"step {step}" for step in range(5)] and steps.additivity_gap() < 1e-5

    def worth_of_steps(mask):
        mixed = sequences[:6].copy()
        for player in range(5):
            if mask >> player & 1:
                mixed[:, player] = sequences[10, player]
        return model(mixed).mean()

    assert np.abs(steps.values[0] - enumerated(worth_of_steps, 5)).max() < 1e-6
    cells = apportion.Explainer(model, sequences[:6], groups="cells", budget=200)(sequences[10:11])
    assert cells.values.shape == (1, 15) and cells.feature_names[4] == "f1[1]"
    early = apportion.Explainer(model, sequences[:6], value="quotient-shapley",
                                groups={"early": [f"f{f}[{t}]" for f in range(3) for t in range(2)],
                                        "late": [f"f{f}[{t}]" for f in range(3) for t in range(2, 5)]})
    assert early(sequences[10:12]).feature_names == ["early", "late"]
    alone = apportion.Explainer(model, sequences[:6])(sequences[10])
    assert np.allclose(alone.values, found.values[:1])
    for wrong in (sequences[:, :4], sequences[:, :, :2], sequences[:, 0]):
        with pytest.raises(apportion.DataError, match="expected"):
            apportion.Explainer(model, sequences[:6])(wrong)
    with pytest.raises(apportion.UsageError, match="feature_names"):
        apportion.Explainer(model, sequences[:6], feature_names=["one", "two"])


def test_columns_that_are_not_numbers_have_no_conditional_distribution_but_that_of_frequencies():
    rows = pandas.concat([frame()] * 6, ignore_index=True)

    def model(given):
        return given.a * (given.b == "x") + given.c

    for game in ("gaussian", "copula", "empirical"):
        with pytest.raises(apportion.UsageError, match='"b"'):
            apportion.Explainer(model, rows, game=game)(rows[:2])
    found = apportion.Explainer(model, rows, game="frequency", fallback="nearest")(rows[:2])
    assert np.isfinite(found.values).all()


def test_what_is_handed_back_survives_a_trip_to_another_process():
    import pickle

    rows = frame().assign(b=pandas.Series(["x", None, np.nan, "z"], dtype=object))
    explainer = apportion.Explainer(tells, rows)
    again = pickle.loads(pickle.dumps(explainer))
    assert np.array_equal(again(rows).values, explainer(rows).values)


def tells(given):
    return given.a * np.array([3.0 if cell is None else 2.0 if cell != cell else 1.0 for cell in given.b])


def test_results_show_cells_as_text_or_numbers(tmp_path):
    rows = frame().assign(when=pandas.date_range("2026-01-01", periods=4),
                          whole=pandas.Series([1, 2, None, 2**60 + 1], dtype=object),
                          holed=pandas.Series(["x", None, np.nan, "y"], dtype=object))
    found = apportion.Explainer(lambda given: given.a * given.when.dt.day, rows)(rows)
    shown = found.display_data
    assert shown[0, 1] == "x" and shown[1, 3] == "2026-01-02 00:00:00" and shown[0, 4] == 1.0 and shown[
        1, 5] is None and shown[3, 5] == "y"
    assert np.isnan(found.data[1, 5]) and np.isnan(found.data[2, 4])
    found.save(tmp_path / "found.json")
    assert np.array_equal(apportion.load(tmp_path / "found.json").values, found.values)
    found.report(tmp_path / "found.html")
    found.plot.beeswarm()
