"""WebShop without Lucene, spaCy and Flask: catalogue, search, pages, goals and score."""
