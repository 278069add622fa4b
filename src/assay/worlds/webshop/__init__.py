"""WebShop in plain Python, without Lucene, spaCy and Flask."""
