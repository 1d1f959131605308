"""Types that scripts/stubs.py cannot read from signatures: decorators that keep them, overloads, named results."""

# Results of functions, by name.
RESULTS = {
    "histogram": "tuple[ndarray, ndarray]",
    "histogram2d": "tuple[ndarray, ndarray, ndarray]",
    "histogramdd": "tuple[ndarray, list[ndarray]]",
    "unique_all": "_UniqueAllResult",
    "unique_counts": "_UniqueCountsResult",
    "unique_inverse": "_UniqueInverseResult",
    "eig": "_EigResult",
    "eigh": "_EighResult",
    "slogdet": "_SlogdetResult",
    "lstsq": "tuple[ndarray, ndarray, Any, ndarray]",
}


def named(name, fields):
    """Lines of a named tuple of arrays."""
    return [f"class {name}(NamedTuple):", *(f"    {field}: ndarray" for field in fields.split())]


# Classes of a module that its functions give, and that have no public name.
CLASSES = {
    "unisono": [
        '_P = ParamSpec("_P")',
        '_Q = ParamSpec("_Q")',
        '_R = TypeVar("_R", covariant=True)',
        '_S = TypeVar("_S")',
        '_C = TypeVar("_C", bound=type)',
        *"""
class _Compiled:
    @property
    def signatures(self) -> Any: ...
    def annotate(self, path: Any = None, profile: Any = None) -> Any: ...
    def explain(self) -> str: ...
    def inspect_asm(self, signature: Any = None) -> Any: ...
    def inspect_ir(self, signature: Any = None) -> Any: ...
    def inspect_llvm(self, signature: Any = None) -> Any: ...
    def recompile(self) -> None: ...
    def __getattr__(self, name: str, /) -> Any: ...

class _JitFunction(_Compiled, Generic[_P, _R]):
    @property
    def py_func(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @_overload
    def __get__(self, instance: None, owner: Any = ..., /) -> Self: ...
    @_overload
    def __get__(
        self: _JitFunction[Concatenate[_S, _Q], _R], instance: _S, owner: Any = ..., /
    ) -> Callable[_Q, _R]: ...

class _Kernel(_Compiled, Generic[_P]):
    @property
    def py_func(self) -> Callable[_P, None]: ...
    def __getitem__(self, size: Any, /) -> Callable[_P, None]: ...
""".strip().splitlines(),
        *named("_UniqueAllResult", "values indices inverse_indices counts"),
        *named("_UniqueCountsResult", "values counts"),
        *named("_UniqueInverseResult", "values inverse_indices"),
    ],
    "unisono.linalg": [
        *named("_EigResult", "eigenvalues eigenvectors"),
        *named("_EighResult", "eigenvalues eigenvectors"),
        *named("_SlogdetResult", "sign logabsdet"),
        *named("_SVDResult", "U S Vh"),
        *named("_QRResult", "Q R"),
    ],
}


def decorator(name, first, others, made, wrapped="Callable[_P, _R]"):
    """Lines of a decorator with and without arguments: `made` is what it makes of a `wrapped` function."""
    return [
        "@_overload",
        f"def {name}({first}: {wrapped}, {others}) -> {made}: ...",
        "@_overload",
        f"def {name}({first}: str | Sequence[Any] | None = ..., {others}) -> Callable[[{wrapped}], {made}]: ...",
    ]


