"""SQL: rewards that compare the result of a query with the reference query's result."""
