"""C text to a tree: `lexer` makes tokens and expands macros, `parser` makes the tree, of the kinds in `nodes`."""
