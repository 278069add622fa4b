"""Scoring files and folders: rows in shards, results and counts for each, jobs that resume."""
