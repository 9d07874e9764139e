"""Record batches of Arrow, from any object that is one or exports some."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._data import arrow_table
from ._errors import DataError, imported


def record_batches(batches: Any) -> Iterator[Any]:
    """Returns the record batches of an object that is one or exports some."""
    pyarrow = imported("pyarrow", "pip install pyarrow")

    if isinstance(batches, pyarrow.RecordBatch):
        batches = [batches]
    elif isinstance(batches, pyarrow.Table):
        batches = batches.to_batches()
    elif not isinstance(batches, pyarrow.RecordBatchReader) and hasattr(batches, "__arrow_c_stream__"):
        batches = (arrow_table(batches, "batches").to_batches() if not hasattr(batches, "__next__")
                   else pyarrow.RecordBatchReader.from_stream(batches))
    kind = f"{type(batches).__module__}.{type(batches).__qualname__}"
    if not hasattr(type(batches), "__iter__") or isinstance(batches, (str, bytes, dict, np.ndarray)):
        raise DataError(f"invalid batches of type {kind}; "
                        "expected an iterator of pyarrow.RecordBatch, a reader or a table")
    try:
        batches = iter(batches)
    except Exception as error:  # iter() may raise any exception
        raise DataError(f"invalid batches of type {kind} ({error}); expected an iterator of "
                        "pyarrow.RecordBatch, a reader or a table") from error
    for batch in batches:
        if not isinstance(batch, pyarrow.RecordBatch):
            try:
                batch = pyarrow.record_batch(batch)
            except Exception as error:  # other libraries may raise any exception
                raise DataError(f"invalid batch of type {type(batch).__module__}.{type(batch).__qualname__}; "
                                "expected a pyarrow.RecordBatch") from error
        yield batch
