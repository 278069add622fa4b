"""`python -m perf.endpoints`: the proof of `perf/endpoints/proof.py`."""

from perf.endpoints.proof import main

main()
