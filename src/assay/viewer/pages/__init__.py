"""What each page says: a frozen record, built from the archive, rendered as HTML or as JSON."""
