"""What each page says: a frozen record, built from the reader, rendered as HTML or as JSON."""
