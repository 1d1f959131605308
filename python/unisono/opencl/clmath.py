"""`pyopencl.clmath`: mathematical functions of arrays.

Those that unisono has are its own, with its accuracy; the others are the driver's.
"""

import numpy as np

from ._arrays import Array, on_queue, operand

# By PyOpenCL's name: unisono's. What is missing here is OpenCL C's.
_ours = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "cbrt": "cbrt", "ceil": "ceil", "cos": "cos", "cosh": "cosh", "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "fabs": "abs", "floor": "floor", "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p", "rint": "rint",
    "sin": "sin", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "trunc": "trunc",
}  # fmt: skip
_drivers = "acospi asinpi atanpi cospi erf erfc exp10 ilogb lgamma logb nan round rsqrt sinpi tanpi tgamma".split()
_kernels = {}


def _driver_function(name, *arrays, queue=None, result=None):
    from ._objects.c_types import dtype_to_ctype
    from .elementwise import ElementwiseKernel

    first = arrays[0]
    result = first.dtype if result is None else np.dtype(result)
    key = (name, first.context, result, *[a.dtype for a in arrays])
    if key not in _kernels:
        names = "xyw"[: len(arrays)]
        declared = [f"{dtype_to_ctype(a.dtype)} *{n}" for a, n in zip(arrays, names, strict=True)]
        called = ", ".join(f"{n}[i]" for n in names)
        _kernels[key] = ElementwiseKernel(
            first.context, ", ".join([f"{dtype_to_ctype(result)} *z", *declared]), f"z[i] = {name}({called})",
            name=f"{name}_kernel",
        )  # fmt: skip
    made = Array(
        queue or first.queue, first.shape, result, "F" if not first.flags.c_contiguous else "C"
    )
    _kernels[key](made, *[a if a.flags.forc else a.copy() for a in arrays], queue=queue)
    return made


def _unary(name):
    ours = _ours.get(name)

    def function(array, queue=None):
        if not isinstance(array, Array):
            raise TypeError(f"{name}: expected an Array; got {type(array).__name__}")
        if ours is None:
            return _driver_function(
                name, array, queue=queue, result=np.int32 if name == "ilogb" else None
            )
        import unisono

        return array._like(
            on_queue(queue or array.queue, getattr(unisono, ours), array._value()), queue
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{name} of each element, as {'unisono.' + ours if ours else 'OpenCL C has it'}."
    )
    return function


for _name in [*_ours, *_drivers]:
    globals()[_name] = _unary(_name)


def _compute(name, first, *args, queue=None):
    import unisono

    return first._like(on_queue(queue or first.queue, getattr(unisono, name), *args), queue)


def atan2(y, x, queue=None):
    """Angle of the point (x, y)."""
    return _compute("arctan2", y, operand(y), operand(x), queue=queue)


def atan2pi(y, x, queue=None):
    """Angle of the point (x, y), in units of pi."""
    return _driver_function("atan2pi", y, x, queue=queue)


def fmod(arg, mod, queue=None):
    """Remainder with the sign of `arg`."""
    return _compute("fmod", arg, operand(arg), operand(mod), queue=queue)


def frexp(arg, queue=None):
    """Significands, and exponents of int32."""
    import unisono

    significand, exponent = on_queue(queue or arg.queue, unisono.frexp, arg._value())
    return arg._like(significand, queue), arg._like(exponent, queue)


def ldexp(significand, exponent, queue=None):
    """``significand * 2**exponent``"""
    powers = operand(exponent.astype(np.int32) if exponent.dtype.kind != "i" else exponent)
    return _compute("ldexp", significand, operand(significand), powers, queue=queue)


def modf(arg, queue=None):
    """Fractional and integral parts."""
    import unisono

    parts = on_queue(queue or arg.queue, unisono.modf, arg._value())
    return tuple(arg._like(p, queue) for p in parts)
