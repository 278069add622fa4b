"""Load tasks from files and from public data sets."""
