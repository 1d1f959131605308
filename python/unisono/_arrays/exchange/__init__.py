"""Exchanging arrays with NumPy and other libraries, and making them of buffers, iterables and text."""
