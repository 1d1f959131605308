"""Arrays of records: structured dtypes, whose fields are views over the same memory."""

from .._dtype.objects import DType

kinds = []  # classes of such arrays; empty until their module is loaded


def holds_records(arrays):
    """Whether one of the arrays is of records."""
    return any(kind in map(type, arrays) for kind in kinds)


def is_structured(spec):
    """Whether it names a dtype with fields: ``[("x", "f8")]``, a dict of these, ``"f8, i4"``, or one of NumPy's."""
    if isinstance(spec, (type, DType)) or spec is None:
        return False
    if isinstance(spec, (list, dict)):
        return True
    if isinstance(spec, str):
        return "," in spec
    return getattr(spec, "names", None) is not None and hasattr(spec, "fields")
