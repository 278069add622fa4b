"""Runs one reward on request, over a pipe, within limits."""
