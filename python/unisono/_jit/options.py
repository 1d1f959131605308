"""The keywords of ``jit``: ours, and Numba's with what they mean here."""

from __future__ import annotations

# Accepted values of what changes nothing: compiled functions are like that.
_ALWAYS = {
    "cache": (True, False, None),
    "nogil": (True, False, None),
    "looplift": (True, False, None),
    "inline": ("never", "always", None),
    "forceinline": (True, False, None),
    "no_cpython_wrapper": (True, False, None),
    "no_cfunc_wrapper": (True, False, None),
    "no_rewrites": (True, False, None),
    "pipeline_class": (None,),
    "target": ("cpu", None),
    "target_backend": (None,),
}
disabled = None  # what a program said by ``un.config.DISABLE_JIT``; before, the setting counts
_FLAGS = {"fast", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"}


def is_disabled():
    """Whether functions stay Python's."""
    from .. import _engine

    return _engine._setting("disable_jit") not in ("", "0") if disabled is None else disabled


def checked(options, where):
    """The settings for the engine; raises TypeError or ValueError for what is not understood."""
    from .. import _engine

    made = _schedule(_engine._setting("schedule") or None, "UNISONO_SCHEDULE")
    for name, value in options.items():
        if name in _ALWAYS:
            if not any(value is v or value == v for v in _ALWAYS[name]):
                raise ValueError(
                    f"{where}: {name}={value!r} is not possible; expected "
                    f"{' or '.join(repr(v) for v in _ALWAYS[name] if v is not None)}; choose one of these"
                )
        elif name == "error_model":
            if value not in ("python", "numpy"):
                raise ValueError(
                    f"{where}: error_model is 'python' or 'numpy'; got {value!r}; choose one"
                )
            made["numpy_errors"] = value == "numpy"
        elif name == "fastmath":
            made["fastmath"] = _fastmath(value, where)
        elif name in (
            "boundscheck",
            "cdivision",
            "debug",
            "forceobj",
            "nopython",
            "parallel",
            "wraparound",
        ):
            if name == "parallel" and isinstance(value, dict):
                value = True  # Numba's: which parts; all are decided by what pays
            if value not in (True, False, None):
                raise ValueError(
                    f"{where}: {name} is True or False; got {value!r}; choose one of them"
                )
            made[name] = value
        elif name == "schedule":
            made.update(_schedule(value, where))
        elif name == "num_threads":
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(
                    f"{where}: num_threads is an int of at least 1; got {value!r}; give a number"
                )
            made["num_threads"] = value
        elif name == "link":
            from .declared import given, modules_of

            made["link"] = modules_of(value)
            given.extend(made["link"])
        elif name == "locals":
            from .signatures import spec_of

            made["locals"] = {n: spec_of(t, f"{where}: locals") for n, t in value.items()}
        else:
            own = "wraparound cdivision boundscheck debug error_model fastmath interpret link locals nopython num_threads parallel schedule".split()
            known = sorted([*_ALWAYS, *own])
            raise TypeError(
                f"{where}: unknown keyword {name!r}; expected one of {', '.join(known)}; "
                f"leave it out"
            )
    return made


def _schedule(value, where):
    """``"dynamic"``, ``"dynamic,4"`` or ``("dynamic", 4)``."""
    if value is None:
        return {}
    chunk, parts = 0, []
    try:
        parts = value.split(",") if isinstance(value, str) else list(value)
        name, *rest = parts
        if rest:
            (chunk,) = rest
            chunk = int(chunk)
    except (ValueError, TypeError):
        name, chunk = None, -1
    if name not in ("static", "dynamic", "guided") or chunk < 0 or (len(parts) > 1 and chunk < 1):
        raise ValueError(
            f"{where}: schedule is 'static', 'dynamic' or 'guided', with a chunk size as in "
            f"('dynamic', 16); got {value!r}; write one of them"
        )
    return {"schedule": name, "chunk": chunk or None}


def _fastmath(value, where):
    if value in (True, False, None):
        return bool(value)
    flags = {value} if isinstance(value, str) else set(value)
    if flags - _FLAGS:
        raise ValueError(
            f"{where}: fastmath is True, False or a set of {', '.join(sorted(_FLAGS))}; "
            f"got {value!r}; choose of these"
        )
    return bool(flags)
