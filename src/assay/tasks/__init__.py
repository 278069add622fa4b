"""Where tasks come from: files, public data sets, and the environments' own lists."""
