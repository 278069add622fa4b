"""Worlds and the tools beside them."""
