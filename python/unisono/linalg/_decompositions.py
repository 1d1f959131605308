"""Factors of matrices: Cholesky, QR, singular values, eigenvalues."""

from collections import namedtuple as _namedtuple

from .._arrays.transposes import matrix_transpose
from .._numpy.products import _conj
from . import _blocks
from ._checks import _factors, _matrices


class EigResult(_namedtuple("EigResult", "eigenvalues eigenvectors")):
    """Result of `eig`.

    Examples
    --------
    >>> import unisono as un
    >>> w, v = un.linalg.eig([[2.0, 0.0], [0.0, 3.0]])
    >>> w.real.tolist()
    [2.0, 3.0]
    """

    __slots__ = ()


class EighResult(_namedtuple("EighResult", "eigenvalues eigenvectors")):
    """Result of `eigh`.

    Examples
    --------
    >>> import unisono as un
    >>> w, v = un.linalg.eigh([[2.0, 0.0], [0.0, 3.0]])
    >>> w.tolist()
    [2.0, 3.0]
    """

    __slots__ = ()


class QRResult(_namedtuple("QRResult", "Q R")):
    """Result of `qr`.

    Examples
    --------
    >>> import unisono as un
    >>> q, r = un.linalg.qr([[1.0, 0.0], [0.0, 1.0]])
    >>> abs(r).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    __slots__ = ()


class SVDResult(_namedtuple("SVDResult", "U S Vh")):
    """Result of `svd`.

    Examples
    --------
    >>> import unisono as un
    >>> u, s, vh = un.linalg.svd([[2.0, 0.0], [0.0, 3.0]])
    >>> s.tolist()
    [3.0, 2.0]
    """

    __slots__ = ()


def cholesky(a, /, *, upper=False):
    """Cholesky factors L of ``a = L @ L.T`` (conjugated), or with `upper` U of ``a = U.T @ U``.

    Only one triangle of `a` is read.

    Parameters
    ----------
    a : array_like
    upper : bool

    Returns
    -------
    ndarray

    Raises
    ------
    LinAlgError
        If a matrix is not positive definite.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.cholesky([[4.0, 2.0], [2.0, 2.0]]).tolist()
    [[2.0, 0.0], [1.0, 1.0]]
    """
    a = _matrices(a, "cholesky", square=True)
    if _blocks.suits(a):
        made = _blocks.cholesky(_conj(a.T) if upper else a)
        return _conj(made.T) if upper else made
    return _factors("cholesky", a, option=int(upper))[0]


def qr(a, mode="reduced"):
    """Matrices as the product of an orthogonal and an upper triangular one.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    mode : {'reduced', 'complete', 'r', 'raw'}
        With k = min(m, n): q of shape (m, k), of shape (m, m), only r, or LAPACK's reflectors.

    Returns
    -------
    QRResult (Q, R), ndarray R, or tuple (h, tau)

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.qr(un.ones((4, 2))).R.shape
    (2, 2)
    """
    modes = ["reduced", "complete", "r", "raw"]
    if mode not in modes:
        raise ValueError(f"qr: Unrecognized mode '{mode}'; expected one of {modes}")
    a = _matrices(a, "qr")
    if mode != "raw" and (_blocks.suits_columns(a) or (mode == "complete" and _blocks.suits(a))):
        from . import _columns

        return _columns.upper(a) if mode == "r" else QRResult(*_columns.qr(a, mode == "complete"))
    made = _factors("qr", a, option=modes.index(mode))
    if mode == "r":
        return made[0]
    return tuple(made) if mode == "raw" else QRResult(*made)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """Singular value decomposition ``a = U @ diag(S) @ Vh``, the largest values first.

    Parameters
    ----------
    a : array_like, shape (..., m, n)
    full_matrices : bool
        U and Vh are square; otherwise they have min(m, n) columns and rows.
    compute_uv : bool
        Otherwise only S is returned.
    hermitian : bool
        `a` is symmetric or Hermitian, which is faster.

    Returns
    -------
    SVDResult (U, S, Vh), or ndarray S

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False).tolist()
    [4.0, 3.0]
    """
    a = _matrices(a, "svd", square=hermitian)
    if hermitian:
        return _svd_hermitian(a, compute_uv)
    option = 0 if not compute_uv else 2 if full_matrices else 1
    if a.size == 0 and option == 2:  # no column to turn into another: any basis will do
        return SVDResult(*_empty_svd(a))
    if option == 0 and _blocks.suits_columns(a):
        from . import _bands

        return _bands.singular_values(a)
    if option != 0 and _blocks.suits_vectors(a, may_be_tall=option == 2):
        from . import _bidiagonal

        return SVDResult(*_bidiagonal.svd(a, option == 2))
    made = _factors("svd", a, option=option)
    return SVDResult(*made) if compute_uv else made[0]


def _empty_svd(a):
    import unisono

    *outer, m, n = a.shape
    real = unisono.real(a).dtype
    bases = [
        unisono.broadcast_to(unisono.eye(k, dtype=a.dtype, device=a.device), (*outer, k, k))
        for k in (m, n)
    ]
    values = unisono.zeros((*outer, min(m, n)), real, device=a.device)
    return bases[0].copy(), values, bases[1].copy()


def _svd_hermitian(a, compute_uv):
    if not compute_uv:
        values = abs(eigvalsh(a))
        import unisono

        return unisono.sort(values, axis=-1)[..., ::-1]
    import unisono

    w, v = eigh(a)
    order = unisono.argsort(-abs(w), axis=-1)
    signs = unisono.take_along_axis(unisono.where(w < 0, -1.0, 1.0).astype(w.dtype), order, axis=-1)
    s = unisono.take_along_axis(abs(w), order, axis=-1)
    v = unisono.take_along_axis(v, order[..., None, :], axis=-1)
    return SVDResult(v, s, matrix_transpose(_conj(v * signs[..., None, :])))


def svdvals(x, /):
    """Singular values of matrices, the largest first.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `x` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.svdvals([[3.0, 0.0], [0.0, 4.0]]).tolist()
    [4.0, 3.0]
    """
    return svd(x, compute_uv=False)


def _triangle(uplo, what):
    if not isinstance(uplo, str) or uplo.upper() not in ("L", "U"):
        raise ValueError(f"{what}: UPLO argument must be 'L' or 'U'; got {uplo!r}")
    return int(uplo.upper() == "U")


def eigh(a, UPLO="L"):
    """Eigenvalues, in rising order, and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : array_like, shape (..., n, n)
    UPLO : {'L', 'U'}
        The triangle of `a` that is read.

    Returns
    -------
    EighResult (eigenvalues, eigenvectors)
        The eigenvectors are the columns.

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [1.0, 2.0]
    """
    a = _matrices(a, "eigh", square=True)
    option = 2 + _triangle(UPLO, "eigh")
    if _blocks.suits_vectors(a, may_be_tall=True):
        from . import _tridiagonal

        return EighResult(*_tridiagonal.eigh(_blocks.hermitian(a, option == 3)))
    return EighResult(*_factors("eigh", a, option=option))


def eigvalsh(a, UPLO="L"):
    """Eigenvalues of symmetric or Hermitian matrices, in rising order.

    Parameters
    ----------
    a : array_like
    UPLO : {'L', 'U'}
        The triangle of `a` that is read.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigvalsh([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [1.0, 2.0]
    """
    a = _matrices(a, "eigvalsh", square=True)
    option = _triangle(UPLO, "eigvalsh")
    if _blocks.suits(a):
        from . import _bands

        return _bands.eigenvalues(_blocks.hermitian(a, option == 1))
    return _factors("eigh", a, option=option)[0]


def _real_if_all_are(values, *others):
    """Eigenvalues of a real matrix, and what belongs to them, without imaginary parts where no value has one."""
    made = (values, *others)
    return made if values.imag.any() else tuple(x.real.copy() for x in made)


def eig(a):
    """Eigenvalues and right eigenvectors of matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    EigResult (eigenvalues, eigenvectors)
        Real where `a` is real and the imaginary parts of all eigenvalues are zero, otherwise complex; those of
        ``a.__array_namespace__().linalg.eig`` are always complex. The vectors are columns.

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eig([[2.0, 0.0], [0.0, 1.0]]).eigenvalues.tolist()
    [2.0, 1.0]
    >>> un.linalg.eig([[0.0, 1.0], [-1.0, 0.0]]).eigenvalues.tolist()
    [1j, -1j]
    """
    a = _matrices(a, "eig", square=True)
    if _blocks.suits_vectors(a, may_be_tall=True):
        from . import _hessenberg

        return EigResult(*_hessenberg.eig(a))
    made = _factors("eig", a, option=1)
    return EigResult(*(made if a.dtype.kind == "c" else _real_if_all_are(*made)))


def eigvals(a):
    """Eigenvalues of matrices, real or complex as those of `eig`.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If `a` cannot be converted to a numeric array.

    Examples
    --------
    >>> import unisono as un
    >>> un.linalg.eigvals([[2.0, 0.0], [0.0, 1.0]]).tolist()
    [2.0, 1.0]
    """
    a = _matrices(a, "eigvals", square=True)
    if _blocks.suits_vectors(a, may_be_tall=True):
        from . import _hessenberg

        return _hessenberg.eig(a, with_vectors=False)[0]
    made = _factors("eig", a, option=0)[:1]
    return (made if a.dtype.kind == "c" else _real_if_all_are(*made))[0]
