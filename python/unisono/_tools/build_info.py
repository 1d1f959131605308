"""What the package tells about its build: headers, configuration, run-time libraries."""

from pathlib import Path


def get_include():
    """The folder of the headers for extensions in C, C++ and Cython: ``unisono/python.h``, ``unisono/pybind11.hpp``...

    Returns
    -------
    str
        What a compiler takes after ``-I``; ``python -m unisono include`` prints it.

    Examples
    --------
    >>> import unisono as un
    >>> from pathlib import Path
    >>> Path(un.get_include(), "unisono", "unisono.h").is_file()
    True
    """
    return str(Path(__file__).parents[1] / "include")


def show_config(mode="stdout"):
    """Print what was found on this machine, as ``python -m unisono doctor`` does.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}
        ``"dicts"``: return devices and settings instead.

    Returns
    -------
    dict, or None

    Raises
    ------
    ValueError
        If the mode is unknown.

    Examples
    --------
    >>> import unisono as un
    >>> un.show_config("dicts")["devices"][0]
    'cpu'
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"show_config: mode must be 'stdout' or 'dicts'; got {mode!r}")
    if mode == "dicts":
        from .. import _engine

        settings = {name: value for name, _, _, _, value in _engine._settings()}
        return {"devices": [d.name for d in _engine._devices()], "settings": settings}
    from ..__main__ import doctor

    doctor()
    return None


def show_runtime():
    """Print what was found on this machine, as ``python -m unisono doctor`` does.

    Returns
    -------
    None

    Examples
    --------
    >>> import contextlib, io
    >>> import unisono as un
    >>> with contextlib.redirect_stdout(io.StringIO()) as text:
    ...     un.show_runtime()
    >>> "devices" in text.getvalue()
    True
    """
    show_config()
