"""Textures with CuPy's names: memory that kernels read by coordinates, on every device.

A texture is an array of float32 for kernels: `_HEADER` numbers that say how it is read, and the elements.
``tex1D<float>(t, x)`` and its like are functions of the `translation.prelude`.
"""

from __future__ import annotations

from .._engine import _Array

__all__ = [
    "CUDAarray",
    "ChannelFormatDescriptor",
    "ResourceDescriptor",
    "TextureDescriptor",
    "TextureObject",
]

_FLOAT, _ARRAY = 2, 0  # cudaChannelFormatKindFloat, cudaResourceTypeArray
_WRAP, CLAMP, _MIRROR, _BORDER = range(4)  # cudaAddressMode...
MOST_ALONG = 1 << 24  # what float32 counts
_HEADER = 9  # width, height, depth, three address modes, filter, whether coordinates are normalised, border


def how_it_is_read(modes, filter_mode, is_normalized, border):
    """The numbers of a header behind the sizes."""
    modes = [*modes, CLAMP, CLAMP, CLAMP][:3]
    if not is_normalized:
        modes = [m if m == _BORDER else CLAMP for m in modes]
    return [*modes, filter_mode, bool(is_normalized), float(border)]


def packed_texture(elements, numbers):
    """The memory of a texture of float32 elements, read as `how_it_is_read` has it."""
    import unisono as un

    if max(elements.shape) > MOST_ALONG:
        raise ValueError(
            f"a texture has at most {MOST_ALONG} elements along an axis; got shape {tuple(elements.shape)}; index an "
            f"array of the device"
        )
    sizes = [*elements.shape[::-1], 1, 1][:3]
    header = un.asarray([*sizes, *numbers], un.float32, device=elements.device)
    return un.concatenate([header, elements.reshape(-1)])


class ChannelFormatDescriptor:
    """Bits of each channel of an element, and their kind: ``(32, 0, 0, 0, cudaChannelFormatKindFloat)`` is there.

    Parameters
    ----------
    x, y, z, w : int
        Bits of the channels.
    f : int
        ``runtime.cudaChannelFormatKindFloat``.

    Raises
    ------
    ValueError
        For other formats.
    """

    def __init__(self, x, y, z, w, f):
        if (x, y, z, w, f) != (32, 0, 0, 0, _FLOAT):
            raise ValueError(
                f"ChannelFormatDescriptor: textures have one channel of float32; got {(x, y, z, w, f)}; expected "
                f"(32, 0, 0, 0, cudaChannelFormatKindFloat)"
            )

    def get_channel_format(self):
        """The bits and the kind by name."""
        return {"x": 32, "y": 0, "z": 0, "w": 0, "f": _FLOAT}


class CUDAarray:
    """Memory of a texture.

    Parameters
    ----------
    desc : ChannelFormatDescriptor
    width, height, depth : int
        0 for an axis that is not there.
    flags : int, optional
        CuPy's, without effect.
    """

    def __init__(self, desc, width, height=0, depth=0, flags=0):
        import unisono as un

        from ..cuda.devices import current_device

        self.desc, self.flags = desc, flags
        self.width, self.height, self.depth = width, height, depth
        self.ndim = 3 if depth else 2 if height else 1
        self.shape = (depth, height, width)[3 - self.ndim :]
        self._elements = un.zeros(self.shape, un.float32, device=current_device())

    def copy_from(self, in_arr, stream=None):
        """Copy an array of the same shape into it; `stream` is without effect."""
        self._elements[...] = self._fitting(in_arr, "copy_from")

    def copy_to(self, out_arr, stream=None):
        """Copy the elements into an array of the same shape."""
        self._fitting(out_arr, "copy_to")[...] = (
            self._elements if isinstance(out_arr, _Array) else self._elements.get()
        )

    def _fitting(self, a, what):
        if tuple(a.shape) != self.shape or a.dtype.name != "float32":
            raise ValueError(
                f"CUDAarray.{what}: the texture has float32 of shape {self.shape}; got {a.dtype} of shape "
                f"{tuple(a.shape)}; give such an array"
            )
        return a


class ResourceDescriptor:
    """What a texture is made of: ``ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)``.

    Parameters
    ----------
    restype : int
    cuArr : CUDAarray

    Raises
    ------
    ValueError
        For other resources.
    """

    def __init__(self, restype, cuArr=None, *others, **named):
        if restype != _ARRAY or not isinstance(cuArr, CUDAarray):
            raise ValueError(
                f"ResourceDescriptor: textures are made of a CUDAarray; got type {restype} and "
                f"{type(cuArr).__name__}; expected cudaResourceTypeArray and cuArr="
            )
        self.cuArr = cuArr


class TextureDescriptor:
    """How a texture is read.

    Parameters
    ----------
    addressModes : sequence of int, optional
        Of each axis, what coordinates out of range mean: ``runtime.cudaAddressModeWrap``, ``...Clamp``, ``...Mirror``,
        ``...Border``. Wrap and mirror are for normalised coordinates, and else clamp, as CUDA has it.
    filterMode : int
        ``runtime.cudaFilterModePoint`` or ``...Linear``, whose weights are float32.
    readMode : int
        ``runtime.cudaReadModeElementType``.
    borderColors : sequence of float, optional
        The first is what elements out of range are.
    normalizedCoords : bool
        Whether coordinates reach from 0 to 1.
    sRGB, maxAnisotropy : optional
        CuPy's, without effect for float32.
    """

    def __init__(
        self, addressModes=None, filterMode=0, readMode=0, sRGB=None, borderColors=None, normalizedCoords=None,
        maxAnisotropy=None,
    ):  # fmt: skip
        border = borderColors[0] if borderColors else 0
        self._numbers = how_it_is_read(addressModes or (), filterMode, normalizedCoords, border)


class TextureObject:
    """A texture, an argument of kernels: of `RawKernel` for ``cudaTextureObject_t``, of `ElementwiseKernel` for a letter.

    It has the elements that its memory has when it is made.

    Parameters
    ----------
    ResDesc : ResourceDescriptor
    TexDesc : TextureDescriptor
    """

    def __init__(self, ResDesc, TexDesc):
        self.ResDesc, self.TexDesc = ResDesc, TexDesc
        self._memory = packed_texture(ResDesc.cuArr._elements, TexDesc._numbers)

    def __cupy_get_ndarray__(self):
        return self._memory
