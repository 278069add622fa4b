"""Logs that other tools write themselves, of one set of questions against a scripted endpoint.

Each module runs in an environment of its own, which has its tool and nothing of Assay:
`python -m tools.foreign_logs.NAME FOLDER`, from the root of the repository.
"""
