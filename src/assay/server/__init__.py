"""Scoring over HTTP: the server, its worker processes, and the client."""
