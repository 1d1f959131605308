"""The devices of this machine: which there are, and pages that tell what they are."""

from .. import _engine


def devices(filter=None):
    """All devices present, the CPU first.

    Parameters
    ----------
    filter : str or callable, optional
        A back end ("opencl"), a kind ("gpu") or a name ("opencl:cpu:0"): only devices that match. Several between
        commas are alternatives ("gpu,cpu"): what matches the first of them that anything matches. Or a function that
        is given a Device and returns whether it matches.

    Returns
    -------
    list of Device

    Raises
    ------
    TypeError
        If `filter` is neither.

    Examples
    --------
    >>> import unisono as un
    >>> un.devices()[0].name
    'cpu'
    >>> un.devices("cuda:7, cpu")[0].name
    'cpu'
    >>> un.devices(lambda d: d.memory_bytes > 2**60)
    []
    """
    found = _engine._devices()
    if filter is None:
        return found
    if callable(filter):
        return [d for d in found if filter(d)]
    if not isinstance(filter, str):
        raise TypeError(
            f"devices: expected text such as 'gpu,cpu', or a function of a Device; got {type(filter).__name__}"
        )
    for word in filter.split(","):
        chosen = [d for d in found if _matches(d, word.strip())]
        if chosen:
            return chosen
    return []


def named(name):
    """The device of that name: what a pickle of a device calls."""
    return _engine._find_device(name)


def _matches(device, word):
    return word in (device.name, device.kind) or device.name.startswith(word + ":")


def _bytes(count):
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def summary(device):
    """One line about a device."""
    memory = _bytes(device.memory_bytes) if device.memory_bytes else "memory unknown"
    float64 = "float64" if device.has_float64 else "no float64"
    return f"{device.kind}, {device.compute_units} units, {memory}, {float64}; {device.description}"


def page(device):
    """All that is known of a device, a list of lines."""
    facts = {
        "kind": device.kind,
        "vendor": device.vendor,
        "description": device.description,
        "compute units": device.compute_units,
        "memory": _bytes(device.memory_bytes) if device.memory_bytes else "unknown",
        "local memory": _bytes(device.local_memory_bytes),
        "work-group size": f"at most {device.max_work_group_size}",
        "work items": "at most " + " x ".join(str(n) for n in device.max_work_item_sizes),
        "aspects": " ".join(sorted(device.aspects)),
    }
    told = {name: value for name, value in device.properties.items() if name != "aspects"}
    width = max(len(name) for name in (*facts, *told))
    lines = [device.name]
    for name, value in {**facts, **told}.items():
        text = " ".join(str(v) for v in value) if isinstance(value, (list, tuple)) else value
        lines.append(f"  {name:<{width}}  {text}".rstrip())
    return lines
