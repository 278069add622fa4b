"""Score files and folders in shards, in jobs that can be resumed."""
