"""Reads the cells of a CatBoost Pool with categorical features, for which CatBoost has no function.

A quantized pool can be saved, and its file contains the bin of each number and the hash of each category.
Numbers are therefore found by bisection over all 32-bit floats, many borders at a time, and categories become
the codes that the readers of CatBoost models use: hash + ½.
"""
from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np
import numpy.typing as npt

from ._errors import DataError
from ._types import Booleans, Integers, Numbers

if TYPE_CHECKING:
    from ._data import Wanted

# The maximum number of borders of a feature, and of lines of a file of borders.
_MAX_BORDERS, _MAX_LINES = 65_000, 30_000
# The maximum number of rows at a time, so that each number can have a border.
_MAX_ROWS = 60_000
_END = b"CatboostQuantizedPoolEnd\0"
# The position of zero in the order of 32-bit floats.
_ZERO = 0x8000_0000


def cells(pool: Any, wanted: Wanted, what: str) -> Numbers:
    """Returns the rows of a pool as 64-bit numbers, with codes for categories."""
    try:
        return _in_order(np.asarray(pool.get_features(), dtype=np.float64), pool, wanted)
    except Exception as problem:  # an exception of catboost, which is not imported here
        error = problem
    frame = f"pass the data frame that the Pool was built from instead of {what}"
    if pool.get_text_feature_indices() or pool.get_embedding_feature_indices():
        raise DataError(f"a Pool with text or embedding features cannot be read back; {frame}") from error
    if pool.is_quantized():
        raise DataError(f"a quantized Pool cannot be read back; {frame}") from error
    origin = getattr(wanted.coder, "origin", None)
    if origin is None or not origin[0].startswith("CatBoost"):
        raise DataError(f"a Pool with categorical features requires a CatBoost model; {frame}") from error
    starts = range(0, pool.num_row(), _MAX_ROWS)
    try:
        parts = [_read(pool, list(range(start, min(start + _MAX_ROWS, pool.num_row())))) for start in starts]
    except Exception as problem:
        raise DataError(f"this version of catboost does not return the categories of a Pool ({problem}); "
                        f"{frame}") from problem
    return _in_order(np.concatenate(parts) if parts else np.empty((0, pool.num_col())), pool, wanted)


def _in_order(values: Numbers, pool: Any, wanted: Wanted) -> Numbers:
    """Returns the columns in the order of the model, if the pool has them in a different order."""
    names = pool.get_feature_names()
    if (not wanted.names or names == list(wanted.names) or len(set(names)) != len(names)
            or set(names) != set(wanted.names)):
        return values
    return values[:, [names.index(name) for name in wanted.names]]


def _read(pool: Any, rows: list[int]) -> Numbers:
    features, categorical = pool.num_col(), set(pool.get_cat_feature_indices())
    numeric = [feature for feature in range(features) if feature not in categorical]
    values = np.empty((len(rows), features))
    with tempfile.TemporaryDirectory() as folder:
        def quantized(borders: Mapping[int, Sequence[float]], missing: str) -> _File:
            path, saved = os.path.join(folder, "borders.tsv"), os.path.join(folder, "pool")
            with open(path, "w") as file:
                for feature, numbers in borders.items():
                    file.writelines(f"{feature}\t{number!r}\t{missing}\n" for number in numbers)
            part = pool.slice(rows)
            part.quantize(input_borders=path)
            part.save(saved)
            with open(saved, "rb") as file:
                return _File(file.read(), len(rows))

        zero = {feature: [0.0] for feature in numeric}
        file = quantized(zero, "Min")
        for feature in categorical:
            values[:, feature] = file.categories(feature)
        if numeric:
            above = quantized(zero, "Max")
            is_missing = np.stack([(file.bins(feature) == 0) & (above.bins(feature) == 1)
                                   for feature in numeric], axis=1)
            found = _bisected(lambda borders: quantized(dict(zip(numeric, borders)), "Min"), numeric,
                              is_missing)
            values[:, numeric] = np.where(is_missing, np.nan, found)
    return values


