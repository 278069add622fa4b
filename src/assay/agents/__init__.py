"""Policies: observation in, action out; scripted, replayed, or asked of a language model."""
