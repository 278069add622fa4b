"""The benchmarks that come with Assay: one TOML file each."""

from pathlib import Path

_FOLDER = Path(__file__).parent

ALFWORLD = _FOLDER / "alfworld.toml"
ASSISTANTBENCH = _FOLDER / "assistantbench.toml"
MINIWOB = _FOLDER / "miniwob.toml"
SCIENCEWORLD = _FOLDER / "scienceworld.toml"
WEBSHOP = _FOLDER / "webshop.toml"
