"""Structured answers: whether a response is the JSON that the task asks for."""
