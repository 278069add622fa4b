"""The local web viewer for runs, episodes and rewards.

`app.build_app` makes the application, `pages/` the record of each page, `templates/` its HTML,
`share` one file for a whole run. Pages read the ledger through `ledger` and `report`, write
nothing but the index that may be deleted, and keep no session: the address is the state.
"""
