"""Where tasks come from: the town, files, public data sets, and the worlds' own lists."""
