"""How a notebook shows an array: what it is, and a table of its corners."""

from html import escape

import unisono as un

from .._printing import text_layout as _text_layout
from .._printing.formatting import get_printoptions


def array_html(x):
    """HTML of an array: shape, dtype and device, and the elements at the ends of its axes."""
    about = f"shape {tuple(x.shape)}, {x.dtype.name}, on {x.device}"
    if x.ndim == 0 or x.size == 0:
        text = f" <code>{escape(str(x))}</code>" if x.size else ""
        return f"<div>array of {escape(about)}{text}</div>"
    options = {**get_printoptions(), "floatmode": "maxprec"}
    edge = max(options["edgeitems"], 1)
    shown = _text_layout.corners(x, edge).to_device("cpu")
    rows = shown.tolist()
    write, of_ours = _text_layout.formatter(_text_layout.flat(rows, x.ndim), shown, options)
    planes = [()]
    for n in x.shape[:-2]:
        planes = [(*p, k) for p in planes for k in ((0, n - 1) if n > 1 else (0,))]
    planes = planes if len(planes) < 3 else [planes[0], planes[-1]]
    tables = "".join(_table(x, rows, plane, edge, write, of_ours) for plane in planes)
    return f"<div>array of {escape(about)}{tables}</div>"


def _places(n, edge):
    """Pairs of an index and its place among those that show; None where indices are left out."""
    if n <= 2 * edge:
        return [(k, k) for k in range(n)]
    ends = [(n - edge + k, edge + k) for k in range(edge)]
    return [(k, k) for k in range(edge)] + [None] + ends


def _table(x, rows, plane, edge, write, of_ours):
    for index in plane:
        rows = rows[0 if index == 0 else -1]
    shape = x.shape[len(plane) :]
    if len(shape) == 1:
        rows, shape = [rows], (1, *shape)
    columns = _places(shape[1], edge)
    head = "".join(f"<th>{'…' if c is None else c[0]}</th>" for c in columns)
    made = [f"<tr><th></th>{head}</tr>"]
    for r in _places(shape[0], edge):
        if r is None:
            made.append("<tr><th>⋮</th>" + "<td>⋮</td>" * len(columns) + "</tr>")
            continue
        cells = ("…" if c is None else _text(rows[r[1]][c[1]], x, write, of_ours) for c in columns)
        name = r[0] if x.ndim > 1 else ""
        made.append(f"<tr><th>{name}</th>" + "".join(f"<td>{c}</td>" for c in cells) + "</tr>")
    caption = f"<caption>[{', '.join(map(str, plane))}, :, :]</caption>" if plane else ""
    return f"<table>{caption}{''.join(made)}</table>"


def _text(value, x, write, of_ours):
    return escape(write(un.asarray(value, dtype=x.dtype)[()] if of_ours else value).strip())
