"""SQL: whether a query gives what the reference query gives, on databases that stay as they are."""
