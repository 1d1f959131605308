"""``axes``, ``axis`` and ``keepdims`` of functions over items: the axes of an item that are not the last ones."""

from __future__ import annotations

from .._arrays import ufunc as _ufunc


def with_axes(function, args, out, axes, axis, keepdims):
    """Call `function` with the axes of its items moved to the end; put those of its results back."""
    import unisono as un

    name, inputs, outputs = function.__name__, function._inputs, function._outputs
    operands = args[: function.nin]
    if len(operands) < function.nin:
        raise TypeError(f"{name}: takes {function.nin} operands; got {len(operands)}; give all")
    given = args[function.nin :] or (out if isinstance(out, tuple) else (out,) * function.nout)
    targets = [None if t is None else _ufunc.as_array(t) for t in given]
    targets += [None] * (function.nout - len(targets))
    if axes is not None and axis is not None:
        raise TypeError(f"{name}: takes axes= or axis=; got both; leave one out")
    if keepdims and (any(outputs) or len({len(i) for i in inputs}) > 1):
        raise TypeError(
            f"{name}: keepdims= is for layouts whose results are numbers and whose operands have as many axes each; "
            f"got {function.signature}; leave it out"
        )
    places = _places(function, axes, axis, keepdims)
    last = lambda n: tuple(range(-n, 0))  # noqa: E731
    moved = [  # a number without axes stays one, whose dtype the signature decides
        un.moveaxis(_ufunc.as_array(x), p, last(len(p))) if p else x
        for x, p in zip(operands, places, strict=False)
    ]
    behind = places[function.nin :]
    if keepdims:  # the axes stay, with extent 1
        results = function._over_items(tuple(moved), None)
        results = [results] if function.nout == 1 else list(results)
        for k, p in enumerate(behind):
            full = un.reshape(
                un.asarray(results[k], copy=False), (*un.shape(results[k]), *(1 for _ in p))
            )
            results[k] = un.moveaxis(full, last(len(p)), p)
            if targets[k] is not None:
                targets[k][...] = results[k]
                results[k] = given[k]
    else:
        into = [
            t if t is None else un.moveaxis(t, p, last(len(p)))
            for t, p in zip(targets, behind, strict=True)
        ]
        results = function._over_items(tuple(moved), tuple(into))
        results = [results] if function.nout == 1 else list(results or ())
        for k, p in enumerate(behind):
            is_given = targets[k] is not None
            results[k] = given[k] if is_given else un.moveaxis(results[k], last(len(p)), p)
    if not function.nout:
        return None
    return results[0] if function.nout == 1 else tuple(results)


def _places(function, axes, axis, keepdims):
    """Where the axes of an item lie, of each operand and result."""
    name, layouts = function.__name__, function._inputs + function._outputs
    if axes is None:
        counts = {len(names) for names in layouts}
        if axis is not None and not counts <= {0, 1}:
            raise TypeError(
                f"{name}: axis= is for layouts of one axis; got {function.signature}; give axes=, a tuple for each operand"
            )
        at = -1 if axis is None else axis
        made = [(at,) if names else () for names in layouts]
        if axis is None:
            made = [tuple(range(-len(names), 0)) for names in layouts]
        return made[: function.nin] + made[:1] * function.nout if keepdims else made
    made = [(a,) if isinstance(a, int) else tuple(a) for a in axes]
    if len(made) == function.nin:  # results that are numbers need none
        made += made[:1] * function.nout if keepdims else [()] * function.nout
    if len(made) != len(layouts):
        raise ValueError(
            f"{name}: axes= has an entry for each operand and result; got {len(made)}; expected {len(layouts)}"
        )
    for k, (p, names) in enumerate(zip(made, layouts, strict=True)):
        if len(p) != len(names) and not (keepdims and k >= function.nin):
            raise ValueError(
                f"{name}: entry {k} of axes= has {len(p)} axes; got {p}; expected {len(names)}, by the layout "
                f"{function.signature}"
            )
    return made
