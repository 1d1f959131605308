"""Files of distributed arrays: each rank writes and reads its own part of a .npy file."""

import os

import numpy as np

import unisono as un


def _agree(mesh, error):
    """Raise on all ranks what one met."""
    failed = un.zeros(mesh.size, dtype="int8", mesh=mesh)
    failed.local = [error is not None]
    failed = np.asarray(failed)
    if error is not None:
        raise error
    if failed.any():
        raise OSError(
            f"save or load: failed on rank {failed.argmax()} of {mesh.size}; see what that rank raised"
        )


def _attempt(mesh, work):
    error = None
    try:
        made = work()
    except Exception as e:  # whatever it is, the other ranks wait to hear of it
        error, made = e, None
    _agree(mesh, error)
    return made


def _outer(index, shape):
    """The index of a rank's part as NumPy combines it: lists of indices along several axes, by their product."""
    if all(isinstance(part, slice) for part in index):
        return index
    return np.ix_(*(np.arange(n)[part] for n, part in zip(shape, index, strict=True)))


def save(file, x):
    """Write a distributed array; no rank holds all of it."""
    path = os.fspath(file)
    path += "" if path.endswith(".npy") else ".npy"
    mesh, dtype = x.mesh, np.dtype(x.dtype.name)

    def create():
        if mesh.rank == 0:
            np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=x.shape).flush()

    def write():
        part, index = x.local, _outer(x.global_index, x.shape)
        if part.size and (x.layout != "replicated" or mesh.rank == 0):
            opened = np.load(path, mmap_mode="r+")
            opened[index] = part
            opened.flush()

    _attempt(mesh, create)
    _attempt(mesh, write)


def load(file, mesh, layout):
    """Read an array of which each rank gets its part."""
    opened = _attempt(mesh, lambda: np.load(os.fspath(file), mmap_mode="r"))
    if not isinstance(opened, np.ndarray):
        raise ValueError(f"load: an archive has several arrays; load one without mesh=; got {file}")
    dtype = opened.dtype.newbyteorder("=")
    made = un.empty(opened.shape, dtype, mesh=mesh, layout=layout)
    # A copy, which all have before any goes on: the file may be written again.
    part = _attempt(mesh, lambda: np.array(opened[_outer(made.global_index, made.shape)], dtype))
    if made.ndim == 0:
        made[...] = part
    else:
        made.local = part
    return made
