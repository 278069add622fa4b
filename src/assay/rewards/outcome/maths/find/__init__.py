"""Where the answer is in a response: boxes, tags and clauses, and what the text says of them."""
