"""The engine room: where work is planned, run in parallel, and resumed."""
