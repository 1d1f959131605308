"""``target=`` of ``vectorize`` and ``guvectorize``: calls with arrays of the host run on the device that it names."""

from __future__ import annotations

from .. import _engine


def device_of(target, where):
    """The name of the device that `target` means, "cuda" the current one of `unisono.cuda`; None for the host."""
    if target in ("cpu", "parallel"):
        return None
    from .._runtime.devices import devices

    if target == "cuda":
        from ..cuda.devices import current_device

        target = current_device()
    name = getattr(target, "name", target)
    found = devices(name) if isinstance(name, str) else []
    if not found:
        present = ", ".join(repr(d.name) for d in devices())
        raise ValueError(
            f"{where}: no such target; got {target!r}; expected 'cpu', 'parallel' or a device of {present}; "
            f"leave target= out, or name a fall-back, as in 'gpu,cpu'"
        )
    return None if found[0].name == "cpu" else found[0].name


def place_of(operands):
    """The device on which arrays among `operands` lie; None of the host's."""
    return next((x.device for x in operands if _is_there(x)), None)


def _is_there(x):
    return isinstance(x, _engine._Array) and x.device != "cpu"


def _moves(x):
    """Whether x is an array of the host, or what becomes one; numbers have no place."""
    if isinstance(x, _engine._Array):
        return x.device == "cpu" and not isinstance(x, _engine._values)
    return isinstance(x, (list, tuple, range)) or hasattr(x, "dtype") and hasattr(x, "__setitem__")


def needs_copies(function, operands, out=None):
    """Whether a call with these operands and results must take some to the device of `function`."""
    if function._device is None:
        return False
    return any(map(_moves, operands)) or any(map(_moves, out if isinstance(out, tuple) else (out,)))


def call(function, run, args, options, count, written=()):
    """``run(*args, **options)`` with copies of the host's arrays on the device.

    The first `count` arguments are operands, the others are arrays for results. Results come back to the host
    unless an operand lay on a device; so do the operands whose numbers are `written`.
    """
    import unisono as un

    names = getattr(function, "_names", ())
    operands = [*args[:count], *(options[n] for n in names if n in options)]
    stays = place_of(operands)
    device = stays or function._device
    copies = []  # (what was given, its copy)

    def there(x):
        if not _moves(x):
            return x
        copies.append((x, un.asarray(x, device=device)))
        return copies[-1][1]

    outs = args[count:] or options.pop("out", None)
    is_tuple = isinstance(outs, tuple)
    given = outs if is_tuple else () if outs is None else (outs,)
    if given:
        options["out"] = tuple(there(x) for x in given) if is_tuple else there(outs)
    back = {id(copy): x for x, copy in copies}
    moved = [there(x) for x in args[:count]]
    back |= {id(moved[k]): args[k] for k in written if moved[k] is not args[k]}
    for name in ("where", *names):
        if name in options:
            options[name] = there(options[name])
    made = run(*moved, **options)
    for x, copy in copies:
        if id(copy) in back:
            x[...] = copy.to_device("cpu")
    if isinstance(made, tuple):
        return tuple(_delivered(x, back, stays) for x in made)
    return _delivered(made, back, stays)


def _delivered(made, back, stays):
    if id(made) in back:
        return back[id(made)]
    return made.to_device("cpu") if _is_there(made) and not stays else made
