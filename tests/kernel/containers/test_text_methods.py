"""Methods of str on plain and other texts, against Python: most run without the interpreter."""

import pytest
import unisono as un

TEXTS = [
    "",
    "a",
    "Hello, World",
    "  spaced\tout \x1f\n",
    "ABC",
    "abc123",
    "123",
    "\x0b\x1c ",
    "na\xefve",
    "\xc9t\xe9 \u0660\u0661",
    "stra\xdfe",
    "a,b,,c,",
    "xyxxy",
    "\u2003em",
]


def predicates(s):
    return (
        s.isdigit(),
        s.isalpha(),
        s.isalnum(),
        s.isspace(),
        s.isupper(),
        s.islower(),
        s.isascii(),
        s.isdecimal(),
        s.isnumeric(),
    )


def letters(s):
    return s.lower(), s.upper(), s.swapcase(), s.capitalize(), s.casefold(), s.title()


def stripped(s):
    return s.strip(), s.lstrip(), s.rstrip(), s.strip("ayx"), s.lstrip("\xefa"), s.rstrip("c,")


def searches(s):
    return (
        s.find("x"),
        s.find(""),
        s.find("xy", 1),
        s.find("x", 1, 3),
        s.find("", 20),
        s.find("x", -3),
        s.rfind("x"),
        s.rfind("x", 0, -1),
        s.count("x"),
        s.count(""),
        s.count("x", 1),
        s.count("", 2, 1),
        s.startswith("a"),
        s.startswith("", 50),
        s.startswith("b", 1),
        s.endswith("c"),
        s.endswith(","),
        s.endswith("l", 0, 3),
    )


def parts(s):
    return (
        s.replace("x", "long"),
        s.replace(",", ""),
        s.replace("", "-"),
        s.replace("x", "y", 1),
        s.removeprefix("a"),
        s.removesuffix(","),
        s.removesuffix(""),
    )


def lists(s):
    return s.split(), s.split(","), s.split("xx"), list(s)


@pytest.mark.parametrize("f", [predicates, letters, stripped, searches, parts, lists])
def test_like_python(f):
    compiled = un.jit(f)
    for text in TEXTS:
        assert compiled(text) == f(text), text


NUMBERS = ["12", " -7\n", "+3", "1_000", "", "-", "+-1", "12a", "\u0661", "999999999999999999"]
NUMBERS += ["9223372036854775807", "1.5", ".5", "5.", "-1e-3", "1e400", "nan", "inf", "1e", "0x10"]


@pytest.mark.parametrize("kind", [int, float], ids=["int", "float"])
def test_numbers(kind):
    @un.jit
    def f(s):
        return kind(s)

    for text in NUMBERS:
        try:
            wanted = kind(text)
        except ValueError:
            with pytest.raises(ValueError, match=""):
                f(text)
        else:
            got = f(text)
            assert type(got) is kind
            assert repr(got) == repr(wanted)


def bounds_left_out(s, start, end):
    return (
        s.find("x", start, end),
        s.rfind("x", None, end),
        s.count("x", start),
        s.startswith("x", None, None),
        s.endswith("x", start, None),
    )


def parts_by_keyword(s, n):
    return (
        ".".join(s.split(maxsplit=n)),
        ".".join(s.split(",", maxsplit=1)),
        ".".join(s.rsplit(None, 1)),
        ".".join(s.rsplit(sep=",", maxsplit=n)),
        ".".join(s.split(None)),
        "|".join(s.splitlines(keepends=True)),
        "-".join(s),
        s.strip(None),
        s.istitle(),
        s.isprintable(),
    )


@pytest.mark.parametrize("text", TEXTS)
def test_none_and_keywords(text):
    for start, end in ((None, None), (None, 3), (1, None), (-2, 4)):
        want = bounds_left_out(text, start, end)
        assert un.jit(bounds_left_out)(text, start, end) == want
    assert un.jit(parts_by_keyword)(text, 1) == parts_by_keyword(text, 1)


def test_keywords_that_are_not_known():
    @un.jit
    def f(s):
        return len(s.split(limit=1))

    with pytest.raises(un.CompileError, match="split takes no keyword 'limit'"):
        f("a b")
