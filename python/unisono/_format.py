"""How arrays print: NumPy's text, under our name."""


def _host(x):
    import numpy

    return numpy.asarray(x.to_device("cpu"))


def array_repr(x):
    """Text of an array as NumPy's repr; values print as their dtype's name and number."""
    if x.ndim == 0:
        return f"un.{x.dtype.name}({x.item()!r})"
    import numpy

    device = "" if x.device == "cpu" else f", device='{x.device}'"
    return numpy.array_repr(_host(x)).rstrip(")") + device + ")"


def array_str(x):
    """Text of an array as NumPy's str; a value prints as its number."""
    if x.ndim == 0:
        return str(x.item())
    return str(_host(x))
