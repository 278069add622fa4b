"""What a page is and what it did: requests, events, snapshots, digests, pictures."""
