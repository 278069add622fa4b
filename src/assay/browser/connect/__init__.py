"""Scores for the steps of a browser that somebody else drives."""
