"""Artifacts, such as screenshots and page texts, stored once under their hash."""

from __future__ import annotations

import hashlib
import re
import threading
import uuid
from pathlib import Path

from assay.errors import BadRecord
from assay.formats.lines import open_file

_SHA256 = re.compile(r"[0-9a-f]{64}")


class Artifacts:
    """The artifacts of one run, stored in sub-folders by the beginning of their hash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._unsynced: set[Path] = set()

    def path(self, sha256: str) -> Path:
        if _SHA256.fullmatch(sha256) is None:
            raise BadRecord(f"{sha256[:80]!r} is not a SHA-256 hash of an artifact")
        return self.folder / sha256[:2] / sha256

    def put(self, data: bytes | str) -> str:
        """Store the content, and return its hash; text is stored as UTF-8.

        Lone surrogates in a text are kept as the three bytes that they would have.
        """
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.path(sha256)
        # A file of another size is what a power cut left of it.
        if path.exists() and path.stat().st_size == len(content):
            return sha256
        new = [folder for folder in (path.parent, self.folder) if not folder.is_dir()]
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{uuid.uuid4().hex}.draft")
        draft.write_bytes(content)
        draft.replace(path)
        with self._lock:
            # A folder that was made for it too: its own name has to be on the disk as well.
            self._unsynced.update((path, *new))
        return sha256

    def get(self, sha256: str) -> bytes:
        """The content of an artifact, checked against its hash."""
        path = self.path(sha256)
        try:
            with open_file(path) as stream:
                content = stream.read()
        except FileNotFoundError as error:
            raise BadRecord(f"no artifact {sha256} is in {str(self.folder)!r}") from error
        actual = hashlib.sha256(content).hexdigest()
        if actual != sha256:
            raise BadRecord(f"{str(path)!r} is damaged: its content has the hash {actual}")
        return content

    def take_unsynced(self) -> set[Path]:
        """The files that were written since the last call and are not yet synced to disk."""
        with self._lock:
            paths, self._unsynced = self._unsynced, set()
        return paths
