"""HTTP routes of the server; `app.ROUTES` lists the modules."""
