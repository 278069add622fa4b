"""Policies: observation in, action out; scripted, replayed, or chosen by a language model."""
