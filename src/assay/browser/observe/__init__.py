"""Observation of pages: requests, events, snapshots, digests and pictures."""
