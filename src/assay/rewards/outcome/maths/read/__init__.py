"""The parser: it turns the text of an answer into one typed node."""
