"""Kernels of CUDA C and OpenCL C text on every device: the text becomes the syntax tree of a `unisono.kernel`.

`lexer` makes tokens and expands macros, `parser` makes a tree of C, `translate` (with `statements`, `declarations`,
`expressions`, `calls`, `arithmetic` and the words of `words` and `complex_words`) makes Python's syntax tree of it, with the
places of the C text, and `kernels` has what users call. The subset of C is the one that can be checked everywhere:
numbers, complex ones too, vectors, structs (`records`, `vectors`), warp functions (`warps`), arrays, pointers into them, control flow, functions,
templates; no pointers in memory.
"""
