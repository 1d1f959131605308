"""Finds the text of code that lies in no file: that of ``python -c``, standard input, the prompt and ``exec``.

Python keeps no such text before 3.13, and that of ``exec`` in no version. It is looked for where it still
is: in the command line, in standard input where that is a file, in the buffer that a pipe was read into,
in the prompt's history, in names and constants of the functions that run `exec`, and among the texts that
Python compiled since the package was imported, of which the engine keeps the last two megabytes. What is
found is only taken where it compiles to the code that runs.
"""

from __future__ import annotations

import collections
import functools
import inspect
import linecache
import os
import re
import stat
import sys
import tokenize
import weakref

from .. import _engine

_most_letters = 1 << 20  # of a text that is kept
_most_lines = 20000  # of the prompt's history that are read
_around = weakref.WeakKeyDictionary()  # texts that were at hand where a function was decorated
_written = {}  # those of modules that this package wrote, by the names of their files
_recent = collections.deque(maxlen=64)  # the same, for the functions that those call
# Files whose texts nobody needs any more. They go with the next text: the last owner may be collected while linecache
# walks over its texts.
_forgotten = collections.deque()


def is_unfiled(file):
    return file[:1] == "<" and file[-1:] == ">"


def note(function):
    """Keep the texts that a function may have been compiled from, while `exec` still runs them."""
    code = function.__code__
    if not is_unfiled(code.co_filename) or _is_listed(function):
        return
    texts = tuple(dict.fromkeys(_texts_of_callers(word_of(function))))
    if texts:
        _around[function] = texts
        for text in texts:
            if text not in _recent:
                _recent.append(text)


def keep(file, text):
    """Keep the text of a module that lies in no file, as long as its caller says; Python may forget it."""
    while _forgotten:
        gone = _forgotten.popleft()
        _written.pop(gone, None)
        linecache.cache.pop(gone, None)
    _written[file] = text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)


def forget(file):
    """What `keep` kept is not needed any more; finalizers may call this at any time."""
    _forgotten.append(file)


def word_of(function):
    """What stands in any text that defines the function."""
    name = function.__code__.co_name
    return "lambda" if name == "<lambda>" else f"def {name}"


def texts_for(function):
    """Yield texts that may define the function, the likeliest first."""
    file, word = function.__code__.co_filename, word_of(function)
    if not is_unfiled(file):
        return
    if file in _written:
        yield _written[file]
        return
    given = [*_around.get(function, ()), *reversed(_recent)]
    if file == "<string>":
        given += _texts_of_command()
        given += (t.decode(errors="replace") for t in _engine._noted_texts())
    elif file == "<stdin>":
        given += [_text_of_input(), *_texts_of_buffer()]
        given += _statements_of_prompt(word)
    yield from (text for text in dict.fromkeys(given) if word in text)


def advice(file):
    """What to do about a function whose text is not found."""
    if file == "<stdin>":
        return "write the program to a file, or define the function in a notebook cell"
    if is_unfiled(file):
        return "give `exec` a text that a name still holds (text = ...; exec(text)), or define the function in a file"
    return "define it in a file or in a notebook cell"


def _is_listed(function):
    """Whether Python itself has the line where the function begins, as notebooks and doctest give it."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    begin = code.co_firstlineno - 1
    first = lines[begin] if begin < len(lines) else ""
    return word_of(function) in first or first.lstrip().startswith("@")


def _texts_of_callers(word):
    """Texts that names and constants of the running functions hold."""
    frame = sys._getframe(1)
    while frame is not None:
        held = (*frame.f_code.co_consts, *frame.f_locals.values())
        yield from (v for v in held if type(v) is str and len(v) <= _most_letters and word in v)
        frame = frame.f_back


def _texts_of_command():
    """Arguments of the command, one of which is what ``-c`` runs."""
    for given in sys.orig_argv[1:]:
        yield given
        if given[:1] == "-" and "c" in given:  # -cprint(1), -uc print(1)
            yield given[given.index("c") + 1 :]


@functools.cache
def _text_of_input():
    """Standard input where it is a file, without moving in it."""
    try:
        found = os.fstat(0)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _most_letters:
            return ""
        return os.pread(0, found.st_size, 0).decode()
    except (OSError, UnicodeDecodeError, AttributeError):
        return ""


def _texts_of_buffer():
    """What the C library read last from standard input; behind it may lie what the memory held before."""
    text = _engine._input_buffer().decode(errors="replace")
    text = re.split(r"[^\t\n\f\r -\x7e\x80-\ufffc]", text, maxsplit=1)[0]
    yield text
    yield text[: text.rfind("\n") + 1]


def _statements_of_prompt(word):
    """Lines of the prompt's history from each one with the word, the newest first; those of one statement
    follow each other."""
    history = sys.modules.get("readline")
    if history is None:
        return
    count = history.get_current_history_length()
    lines = [
        history.get_history_item(k) or "" for k in range(max(1, count - _most_lines), count + 1)
    ]
    for k in reversed(range(len(lines))):
        if word in lines[k]:
            yield "\n".join(lines[k : k + 1000]) + "\n"


def definitions(text, name):
    """Yield the lines of each definition of that name in a text, without decorators, and the first one's number."""
    lines = text.splitlines(keepends=True)
    begins = re.compile(rf"\s*def\s+{re.escape(name)}\b")
    for k, line in enumerate(lines):
        if begins.match(line):
            try:
                yield inspect.getblock(lines[k:]), k + 1
            except (SyntaxError, tokenize.TokenError):
                continue