UNIQUE = "axis: int | None = ..., *, equal_nan: bool = ..., sorted: bool = ...) ->"
# Whole definitions, by name. The last overload has the signature that the function has.
DEFINITIONS = {
    "jit": decorator(
        "jit",
        "signature_or_function",
        "*, device: DeviceLike = ..., **options: Any",
        "_JitFunction[_P, _R]",
    ),
    "njit": decorator("njit", "signature_or_function", "**options: Any", "_JitFunction[_P, _R]"),
    "kernel": [
        "@_overload",
        "def kernel(function: Callable[_P, Any], *, device: DeviceLike = ..., boundscheck: bool | None = ...) -> _Kernel[_P]: ...",
        "@_overload",
        "def kernel(function: None = ..., *, device: DeviceLike = ..., boundscheck: bool | None = ...)"
        " -> Callable[[Callable[_P, Any]], _Kernel[_P]]: ...",
    ],
    "jitclass": [
        "@_overload",
        "def jitclass(cls_or_spec: _C, spec: Any = ...) -> _C: ...",
        "@_overload",
        "def jitclass(cls_or_spec: Sequence[Any] | dict[str, Any] | None = ..., spec: Any = ...)"
        " -> Callable[[_C], _C]: ...",
    ],
    "stencil": [
        "@_overload",
        "def stencil(func_or_mode: Callable[..., Any], *, cval: Any = ..., neighborhood: Any = ..., "
        "standard_indexing: Any = ..., **options: Any) -> Callable[..., ndarray]: ...",
        "@_overload",
        "def stencil(func_or_mode: str = ..., *, cval: Any = ..., neighborhood: Any = ..., standard_indexing: Any = ..., "
        "**options: Any) -> Callable[[Callable[..., Any]], Callable[..., ndarray]]: ...",
    ],
    # What they make has the methods of ufuncs where the function has one result.
    "vectorize": [
        "@_overload",
        "def vectorize(pyfunc: Callable[..., Any], /, *args: Any, **options: Any) -> Any: ...",
        "@_overload",
        "def vectorize(pyfunc: Any = ..., /, *args: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]: ...",
    ],
    "guvectorize": [
        "def guvectorize(*args: Any, target: str = ..., writable_args: Any = ..., **options: Any)"
        " -> Callable[[Callable[..., Any]], Any]: ...",
    ],
    "cfunc": [
        "def cfunc(signature: Any, *, error: Any = ..., **options: Any) -> Callable[[Callable[..., Any]], Any]: ..."
    ],
    "where": [
        "@_overload",
        "def where(condition: ArrayLike, /) -> tuple[ndarray, ...]: ...",
        "@_overload",
        "def where(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray: ...",
        "@_overload",
        "def where(condition: ArrayLike, x: ArrayLike | None = ..., y: ArrayLike | None = ..., /) -> Any: ...",
    ],
    "unique": [
        "@_overload",
        "def unique(ar: ArrayLike, return_index: Literal[False] = ..., return_inverse: Literal[False] = ..., "
        f"return_counts: Literal[False] = ..., {UNIQUE} ndarray: ...",
        "@_overload",
        "def unique(ar: ArrayLike, return_index: Literal[True], return_inverse: bool = ..., "
        f"return_counts: bool = ..., {UNIQUE} tuple[ndarray, ...]: ...",
        "@_overload",
        "def unique(ar: ArrayLike, return_index: bool = ..., *, return_inverse: Literal[True], "
        "return_counts: bool = ..., axis: int | None = ..., equal_nan: bool = ..., sorted: bool = ...)"
        " -> tuple[ndarray, ...]: ...",
        "@_overload",
        "def unique(ar: ArrayLike, return_index: bool = ..., return_inverse: bool = ..., *, "
        "return_counts: Literal[True], axis: int | None = ..., equal_nan: bool = ..., sorted: bool = ...)"
        " -> tuple[ndarray, ndarray]: ...".replace(
            "tuple[ndarray, ndarray]", "tuple[ndarray, ...]"
        ),
        "@_overload",
        "def unique(ar: ArrayLike, return_index: bool = ..., return_inverse: bool = ..., "
        f"return_counts: bool = ..., {UNIQUE} Any: ...",
    ],
    "svd": [
        "@_overload",
        "def svd(a: ArrayLike, full_matrices: bool = ..., compute_uv: Literal[True] = ..., hermitian: bool = ...)"
        " -> _SVDResult: ...",
        "@_overload",
        "def svd(a: ArrayLike, full_matrices: bool = ..., *, compute_uv: Literal[False], hermitian: bool = ...)"
        " -> ndarray: ...",
        "@_overload",
        "def svd(a: ArrayLike, full_matrices: bool = ..., compute_uv: bool = ..., hermitian: bool = ...) -> Any: ...",
    ],
    "qr": [
        "@_overload",
        'def qr(a: ArrayLike, mode: Literal["reduced", "complete"] = ...) -> _QRResult: ...',
        "@_overload",
        'def qr(a: ArrayLike, mode: Literal["r"]) -> ndarray: ...',
        "@_overload",
        'def qr(a: ArrayLike, mode: Literal["raw"]) -> tuple[ndarray, ndarray]: ...',
        "@_overload",
        "def qr(a: ArrayLike, mode: str = ...) -> Any: ...",
    ],
}

UFUNC = """
class ufunc:
    __name__: str
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def ntypes(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    @property
    def identity(self) -> Any: ...
    @property
    def signature(self) -> None: ...
    def __call__(self, *x: Any, **options: Any) -> Any: ...
    def reduce(self, array: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, out: Any = None,
        keepdims: bool = False, initial: Any = ..., where: Any = True) -> ndarray: ...
    def accumulate(self, array: ArrayLike, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> ndarray: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **options: Any) -> Any: ...
    def at(self, a: ndarray, indices: Any, b: ArrayLike | None = None, /) -> None: ...
    def reduceat(self, array: ArrayLike, indices: Any, axis: int = 0, dtype: DTypeLike = None, out: Any = None) -> ndarray: ...
    def resolve_dtypes(self, dtypes: Sequence[DTypeLike]) -> tuple[Any, ...]: ...
""".strip().splitlines()

# Ufuncs by numbers of operands and results: numbers give a number, arrays arrays.
SHAPES = {(1, 1): "_Unary", (2, 1): "_Binary", (1, 2): "_UnaryPair", (2, 2): "_BinaryPair"}


def ufunc_lines():
    """The class of all ufuncs, and one for each number of operands and results."""
    lines = list(UFUNC)
    for (operands, results), name in SHAPES.items():
        names = ["x"] if operands == 1 else ["x1", "x2"]
        result = "ndarray" if results == 1 else "tuple[ndarray, ndarray]"
        options = (
            "*, where: ArrayLike = ..., casting: str = ..., order: str = ..., dtype: DTypeLike = ..., "
            "subok: bool = ..., signature: Any = ..."
        )
        numbers = ", ".join(f"{n}: complex" for n in names)
        arrays = ", ".join(f"{n}: ArrayLike" for n in names)
        outs = "".join(
            f"out{k}: ndarray | None = ..., " for k in (1, 2)[: results if results > 1 else 0]
        )
        positional = outs + "/, " if outs else "/, "
        lines += [
            f"class {name}(ufunc):",
            "    @_overload",
            f"    def __call__(self, {numbers}, /, {options}) -> Any: ...",
            "    @_overload",
            f"    def __call__(self, {arrays}, {positional}out: ndarray | tuple[ndarray | None, ...] | None = ..., "
            f"{options}) -> {result}: ...",
        ]
    return lines


def ufunc_class(function):
    """Name of the class of a ufunc."""
    return SHAPES.get((function.nin, function.nout), "ufunc")
