"""Distributions of several numbers at once, as methods of the generator."""

import math
import operator

from .. import _engine
from . import _numpys_streams
from ._checks import _broadcast, _shape


class Multivariate:
    """Mixin of `Generator`."""

    def dirichlet(self, alpha, size=None):
        """Vectors of positive numbers that sum to 1.

        Parameters
        ----------
        alpha : sequence of floats, length k
        size : int or tuple of ints, optional

        Returns
        -------
        ndarray, shape (*size, k)
        """
        import unisono as un

        alpha = self._operand(alpha).astype("float64")
        if not bool((alpha >= 0).all()):
            raise ValueError("dirichlet: alpha < 0 in some element; expected positive numbers")
        if self.bit_generator._stream is not None:
            return _numpys_streams.draw(self, "dirichlet", alpha, _shape(size))
        shape = (*(_shape(size) or ()), alpha.shape[0])
        if alpha.size and float(alpha.max()) < 0.1:
            drawn = self._small_gammas(alpha, shape)
        else:
            drawn = self.standard_gamma(alpha, shape)
        total = drawn.sum(axis=-1, keepdims=True)
        return un.where(alpha == 0, 0.0, drawn / total)

    def _small_gammas(self, alpha, shape):
        """Gamma numbers of small shapes, each vector scaled by its greatest one.

        They may all be too small for float64; so the logarithms are drawn: a gamma number of shape a is one
        of shape a + 1 times u**(1 / a), where u is uniform.
        """
        import unisono as un

        positive = alpha > 0
        a = un.where(positive, alpha, 1.0)
        least = a.min()
        # log(u) / a overflows for the smallest shapes: differences from the greatest are divided.
        power = un.where(
            positive,
            -self.standard_exponential(shape, device=alpha.device) * (least / a),
            -math.inf,
        )
        factor = self.standard_gamma(a + 1.0, shape)
        return un.exp((power - power.max(axis=-1, keepdims=True)) / least) * factor

    def multinomial(self, n, pvals, size=None):
        """Counts of the outcomes of `n` trials.

        Parameters
        ----------
        n : int or array_like of ints
        pvals : array_like, shape (..., k)
            Chances of the outcomes; the last one takes what is left to 1.
        size : int or tuple of ints, optional

        Returns
        -------
        ndarray of int64, shape (*size, k)
        """
        pvals = self._operand(pvals).astype("float64")
        n = self._operand(n)
        k = pvals.shape[-1]
        if bool((pvals < 0).any()) or bool((pvals[..., : k - 1].sum(axis=-1) > 1 + 1e-12).any()):
            raise ValueError("multinomial: pvals < 0, or sum(pvals[:-1]) > 1.0")
        if self.bit_generator._stream is not None and not (self._is_old and n.ndim):
            n = n if n.ndim else int(n)
            return _numpys_streams.draw(self, "multinomial", n, pvals, _shape(size))
        shape = _shape(size)
        if shape is None:
            shape = _broadcast(n.shape, pvals.shape[:-1])
        left = _engine.broadcast_to(n, shape) + 0
        rest = _engine.broadcast_to(pvals[..., 0] * 0 + 1, shape)
        made = _engine._empty((*shape, k), "int64", rest.device)
        import unisono

        for j in range(k - 1):
            chance = unisono.minimum(
                unisono.maximum(pvals[..., j] / unisono.where(rest > 0, rest, 1), 0), 1
            )
            count = self.binomial(left, chance, shape)
            made[..., j] = count
            left = left - count
            rest = rest - pvals[..., j]
        made[..., k - 1] = left
        return made

    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
        """Counts per color among `nsample` drawn without putting back."""
        colors = [operator.index(c) for c in self._operand(colors).tolist()]
        if nsample > sum(colors):
            raise ValueError("multivariate_hypergeometric: nsample > sum(colors)")
        if self.bit_generator._stream is not None:
            return _numpys_streams.draw(
                self, "multivariate_hypergeometric", colors, nsample, _shape(size), method
            )
        shape = _shape(size) or ()
        made = _engine._empty((*shape, len(colors)), "int64", self._home)
        if not colors:
            return made
        left = _engine._full(shape, nsample, "int64", self._home)
        rest = sum(colors)
        for j, color in enumerate(colors[:-1]):
            rest -= color
            count = self.hypergeometric(color, rest, left, shape)
            made[..., j] = count
            left = left - count
        made[..., len(colors) - 1] = left
        return made

    def multivariate_normal(
        self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"
    ):
        """Vectors of normal numbers with a given mean and covariance.

        Parameters
        ----------
        mean : array_like, shape (n,)
        cov : array_like, shape (n, n)
        size : int or tuple of ints, optional
        check_valid : {'warn', 'raise', 'ignore'}
            What to do if `cov` is not positive semidefinite.
        tol : float
        method : {'svd', 'eigh', 'cholesky'}
            How `cov` is factored.

        Returns
        -------
        ndarray, shape (*size, n)
        """
        from .. import linalg

        mean, cov = self._operand(mean), self._operand(cov)
        if "c" in (mean.dtype.kind, cov.dtype.kind):
            raise TypeError("multivariate_normal: mean and cov must not be complex")
        mean, cov = mean.astype("float64"), cov.astype("float64")
        if mean.ndim != 1 or cov.shape != (mean.shape[0], mean.shape[0]):
            raise ValueError(
                "multivariate_normal: mean and cov must have same length; "
                f"got shapes {mean.shape} and {cov.shape}"
            )
        if self.bit_generator._stream is not None and method in ("svd", "eigh", "cholesky"):
            how = {} if self._is_old else {"method": method}
            return _numpys_streams.draw(
                self, "multivariate_normal", mean, cov, _shape(size), check_valid, tol, **how
            )
        if method == "cholesky":
            factor = linalg.cholesky(cov).T
        elif method in ("svd", "eigh"):
            values, vectors = linalg.eigh(cov)
            self._check_covariance(values, check_valid, tol)
            import unisono

            factor = (vectors * unisono.sqrt(abs(values))).T
        else:
            raise ValueError(
                f"multivariate_normal: method must be one of 'eigh', 'svd', 'cholesky'; got {method!r}"
            )
        drawn = self.standard_normal((*(_shape(size) or ()), mean.shape[0]), device=cov.device)
        return mean + drawn @ factor

    def _check_covariance(self, values, check_valid, tol):
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError(
                "multivariate_normal: check_valid must equal 'warn', 'raise', or 'ignore'"
            )
        if check_valid == "ignore" or bool((values >= -tol * abs(values).max()).all()):
            return
        text = "multivariate_normal: covariance is not symmetric positive-semidefinite."
        if check_valid == "raise":
            raise ValueError(text)
        import warnings

        warnings.warn(text, RuntimeWarning, stacklevel=4)
