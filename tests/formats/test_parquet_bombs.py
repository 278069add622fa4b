"""Small files that unpack to much: memory stays bounded, or they are refused in words."""

import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.errors import BadRecord
from assay.formats import parquet

READ = """
import resource, sys
from pathlib import Path
from assay.formats import parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
rows = 0
for row in parquet.read_rows(Path(sys.argv[1]), 0):
    rows += 1
    if rows == 100:
        break
print(rows, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_one_long_text_for_many_rows_is_unpacked_a_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * 2_000, pa.int32()), pa.array(["x" * (12 * 2**20)])
    )
    table = pa.table({"final_response": texts})
    pq.write_table(table, path, compression="zstd", dictionary_pagesize_limit=2**30)
    assert path.stat().st_size < 10_000
    call = [sys.executable, "-c", READ, str(path)]
    limit = 8 * 2**30
    done = subprocess.run(
        call,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    rows, megabytes = map(int, done.stdout.split())
    assert rows == 100
    assert megabytes < 1_000


def test_a_row_group_that_unpacks_to_far_more_than_it_is_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "BOMB_BYTES", 2**20)
    path = tmp_path / "bomb.parquet"
    table = pa.table({"final_response": ["x" * 2**20] * 30})
    pq.write_table(table, path, compression="zstd", use_dictionary=False)
    for read in (parquet.count_rows, lambda source: list(parquet.read_rows(source, 0))):
        with pytest.raises(BadRecord, match=r"row group 0 unpacks from [\d,]+ to 31,\d+,\d+ bytes"):
            read(path)


def test_usual_rows_are_read_as_they_were(tmp_path: Path) -> None:
    rows = [{"final_response": f"answer {n}", "answer": str(n)} for n in range(1_000)]
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert list(parquet.read_rows(path, 0)) == rows
