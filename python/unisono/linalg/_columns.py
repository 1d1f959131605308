"""QR factors of one large matrix, by blocks of columns: no rank holds the whole.

QR deals blocks of columns out to the ranks in turn. Of each step all ranks get the reflectors of one block, and each
applies them to its own columns.
"""

import unisono as un

from . import _blocks, _lapack
from ._blocks import LETTERS, everywhere, settled


def qr(a, is_complete=False):
    """(q, r); q is square where it is complete."""
    q, r = _reflected(a)
    width = a.shape[0] if is_complete else min(a.shape)
    return q(width), r(width)


def upper(a):
    """r of the QR factors."""
    return _reflected(a)[1](min(a.shape))


def _reflected(a):
    """Functions that make so many columns of q, and rows of r."""
    letter, block = LETTERS[a.dtype.name], _blocks.block_of(min(a.shape))
    geqrf = getattr(_lapack, letter + "geqrf")
    ormqr = getattr(_lapack, letter + ("ormqr" if letter in "sd" else "unmqr"))
    dealt, least = (None, ("cyclic", block)), min(a.shape)
    table = un.empty(a.shape, a.dtype, mesh=a.mesh, layout=dealt)
    table[...] = a
    steps = []

    def apply(own, trans, factors, tau):
        return ormqr("L", trans, factors, tau, own)[0]

    with un.device("cpu"):
        for first in range(0, least, block):
            end = min(first + block, least)
            factors, tau, _, _ = geqrf(everywhere(table[first:, first:end]))
            table[first:, first:end] = factors
            steps.append((first, end, tau))
            if end < a.shape[1]:
                _blocks.update(table[first:, end:], apply, "T" if letter in "sd" else "C", factors, tau)  # fmt: skip

    def q(width):
        made = un.empty((a.shape[0], width), a.dtype, mesh=a.mesh, layout=dealt)
        made[...] = settled(un.eye(a.shape[0], width, dtype=a.dtype, device=a.mesh))
        with un.device("cpu"):
            for first, end, tau in reversed(steps):
                factors = everywhere(table[first:, first:end])
                _blocks.update(made[first:, first:], apply, "N", factors, tau)
        return made.to_layout("block")

    return q, lambda rows: settled(un.triu(table[:rows].to_layout("block")))
