"""Random orders and picks, as methods of the generator."""

import math
import operator

from .. import _engine
from .._arrays.axes import axis_index
from .._arrays.creation import arange
from .._dtype.functions import check_cast
from . import _numpys_streams
from ._checks import _shape, _take


def _is_mesh(device):
    return isinstance(device, _engine.Mesh)


def _drawn_alike(picked, device):
    """Indices that all ranks of a mesh drew alike, each its part of them; other devices' as they are."""
    if not _is_mesh(device):
        return picked
    from .._arrays.creation import asarray

    return asarray(picked, mesh=device, layout=(*(None,) * (picked.ndim - 1), "block"))


class Picking:
    """Mixin of `Generator`."""

    def _permutations(self, count, n, device=None):
        if self.bit_generator._stream is not None:
            if not _is_mesh(device):
                self._require_host(device)
            made = _engine._empty((count, n), "int64", "cpu")
            for k in range(count):
                made[k] = self.bit_generator._stream.permutation(True, n)
            return _drawn_alike(made, device)
        return _engine._random_permutations(count, n, *self.bit_generator._take(count * n), device)

    def permutation(self, x, axis=0, *, device=None):
        """Random permutation of `x` along an axis, or of ``arange(x)`` if `x` is an integer.

        Parameters
        ----------
        x : array_like or int
        axis : int
        device : str or Device, optional
            Of the result for an integer; arrays are permuted where they lie.

        Returns
        -------
        ndarray

        Raises
        ------
        AxisError
            If `axis` is out of bounds.

        Examples
        --------
        >>> import unisono as un
        >>> sorted(un.random.default_rng(0).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        if hasattr(x, "__index__") and not getattr(x, "ndim", 0):
            return self._permutations(1, operator.index(x), device)[0]
        x = self._operand(x)
        axis = axis_index(axis, x.ndim, "permutation")
        order = self._permutations(1, x.shape[axis], x.device)[0]
        return _take(x, order, axis)

    def shuffle(self, x, axis=0):
        """Shuffle `x` along an axis, in place.

        Parameters
        ----------
        x : ndarray or list
        axis : int
        """
        if isinstance(x, list):
            order = self._permutations(1, len(x))[0].tolist()
            x[:] = [x[k] for k in order]
            return
        ours = x if isinstance(x, _engine._Array) else self._operand(x)
        ours[...] = self.permutation(ours, axis)

    def permuted(self, x, *, axis=None, out=None):
        """Shuffle each slice of `x` along an axis independently; None shuffles all elements."""
        x = self._operand(x)
        if out is not None:
            if tuple(out.shape) != x.shape:
                raise ValueError(
                    f"permuted: out must have the same shape as x; got {tuple(out.shape)} and {x.shape}"
                )
            check_cast(x.dtype, out.dtype, "safe")
        if axis is None:
            made = self.permutation(x.reshape(-1)).reshape(x.shape)
        else:
            axis = axis_index(axis, x.ndim, "permuted")
            order = [k for k in range(x.ndim) if k != axis] + [axis]
            lines = x.transpose(order).reshape((-1, x.shape[axis]))
            picked = self._permutations(*lines.shape, x.device)
            first = arange(lines.shape[0], device=x.device)[:, None]
            moved = lines[first, picked].reshape([x.shape[k] for k in order])
            made = moved.transpose([order.index(k) for k in range(x.ndim)])
        if out is None:
            return made.copy()
        out[...] = made
        return out

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True, *, device=None):
        """Random sample of the elements of `a`, or of ``arange(a)``.

        Parameters
        ----------
        a : int or array_like
        size : int or tuple of ints, optional
        replace : bool
            Whether an element may be chosen more than once.
        p : array_like, optional
            Probabilities of the elements; equal by default.
        axis : int
            The axis of `a` along which elements are chosen.
        shuffle : bool
            False allows an order that is not random, which is faster; Philox's is always random.
        device : str or Device, optional
            Of the result for an integer; elements of an array are chosen where it lies.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> import unisono as un
        >>> picked = un.random.default_rng(0).choice(5, 5, replace=False)
        >>> sorted(picked.tolist())
        [0, 1, 2, 3, 4]
        """
        whole = hasattr(a, "__index__") and not getattr(a, "ndim", 0)
        if not whole and self._operand(a).ndim == 0:
            raise ValueError(f"choice: a must be an array or an integer; got {a!r}")
        place = device or self._home if whole else self._operand(a).device
        is_drawn_alike = self.bit_generator._stream is not None and _is_mesh(place)
        device = "cpu" if is_drawn_alike else place
        pool = operator.index(a) if whole else self._operand(a).shape[axis]
        shape = _shape(size)
        n = math.prod(shape) if shape is not None else 1
        if pool <= 0 and n > 0:
            raise ValueError("choice: a cannot be empty unless no samples are taken")
        p = None if p is None else self._chances(p, pool, device)
        if replace:
            picked = self._pick(pool, n, p, device)
        else:
            if n > pool:
                raise ValueError(
                    "choice: Cannot take a larger sample than population when replace is False; "
                    f"got {n} of {pool}"
                )
            how = {} if shuffle else {"shuffle": False}
            picked = self._pick_once(pool, n, p, device, **how)
        if is_drawn_alike and whole and shape is not None:
            picked = _drawn_alike(picked, place)
        if shape is None:
            picked = int(picked[0])
            if whole:
                return picked
            a = self._operand(a)
            return a[(slice(None),) * (axis % a.ndim) + (picked,)]
        if whole:
            return picked.reshape(shape)
        a = self._operand(a)
        axis = axis % a.ndim
        return _take(a, picked, axis).reshape((*a.shape[:axis], *shape, *a.shape[axis + 1 :]))

    def _chances(self, p, pool, device):
        import unisono

        p = unisono.asarray(p, device=device).astype("float64")
        if p.shape != (pool,):
            raise ValueError(f"choice: a and p must have same size; got {pool} and shape {p.shape}")
        if bool((p < 0).any()):
            raise ValueError("choice: Probabilities are not non-negative")
        if not abs(float(p.sum()) - 1) < 1e-8:
            if bool((p != p).any()):
                raise ValueError("choice: probabilities contain NaN")
            raise ValueError(f"choice: Probabilities do not sum to 1; got {float(p.sum())}")
        return p

    def _pick(self, pool, n, p, device):
        if p is None:
            return self._integers(0, pool, n, device=device)
        import unisono

        limits = unisono.cumsum(p)
        return unisono.searchsorted(
            limits / limits[-1], self.random(n, device=p.device), side="right"
        )

    def _pick_once(self, pool, n, p, device, **how):
        if self.bit_generator._stream is not None:
            self._require_host(device)
            if p is not None:
                return _numpys_streams.draw(self, "choice", pool, n, False, p, **how)
            if self._is_old:
                return self._permutations(1, pool)[0][:n]
            return self.bit_generator._stream.sample(pool, n, how.get("shuffle", True))
        if p is None:
            return self._permutations(1, pool, device)[0][:n]
        import unisono

        if int((p > 0).sum()) < n:
            raise ValueError("choice: Fewer non-zero entries in p than size")
        # The n smallest of exponential times over their rates: Efraimidis and Spirakis (2006).
        times = unisono.where(
            p > 0,
            self.standard_exponential(pool, device=p.device) / unisono.where(p > 0, p, 1),
            math.inf,
        )
        return unisono.argsort(times)[:n]
