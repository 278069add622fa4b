"""The web research agent: it reads a page, asks a model and acts."""
