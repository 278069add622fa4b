"""One reading of what a model wrote, and the tables of words that it is read with."""
