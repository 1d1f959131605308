"""NumPy's functions over arrays, by topic."""
