"""Kernels of CUDA C and OpenCL C text on every device: the text becomes the syntax tree of a `unisono.kernel`.

`syntax` makes a tree of C, `translation` makes Python's syntax tree of it, with the places of the C text, and `kernels` has
what users call; `elementwise`, `reduction` and `scan` write texts for it. The subset of C is the one that can be checked
everywhere: numbers, complex ones too, vectors, structs, warp functions, arrays, pointers into them, control flow, functions,
templates; no pointers in memory.
"""
