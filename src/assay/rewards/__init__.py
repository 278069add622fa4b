"""Judgement: named, versioned functions from what happened to a score."""
