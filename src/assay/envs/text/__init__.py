"""Worlds made of text: ScienceWorld, ALFWorld, WebShop."""
