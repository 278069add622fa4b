"""The steps of one attempt as a file of JSON lines; a run and a bare script write the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from assay.errors import BadRecord
from assay.formats.lines import dump_line, load_record, read_lines
from assay.ledger.migrate import MIGRATIONS, Migration, upgrade
from assay.resources.files import sync_all
from assay.schema.episode import Step
from assay.schema.manifest import RUN_SCHEMA
from assay.schema.secrets import SecretMask


class StepsWriter:
    """Writes steps as they happen, so that a killed attempt still shows what it did.

    `with StepsWriter("steps.jsonl") as steps: steps.write(step)`; an existing file is never
    written over. Closing it makes the file durable.
    """

    def __init__(self, path: str | Path, mask: SecretMask | None = None) -> None:
        """`mask` takes out secrets; without one, steps are written as they are."""
        self._mask = mask
        self.path = Path(path)
        self.n = 0
        self._digest = hashlib.sha256()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._stream = self.path.open("xb")
        except FileExistsError as error:
            raise BadRecord(
                f"{str(self.path)!r} holds the steps of another attempt; choose another name"
            ) from error

    @property
    def sha256(self) -> str:
        """The hash of the file so far."""
        return self._digest.hexdigest()

    def write(self, step: Step) -> None:
        """The step is in the file, for any reader and whatever happens to this process."""
        line = dump_line({"schema_id": RUN_SCHEMA, **step.model_dump()})
        if self._mask is not None:
            line = self._mask.bytes(line)
        self._stream.write(line)
        self._stream.flush()
        self._digest.update(line)
        self.n += 1

    def close(self, *, durable: bool = True) -> None:
        """The file is complete; without `durable` somebody else takes care of the disk."""
        if self._stream.closed:
            return
        self._stream.close()
        if durable:
            sync_all([self.path])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_steps(path: str | Path, *, migrations: Sequence[Migration] = MIGRATIONS) -> Iterator[Step]:
    """The steps in the file, in order; one that is still being written is not there yet."""
    for line in read_lines(Path(path)):
        yield load_step(line.data, f"{str(path)!r} line {line.number}", migrations)


def load_step(data: bytes, where: str, migrations: Sequence[Migration] = MIGRATIONS) -> Step:
    """The step of a line; raises `BadRecord`, with the place, if it holds none."""
    try:
        return Step.model_validate(upgrade(load_record(data), "step", migrations))
    except (BadRecord, ValidationError) as error:
        raise BadRecord(f"{where}: {error!s:.300}") from error
