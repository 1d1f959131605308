"""Types of ``unisono.random``, written by scripts/stubs.py."""

from builtins import bytes as _bytes
from collections.abc import Sequence
from typing import Any

from .._engine import ArrayLike, Axis, DeviceLike, DTypeLike, ndarray

class BitGenerator:
    def __init__(self, seed: Any = ...) -> None: ...
    @property
    def capsule(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...

class CuRand:
    def __init__(self, seed: Any = ..., kind: str = ...) -> None: ...
    @property
    def capsule(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...
    @property
    def state(self) -> Any: ...
    @state.setter
    def state(self, value: Any) -> None: ...

class Generator:
    def __init__(self, bit_generator: Any) -> None: ...
    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def binomial(
        self,
        n: int | None,
        p: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def bytes(self, length: Any) -> Any: ...
    @property
    def capsule(self) -> Any: ...
    def chisquare(
        self, df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def choice(
        self,
        a: ArrayLike,
        size: int | Sequence[int] | None = ...,
        replace: bool = ...,
        p: Any = ...,
        axis: Axis = ...,
        shuffle: bool = ...,
        *,
        device: DeviceLike = ...,
    ) -> ndarray: ...
    def dirichlet(self, alpha: Any, size: int | Sequence[int] | None = ...) -> ndarray: ...
    def exponential(
        self,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def gamma(
        self,
        shape: int | Sequence[int],
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def geometric(
        self, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def gumbel(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def hypergeometric(
        self,
        ngood: Any,
        nbad: Any,
        nsample: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def integers(
        self,
        low: Any,
        high: Any = ...,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        endpoint: bool = ...,
        *,
        device: DeviceLike = ...,
    ) -> ndarray: ...
    def laplace(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def logistic(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def lognormal(
        self,
        mean: float = ...,
        sigma: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def logseries(
        self, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def multinomial(
        self, n: int | None, pvals: Any, size: int | Sequence[int] | None = ...
    ) -> ndarray: ...
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: int | Sequence[int] | None = ..., method: str = ...
    ) -> Any: ...
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: int | Sequence[int] | None = ...,
        check_valid: str = ...,
        tol: float = ...,
        *,
        method: str = ...,
    ) -> ndarray: ...
    def negative_binomial(
        self,
        n: int | None,
        p: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def noncentral_f(
        self,
        dfnum: Any,
        dfden: Any,
        nonc: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def normal(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def pareto(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def permutation(
        self, x: ArrayLike, axis: Axis = ..., *, device: DeviceLike = ...
    ) -> ndarray: ...
    def permuted(self, x: ArrayLike, *, axis: Axis = ..., out: ndarray | None = ...) -> Any: ...
    def poisson(
        self, lam: float = ..., size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def power(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def random(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> ndarray: ...
    def rayleigh(
        self,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def shuffle(self, x: ArrayLike, axis: Axis = ...) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...
    def standard_cauchy(
        self, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def standard_exponential(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        method: str = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_gamma(
        self,
        shape: int | Sequence[int],
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_normal(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_t(
        self, df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def uniform(
        self,
        low: float = ...,
        high: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def vonmises(
        self,
        mu: Any,
        kappa: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def wald(
        self,
        mean: Any,
        scale: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def weibull(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def zipf(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...

class MT19937:
    def __init__(self, seed: Any = ...) -> None: ...
    @property
    def capsule(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    def jumped(self, jumps: Any = ...) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def random_raw(self, size: int | Sequence[int] | None = ..., output: bool = ...) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...
    @property
    def state(self) -> Any: ...
    @state.setter
    def state(self, value: Any) -> None: ...

class PCG64:
    def __init__(self, seed: Any = ...) -> None: ...
    def advance(self, delta: Any) -> Any: ...
    @property
    def capsule(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    def jumped(self, jumps: Any = ...) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def random_raw(self, size: int | Sequence[int] | None = ..., output: bool = ...) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...
    @property
    def state(self) -> Any: ...
    @state.setter
    def state(self, value: Any) -> None: ...

class Philox:
    def __init__(self, seed: Any = ...) -> None: ...
    @property
    def capsule(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...
    @property
    def state(self) -> Any: ...
    @state.setter
    def state(self, value: Any) -> None: ...

class RandomState:
    def __init__(self, seed: Any = ...) -> None: ...
    def beta(
        self,
        a: ArrayLike,
        b: ArrayLike,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def binomial(
        self,
        n: int | None,
        p: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def bytes(self, length: Any) -> Any: ...
    @property
    def capsule(self) -> Any: ...
    def chisquare(
        self, df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def choice(
        self,
        a: ArrayLike,
        size: int | Sequence[int] | None = ...,
        replace: bool = ...,
        p: Any = ...,
    ) -> Any: ...
    def dirichlet(self, alpha: Any, size: int | Sequence[int] | None = ...) -> ndarray: ...
    def exponential(
        self,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def gamma(
        self,
        shape: int | Sequence[int],
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def geometric(
        self, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def get_state(self, legacy: bool = ...) -> Any: ...
    def gumbel(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def hypergeometric(
        self,
        ngood: Any,
        nbad: Any,
        nsample: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def laplace(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    @property
    def lock(self) -> Any: ...
    def logistic(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def lognormal(
        self,
        mean: float = ...,
        sigma: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def logseries(
        self, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def multinomial(
        self, n: int | None, pvals: Any, size: int | Sequence[int] | None = ...
    ) -> ndarray: ...
    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: int | Sequence[int] | None = ..., method: str = ...
    ) -> Any: ...
    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: int | Sequence[int] | None = ...,
        check_valid: str = ...,
        tol: float = ...,
        *,
        method: str = ...,
    ) -> ndarray: ...
    def negative_binomial(
        self,
        n: int | None,
        p: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def noncentral_f(
        self,
        dfnum: Any,
        dfden: Any,
        nonc: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def normal(
        self,
        loc: float = ...,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def pareto(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def permutation(
        self, x: ArrayLike, axis: Axis = ..., *, device: DeviceLike = ...
    ) -> ndarray: ...
    def permuted(self, x: ArrayLike, *, axis: Axis = ..., out: ndarray | None = ...) -> Any: ...
    def poisson(
        self, lam: float = ..., size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def power(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def rand(self, *shape: Any) -> Any: ...
    def randint(
        self,
        low: Any,
        high: Any = ...,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
    ) -> Any: ...
    def randn(self, *shape: Any) -> Any: ...
    def random(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> ndarray: ...
    def random_integers(
        self, low: Any, high: Any = ..., size: int | Sequence[int] | None = ...
    ) -> Any: ...
    def random_sample(self, size: int | Sequence[int] | None = ...) -> Any: ...
    def ranf(self, size: int | Sequence[int] | None = ...) -> Any: ...
    def rayleigh(
        self,
        scale: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def sample(self, size: int | Sequence[int] | None = ...) -> Any: ...
    def seed(self, seed: Any = ...) -> Any: ...
    def set_state(self, state: Any) -> Any: ...
    def shuffle(self, x: ArrayLike, axis: Axis = ...) -> Any: ...
    def standard_cauchy(
        self, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def standard_exponential(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        method: str = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_gamma(
        self,
        shape: int | Sequence[int],
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_normal(
        self,
        size: int | Sequence[int] | None = ...,
        dtype: DTypeLike = ...,
        out: ndarray | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def standard_t(
        self, df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def tomaxint(self, size: int | Sequence[int] | None = ...) -> Any: ...
    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def uniform(
        self,
        low: float = ...,
        high: float = ...,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def vonmises(
        self,
        mu: Any,
        kappa: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def wald(
        self,
        mean: Any,
        scale: Any,
        size: int | Sequence[int] | None = ...,
        *,
        device: DeviceLike = ...,
    ) -> Any: ...
    def weibull(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...
    def zipf(
        self, a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
    ) -> Any: ...

class SeedSequence:
    def __init__(
        self,
        entropy: Any = ...,
        *,
        spawn_key: Any = ...,
        pool_size: Any = ...,
        n_children_spawned: Any = ...,
    ) -> None: ...
    def generate_state(self, n_words: Any, dtype: DTypeLike = ...) -> Any: ...
    def spawn(self, n_children: Any) -> Any: ...

def beta(
    a: ArrayLike, b: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def binomial(
    n: int | None, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def bytes(length: Any) -> _bytes: ...
def chisquare(
    df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def choice(
    a: ArrayLike, size: int | Sequence[int] | None = ..., replace: bool = ..., p: Any = ...
) -> ndarray: ...
def default_rng(seed: Any = ...) -> Generator: ...
def dirichlet(alpha: Any, size: int | Sequence[int] | None = ...) -> ndarray: ...
def exponential(
    scale: float = ..., size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def f(
    dfnum: Any, dfden: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def gamma(
    shape: int | Sequence[int],
    scale: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def geometric(
    p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def get_state(legacy: bool = ...) -> tuple[Any, ...]: ...
def gumbel(
    loc: float = ...,
    scale: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def hypergeometric(
    ngood: Any,
    nbad: Any,
    nsample: Any,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def laplace(
    loc: float = ...,
    scale: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def logistic(
    loc: float = ...,
    scale: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def lognormal(
    mean: float = ...,
    sigma: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def logseries(
    p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def multinomial(n: int | None, pvals: Any, size: int | Sequence[int] | None = ...) -> ndarray: ...
def multivariate_normal(
    mean: Any,
    cov: Any,
    size: int | Sequence[int] | None = ...,
    check_valid: str = ...,
    tol: float = ...,
    *,
    method: str = ...,
) -> ndarray: ...
def negative_binomial(
    n: int | None, p: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def noncentral_chisquare(
    df: Any, nonc: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def noncentral_f(
    dfnum: Any,
    dfden: Any,
    nonc: Any,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def normal(
    loc: float = ...,
    scale: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def pareto(
    a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def permutation(x: ArrayLike, axis: Axis = ..., *, device: DeviceLike = ...) -> ndarray: ...
def poisson(
    lam: float = ..., size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def power(
    a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def rand(*shape: Any) -> ndarray: ...
def randint(
    low: Any, high: Any = ..., size: int | Sequence[int] | None = ..., dtype: DTypeLike = ...
) -> ndarray: ...
def randn(*shape: Any) -> ndarray: ...
def random(
    size: int | Sequence[int] | None = ...,
    dtype: DTypeLike = ...,
    out: ndarray | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def random_integers(
    low: Any, high: Any = ..., size: int | Sequence[int] | None = ...
) -> ndarray: ...
def random_sample(size: int | Sequence[int] | None = ...) -> ndarray: ...
def ranf(size: int | Sequence[int] | None = ...) -> ndarray: ...
def rayleigh(
    scale: float = ..., size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def sample(size: int | Sequence[int] | None = ...) -> ndarray: ...
def seed(seed: Any = ...) -> Any: ...
def set_state(state: Any) -> Any: ...
def shuffle(x: ArrayLike, axis: Axis = ...) -> Any: ...
def standard_cauchy(
    size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def standard_exponential(
    size: int | Sequence[int] | None = ...,
    dtype: DTypeLike = ...,
    method: str = ...,
    out: ndarray | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def standard_gamma(
    shape: int | Sequence[int],
    size: int | Sequence[int] | None = ...,
    dtype: DTypeLike = ...,
    out: ndarray | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def standard_normal(
    size: int | Sequence[int] | None = ...,
    dtype: DTypeLike = ...,
    out: ndarray | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def standard_t(
    df: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def triangular(
    left: Any,
    mode: Any,
    right: Any,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def uniform(
    low: float = ...,
    high: float = ...,
    size: int | Sequence[int] | None = ...,
    *,
    device: DeviceLike = ...,
) -> ndarray: ...
def vonmises(
    mu: Any, kappa: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def wald(
    mean: Any, scale: Any, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def weibull(
    a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
def zipf(
    a: ArrayLike, size: int | Sequence[int] | None = ..., *, device: DeviceLike = ...
) -> ndarray: ...
