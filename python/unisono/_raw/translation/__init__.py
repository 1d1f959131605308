"""A tree of C to that of a Python function: `functions` is the context of one, which the other modules take.

They are `statements`, `declarations`, `expressions`, `calls` and `arithmetic`, the words of `words` and `complex_words`,
structs (`records`), vector types (`vectors`) and warp functions (`warps`).
"""
