"""Environments made of text: ScienceWorld, ALFWorld, WebShop."""
