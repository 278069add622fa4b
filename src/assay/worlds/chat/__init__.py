"""Conversations with tools, as an environment."""
