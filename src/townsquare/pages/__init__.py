"""The sites of the town's web: each turns the records and a request into a response."""