def _bisected(quantized: Callable[[list[list[float]]], _File], numeric: Sequence[int],
              is_missing: Booleans) -> Numbers:
    """Returns the numbers in columns, found from the borders between which they lie."""
    count, columns = is_missing.shape
    # The number in a row is above `low` and at most `high`, in the order of 32-bit numbers.
    low = np.full((count, columns), _key(-np.finfo(np.float32).max) - 1)
    high = np.where(is_missing, low + 1, _key(np.inf))
    while (high - low > 1).any():
        places = [_borders(low[:, column], high[:, column], min(_MAX_BORDERS, _MAX_LINES // columns))
                  for column in range(columns)]
        file = quantized([_numbers(keys if len(keys) else np.array([_ZERO])).tolist() for keys in places])
        for column, keys in enumerate(places):
            if not len(keys):  # only the two zeros are left, which are equal
                low[:, column] = high[:, column] - 1
                continue
            bins = file.bins(numeric[column]).astype(np.intp)
            bounds = np.concatenate([[0], keys, [_key(np.inf)]])
            low[:, column] = np.maximum(low[:, column], bounds[bins])
            high[:, column] = np.where(is_missing[:, column], low[:, column] + 1,
                                       np.minimum(high[:, column], bounds[bins + 1]))
    return _numbers(high.ravel()).reshape(high.shape) + 0.0


def _borders(low: Integers, high: Integers, most: int) -> Integers:
    """Returns at most `most` borders within the intervals of a column that are still open."""
    intervals = np.unique(np.stack([low, high], axis=1)[high - low > 1], axis=0)
    if not len(intervals):
        return np.array([], dtype=np.int64)
    each = max(1, most // len(intervals))
    low, high = intervals[:, :1], intervals[:, 1:]
    steps = np.arange(1, min(each, int((high - low).max()) - 1) + 1)
    keys = low + np.maximum((high - low) * steps // (len(steps) + 1), 1)
    keys = np.where(keys == _ZERO - 1, _ZERO, keys)  # both zeros count as the same number
    keys = np.unique(keys[(keys > low) & (keys < high)])
    return keys[keys <= _key(np.finfo(np.float32).max)]


def _key(number: SupportsFloat) -> int:
    bits = int(np.float32(number).view(np.uint32))
    return (bits ^ 0xFFFF_FFFF) if bits & _ZERO else bits | _ZERO


def _numbers(keys: Integers) -> Numbers:
    keys = np.asarray(keys, dtype=np.int64)
    return np.where(keys & _ZERO, keys ^ _ZERO,
                    keys ^ 0xFFFF_FFFF).astype(np.uint32).view(np.float32).astype(np.float64)


class _File:
    """A quantized pool as CatBoost saves it: chunks of columns, and their offsets."""

    def __init__(self, content: bytes, rows: int) -> None:
        if not content.startswith(b"CatboostQuantizedPool\0") or not content.endswith(_END):
            raise ValueError("unknown format of a quantized pool")
        self.content, self.rows = content, rows
        _, _, schema, index = struct.unpack_from("<4Q", content, len(content) - len(_END) - 32)
        size, = struct.unpack_from("<I", content, schema)
        self._hashes = _hashes(content[schema + 4 : schema + 4 + size])
        self._chunks, (columns,), at = {}, struct.unpack_from("<I", content, index), index + 4
        for _ in range(columns):
            column, chunks = struct.unpack_from("<2I", content, at)
            at += 8
            self._chunks[column] = [struct.unpack_from("<IQ2I", content, at + 20 * chunk)
                                    for chunk in range(chunks)]
            at += 20 * chunks

    def bins(self, column: int) -> npt.NDArray[np.uint32]:
        """Returns the index of the bin of each row."""
        found = np.empty(self.rows, dtype=np.uint32)
        done = 0
        for _, offset, first, count in self._chunks[column]:
            root = offset + struct.unpack_from("<I", self.content, offset)[0]
            fields = root - struct.unpack_from("<i", self.content, root)[0]
            bits, numbers = (struct.unpack_from("<H", self.content, fields + 4 + 2 * field)[0]
                             for field in (0, 1))
            kind = np.dtype(f"<u{self.content[root + bits] // 8}")
            numbers += root
            numbers += struct.unpack_from("<I", self.content, numbers)[0] + 4
            found[first : first + count] = np.frombuffer(self.content, dtype=kind, count=count,
                                                         offset=numbers)
            done += count
        if done != self.rows:
            raise ValueError(f"{done} of {self.rows} rows")
        return found

    def categories(self, column: int) -> Numbers:
        """Returns the code of the category of each row."""
        hashes = self._hashes[column]
        if not self._chunks.get(column):  # a single category is not written for each row
            if len(hashes) != 1:
                raise ValueError("no categories")
            return np.full(self.rows, next(iter(hashes.values())) + 0.5)
        bins = self.bins(column)
        codes = np.full(int(bins.max(initial=0)) + 1, np.nan)
        for place, hash_of_text in hashes.items():
            if place < len(codes):
                codes[place] = hash_of_text + 0.5
        found = codes[bins]
        if np.isnan(found).any():
            raise ValueError("a category without a hash")
        return found


def _hashes(schema: bytes) -> dict[int, dict[int, int]]:
    """Returns for each column the hash of each category, by the index of the category."""
    found: dict[int, dict[int, int]] = {}
    for field, entry in _members(schema):
        if field != 3:
            continue
        column, categories = 0, b""
        for name, value in _members(entry):
            column, categories = (value, categories) if name == 1 else (column, value)
        found[column] = {}
        for name, pair in _members(categories):
            hash_of_text, place = 0, 0
            for member, value in _members(pair):
                if member == 1:
                    hash_of_text = value
                else:
                    place = dict(_members(value)).get(1, 0)
            found[column][place] = hash_of_text
    return found


def _members(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yields the fields of a message of protobuf with their values: numbers and bytes."""
    at = 0

    def number() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = message[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    while at < len(message):
        tag = number()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, number()
        elif kind == 2:
            size = number()
            at += size
            yield tag >> 3, message[at - size : at]
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            at += size
            yield tag >> 3, message[at - size : at]
        else:
            raise ValueError(f"unknown protobuf wire type {kind} in the quantized pool")
