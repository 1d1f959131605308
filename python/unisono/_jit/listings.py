"""What a compiled function says of its versions: one text, and a text for each signature."""

from __future__ import annotations


class Listings(str):
    """Texts under a heading each; ``texts[signature]``, ``keys``, ``values`` and ``items`` have them apart.

    Signatures are those of ``f.signatures``. Numba's functions return a dict of them.
    """

    def __new__(cls, texts):
        made = super().__new__(cls, "".join(f"# {s}\n{text}" for s, text in texts))
        made._texts = dict(texts)
        return made

    def __getitem__(self, key):
        return self._texts[key] if isinstance(key, str) else super().__getitem__(key)

    def keys(self):
        return self._texts.keys()

    def values(self):
        return self._texts.values()

    def items(self):
        return self._texts.items()


def listed(texts, signature=None):
    """All texts, or the one of a signature."""
    made = Listings(texts)
    if signature is None:
        return made
    if signature not in made.keys():
        known = ", ".join(repr(s) for s in made.keys()) or "none: it was not called yet"
        raise ValueError(
            f"inspect: expected one of the function's signatures ({known}); got {signature!r}"
        )
    return made[signature]
