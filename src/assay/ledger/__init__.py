"""Memory: run folders, append-only episodes, steps, artifacts, a disposable index, import, export.

`writer.RunWriter` writes a run, `run.Run` reads it, `summary.summarise` counts it; the rest of the
room is how. Looking at results imports nothing that could run an agent.
"""
