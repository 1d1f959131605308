"""The annotated page of a compiled function, and the same as text: what `annotate` and `explain` return.

The page is one HTML file without scripts or outside files: each source line opens to what became of it. Colours come from
variables, once for light and once for dark; each class of cost also has its word, so that colour alone says nothing.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from html import escape

from .anatomy import CLASSES, versions_of

_WORDS = {
    "none": "",
    "once": "once",
    "vector": "vector",
    "scalar": "scalar",
    "tested": "tested",
    "called": "calls",
}

_STYLE = """
.unisono{--fg:#1d2433;--dim:#5c6577;--bg:#ffffff;--card:#f6f7f9;--rule:#dfe3ea;--key:#7a3e9d;--str:#1a6e3c;--num:#9a4a00;
--com:#6a7282;--none:transparent;--once:#c9d2de;--vector:#3aa76d;--scalar:#e0a100;--tested:#e2701e;--called:#cf3d4e;
--w-vector:#14683c;--w-scalar:#765300;--w-tested:#9a4300;--w-called:#a81f32;
color:var(--fg);background:var(--bg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;text-align:left}
@media (prefers-color-scheme:dark){.unisono{--fg:#e3e7ef;--dim:#9aa4b6;--bg:#14171d;--card:#1d222b;--rule:#313846;
--key:#cf9be8;--str:#7fd19b;--num:#f0b072;--com:#8f99ab;--once:#475164;--vector:#3aa76d;--scalar:#d9a514;--tested:#ea8034;
--called:#ea5a6b;--w-vector:#74d6a0;--w-scalar:#f0c54b;--w-tested:#f7a468;--w-called:#ff8d9a}}
.unisono *{box-sizing:border-box}
.unisono h1{font-size:1.35rem;margin:0 0 .2rem}.unisono h2{font-size:1rem;margin:1.6rem 0 .5rem;overflow-wrap:anywhere}
.unisono p{margin:.2rem 0;color:var(--dim)}
.unisono .legend{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;list-style:none;padding:0;margin:.8rem 0;font-size:.85rem}
.unisono .legend i{display:inline-block;width:.8em;height:.8em;border-radius:.2em;margin-right:.45em;background:var(--c)}
.unisono .legend .none i{outline:1px solid var(--rule)}
.unisono .none{--c:var(--none)}.unisono .once{--c:var(--once)}.unisono .vector{--c:var(--vector);--w:var(--w-vector)}
.unisono .scalar{--c:var(--scalar);--w:var(--w-scalar)}.unisono .tested{--c:var(--tested);--w:var(--w-tested)}
.unisono .called{--c:var(--called);--w:var(--w-called)}
.unisono .code{border:1px solid var(--rule);border-radius:.5rem;overflow:hidden;background:var(--bg)}
.unisono .line{border-left:.35rem solid var(--c)}
.unisono .line>summary,.unisono div.line{display:grid;grid-template-columns:3.8rem 4.4rem minmax(0,1fr);
align-items:baseline;list-style:none;padding:.05rem .6rem .05rem 0;background:color-mix(in srgb,var(--c) var(--heat,0%),transparent)}
.unisono .line>summary{cursor:pointer}.unisono .line>summary::-webkit-details-marker{display:none}
.unisono .line>summary:hover{background:color-mix(in srgb,var(--dim) 16%,transparent)}
.unisono .line>summary:focus-visible{outline:2px solid var(--key);outline-offset:-2px}
.unisono .no{color:var(--dim);text-align:right;padding-right:.8rem;font:12px/1.6 ui-monospace,Menlo,Consolas,monospace}
.unisono summary .no::before{content:"▸";float:left;padding-left:.5rem}
.unisono .line[open]>summary .no::before{content:"▾"}
.unisono .line[open] .no,.unisono summary:hover .no{color:var(--fg)}
.unisono .word{font-size:.74rem;color:var(--w,var(--dim));font-weight:600;white-space:nowrap}
.unisono code,.unisono pre{font:13px/1.6 ui-monospace,Menlo,Consolas,monospace;margin:0}
.unisono .line code{white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;padding:0}
.unisono .k{color:var(--key)}.unisono .s{color:var(--str)}.unisono .n{color:var(--num)}.unisono .c{color:var(--com);font-style:italic}
.unisono .more{margin:.2rem .8rem .7rem 3.8rem;padding:.6rem .8rem;background:var(--card);border-radius:.4rem;font-size:.88rem}
.unisono dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:0}
.unisono dt{font-weight:600}.unisono dd{margin:0;overflow-wrap:anywhere}
.unisono .types{color:var(--dim);margin-top:.4rem}.unisono .types b{color:var(--fg);font-weight:600}
.unisono .text{margin-top:.45rem}.unisono .text>summary{cursor:pointer;color:var(--dim)}
.unisono .text pre{overflow-x:auto;max-height:24rem;padding:.4rem 0 .2rem;color:var(--fg);background:none}
"""


class Annotation(str):
    """The page as text of HTML; a notebook shows it."""

    __slots__ = ()

    def __repr__(self):
        return f"<annotated page, {len(self)} characters of HTML>"

    def _repr_html_(self):
        return self.partition("<body>")[2].partition("</body>")[0]


class Report(str):
    """Text that a prompt shows as it is, and a notebook as the annotated source."""

    _page = ""

    __repr__ = str.__str__

    def _repr_html_(self):
        return self._page


def annotated(function, path, profile=None):
    """The page; written to `path` where one is given."""
    measured = None if profile is None else _measured(function, profile)
    versions = versions_of(function)
    if measured:
        for version in versions:
            _note_times(version, *measured)
    made = Annotation(_page(function.__name__, versions))
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(made)
    return made


def _measured(function, arguments):
    """(samples by file and line, samples of all code, seconds of a call)"""
    import time

    from . import JitFunction

    if not isinstance(arguments, tuple):
        raise TypeError(
            f"annotate: profile takes a tuple of arguments; got {type(arguments).__name__}; write profile=(a, b)"
        )
    if not isinstance(function, JitFunction):
        raise TypeError(
            f"annotate: only functions that jit made are measured; got {type(function).__name__}; leave profile out"
        )
    lined = JitFunction(
        function.py_func, False, None, function._options_given, True, flatten=function._flatten
    )
    given = [x.copy() if hasattr(x, "copy") and hasattr(x, "dtype") else x for x in arguments]
    function(*given)  # the page tells of it
    lined(*given)
    spent = []

    def repeat():
        begin = now = time.perf_counter()
        while now < begin + 1.0:
            lined(*given)
            before, now = now, time.perf_counter()
            spent.append(now - before)

    lines, total = lined._sampled(repeat)
    return {(file, line): count for file, line, count in lines}, total, min(spent)


def _note_times(version, counts, total, seconds):
    """Adds to the lines their shares in a call."""
    for part in version.parts:
        for line in part.lines:
            count = counts.get((part.file, line.number), 0)
            if count and total:
                line.share = count / total
                text = f"{count} of {total} samples; a call takes {_time(seconds)}"
                line.notes.insert(0, ("time", f"{line.share:.1%} of the time: {text}"))


def _time(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def explained(function):
    """The notes of each line as text."""
    versions = versions_of(function)
    made = Report("\n".join(_text(version) for version in versions))
    made._page = _body(function.__name__, versions)
    return made


def _text(version):
    lines = [version.signature]
    for k, part in enumerate(version.parts):
        if k and not any(line.notes for line in part.lines):
            continue
        if k:
            lines.append(f"  in {part.name}:")
        for line in part.lines:
            if line.notes:
                lines.append(f"  {line.number:4} | {line.text.strip()}")
                lines += [f"         {word}: {note}" for word, note in line.notes]
    return "\n".join(lines)


def _page(name, versions):
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(name)}: what became of each line</title><style>body{{margin:0}}"
        "body>.unisono{max-width:76rem;margin:auto;padding:1.5rem;min-height:100vh}"
        "html{background:#fff}@media (prefers-color-scheme:dark){html{background:#14171d}}</style></head>"
        f"<body>{_body(name, versions)}</body></html>\n"
    )


def _body(name, versions):
    legend = "".join(f'<li class="{c}"><i></i>{escape(text)}</li>' for c, text in CLASSES.items())
    made = [
        f'<style>{_STYLE}</style><main class="unisono"><h1>{escape(name)}</h1>',
        "<p>What became of each line. Open one to see why, and its generated code.</p>",
        f'<ul class="legend" aria-label="Cost of a line">{legend}</ul>',
    ]
    for version in versions:
        for k, part in enumerate(version.parts):
            title = version.signature if k == 0 else f"{part.name}, called by it"
            made.append(f"<h2>{escape(title)}</h2><p>{escape(part.file)}</p>")
            made.append('<div class="code">')
            shown = _coloured(part)
            made += [_line(line, text) for line, text in zip(part.lines, shown, strict=True)]
            made.append("</div>")
    return "".join([*made, "</main>"])


def _line(line, shown):
    word = _WORDS[line.cost]
    heat = 0 if line.cost in ("none", "once") else min(6 + 6 * line.depth, 24)
    if line.share is not None:
        heat, word = round(100 * line.share), f"{word} {line.share:.0%}".strip()
    row = f'<span class="no">{line.number}</span><span class="word">{word}</span><code>{shown or " "}</code>'
    style = f' style="--heat:{heat}%"' if heat else ""
    inside = _details(line)
    if not inside:
        return f'<div class="line {line.cost}"{style}>{row}</div>'
    about = f'title="{escape(CLASSES[line.cost])}"'
    return (
        f'<details class="line {line.cost}"{style}><summary {about}>{row}</summary>'
        f'<div class="more">{inside}</div></details>'
    )


def _details(line):
    made = ""
    if line.notes:
        rows = "".join(f"<dt>{escape(w)}</dt><dd>{escape(note)}</dd>" for w, note in line.notes)
        made += f"<dl>{rows}</dl>"
    if line.types:
        names = ", ".join(f"<b>{escape(n)}</b>: {escape(t)}" for n, t in line.types.items())
        made += f'<p class="types">{names}</p>'
    for title, text in (
        ("kernel IR", line.ir),
        ("LLVM IR", line.llvm),
        ("machine code", line.assembly),
    ):
        if text:
            made += (
                f'<details class="text"><summary>{title}, {len(text)} line{"s" * (len(text) > 1)}'
                f"</summary><pre>{escape(chr(10).join(text))}</pre></details>"
            )
    return made


def _coloured(part):
    """HTML of each line's text: keywords, strings, numbers, comments in spans."""
    texts = [line.text.rstrip() for line in part.lines]
    marks = [[] for _ in texts]  # of each line: begin, end, class
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join(texts) + "\n").readline):
            kind = _kind(token)
            if not kind:
                continue
            (row, begin), (last, end) = token.start, token.end
            for r in range(row, last + 1):
                stop = end if r == last else len(texts[r - 1])
                marks[r - 1].append((begin if r == row else 0, stop, kind))
    except (tokenize.TokenError, SyntaxError):  # a lambda cut out of its statement
        pass
    return [_spans(text, found) for text, found in zip(texts, marks, strict=True)]


def _kind(token):
    if token.type == tokenize.COMMENT:
        return "c"
    if token.type == tokenize.STRING:
        return "s"
    if token.type == tokenize.NUMBER:
        return "n"
    return "k" if token.type == tokenize.NAME and keyword.iskeyword(token.string) else ""


def _spans(text, marks):
    made, at = "", 0
    for begin, end, kind in marks:
        made += f'{escape(text[at:begin])}<span class="{kind}">{escape(text[begin:end])}</span>'
        at = end
    return made + escape(text[at:])
