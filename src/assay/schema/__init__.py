"""Frozen records of everything that touches disk or wire, without behaviour.

The modules are imported one by one where they are used: scores and evidence are standard library
only, the records of the ledger bring pydantic.
"""
