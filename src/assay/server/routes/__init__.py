"""The routes, one module for each; `app.ROUTES` lists them."""
