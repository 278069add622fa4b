"""Short factual answers: AssistantBench's scorer, restated, and a graded fuzzy match."""
