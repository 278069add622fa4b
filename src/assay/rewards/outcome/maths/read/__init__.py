"""What an answer says: its text as one typed node."""
