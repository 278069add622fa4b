"""Temporary folders: a killed process's are removed, a living one's and a stranger's are not."""

import subprocess
import sys
import tempfile
from pathlib import Path

from assay.resources.scratch import scratch_prefix

MAKE = """
import sys, tempfile
from pathlib import Path
from assay.resources.scratch import scratch_prefix
folder = Path(sys.argv[1])
print(tempfile.mkdtemp(dir=folder, prefix=scratch_prefix("test", folder)), flush=True)
sys.stdin.read()
"""


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    call = [sys.executable, "-c", MAKE, str(tmp_path)]
    with subprocess.Popen(
        call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        theirs = Path(process.stdout.readline().strip())
        (theirs / "file").write_text("x")
        mine = Path(tempfile.mkdtemp(dir=tmp_path, prefix=scratch_prefix("test", tmp_path)))
        assert theirs.is_dir(), "its process lives"
        process.kill()
        process.wait()
    strangers = [tmp_path / "assay-test-x", tmp_path / "assay-test-00000000-1-1-x"]
    for folder in strangers:
        folder.mkdir()
    (tmp_path / theirs.name.replace("-test-", "-link-")).symlink_to(mine)
    scratch_prefix("test", tmp_path)
    assert not theirs.exists()
    assert mine.is_dir()
    assert all(folder.is_dir() for folder in strangers)
