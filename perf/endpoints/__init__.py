"""Attempts against an endpoint that fails: the proof, its server, its agent."""
