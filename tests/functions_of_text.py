"""Functions whose source is a text that a test makes."""

import linecache


def function_of(text, name, file, **scope):
    """The function ``name`` that the text defines, with its lines where compilers look for them."""
    exec(compile(text, file, "exec"), scope)
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return scope[name]
