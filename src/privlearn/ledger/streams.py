"""Batches of a stream, each released once."""

from __future__ import annotations

from privlearn.exceptions import LedgerError
from privlearn.ledger.records import Records

__all__ = ["advance_in"]


def advance_in(records: Records, stream: str, batch: int) -> None:
    """Count the next batch of a stream, or refuse any other."""
    found = records.stream(stream)
    if found is None:
        raise LedgerError(
            f"this stream is not registered in the ledger {records.path}, so no batch may be "
            "released; start it again with this ledger, which charges it"
        )
    state, expected = found
    if batch != expected:
        raise LedgerError(
            f"batch {batch} of a stream was to be released, but the ledger {records.path} "
            f"expects batch {expected}: a copy of the stream has gone on, or this one is "
            "old; go on with the newest copy, or start a new stream"
        )
    records.write_stream(stream, state, expected + 1)
