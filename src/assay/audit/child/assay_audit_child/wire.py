"""`assay/isolation/frames.py`, loaded by its path.

The target's interpreter may have no Assay, or another one than the audit's.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any


def _load_frames() -> Any:
    path = Path(__file__).resolve().parents[3] / "isolation" / "frames.py"
    spec: Any = importlib.util.spec_from_file_location("assay_frames", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from assay.isolation import frames as frames
else:
    frames = _load_frames()
