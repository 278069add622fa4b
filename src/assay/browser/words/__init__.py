"""The words of labels, notices and errors in many languages."""
