"""Images and samplers."""

import ctypes

import numpy as np

from . import driver
from .constants import (
    addressing_mode,
    channel_order,
    channel_type,
    filter_mode,
    image_info,
    mem_flags,
    mem_object_type,
    sampler_info,
)
from .driver import call, create, wrong
from .handles import Holder, decode, expected, texts_of
from .memory import MemoryMap, MemoryObject, address_of, array_at, check_box, host_array, triple
from .platforms import Context
from .queues import CommandQueue, Event, enqueue, waits
from .tables import add_attributes

_channels = {
    **dict.fromkeys(("R", "A", "INTENSITY", "LUMINANCE", "Rx"), 1),
    **dict.fromkeys(("RG", "RA", "RGx"), 2),
    **dict.fromkeys(("RGB", "RGBx", "sRGB", "sRGBx"), 3),
    **dict.fromkeys(("RGBA", "BGRA", "ABGR", "sRGBA", "sBGRA"), 4),
}
_type_sizes = {
    **dict.fromkeys(("SNORM_INT8", "UNORM_INT8", "SIGNED_INT8", "UNSIGNED_INT8"), 1),
    **dict.fromkeys(
        ("SNORM_INT16", "UNORM_INT16", "SIGNED_INT16", "UNSIGNED_INT16", "HALF_FLOAT", "UNORM_SHORT_565",
         "UNORM_SHORT_555"), 2),
    **dict.fromkeys(("SIGNED_INT32", "UNSIGNED_INT32", "FLOAT", "UNORM_INT_101010", "UNORM_INT_101010_2"), 4),
}  # fmt: skip
_packed = ("UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010", "UNORM_INT_101010_2")

DTYPE_TO_CHANNEL_TYPE = {
    np.dtype(t): getattr(channel_type, name)
    for t, name in {
        "f4": "FLOAT", "f2": "HALF_FLOAT", "i1": "SIGNED_INT8", "i2": "SIGNED_INT16", "i4": "SIGNED_INT32",
        "u1": "UNSIGNED_INT8", "u2": "UNSIGNED_INT16", "u4": "UNSIGNED_INT32",
    }.items()
}  # fmt: skip
DTYPE_TO_CHANNEL_TYPE_NORM = {
    np.dtype(t): getattr(channel_type, name)
    for t, name in {
        "i1": "SNORM_INT8",
        "i2": "SNORM_INT16",
        "u1": "UNORM_INT8",
        "u2": "UNORM_INT16",
    }.items()
}


class ImageFormat:
    """How a pixel lies in memory: one of `channel_order` and one of `channel_type`."""

    __slots__ = ("channel_data_type", "channel_order")

    def __init__(self, channel_order, channel_type):
        self.channel_order, self.channel_data_type = channel_order, channel_type

    @property
    def channel_count(self):
        """Number of channels."""
        return _channels[channel_order.to_string(self.channel_order)]

    @property
    def dtype_size(self):
        """Bytes of a channel."""
        return _type_sizes[channel_type.to_string(self.channel_data_type)]

    @property
    def itemsize(self):
        """Bytes of a pixel."""
        packed = channel_type.to_string(self.channel_data_type) in _packed
        return self.dtype_size * (1 if packed else self.channel_count)

    def __repr__(self):
        order = channel_order.to_string(self.channel_order, "<unknown channel order 0x%x>")
        kind = channel_type.to_string(self.channel_data_type, "<unknown channel data type 0x%x>")
        return f"ImageFormat({order}, {kind})"

    def __eq__(self, other):
        return isinstance(other, ImageFormat) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return (self.channel_order, self.channel_data_type)


class ImageDescriptor:
    """Type and size of an image."""

    __slots__ = (
        "array_size",
        "buffer",
        "image_type",
        "num_mip_levels",
        "num_samples",
        "pitches",
        "shape",
    )

    def __init__(
        self, image_type=mem_object_type.IMAGE2D, shape=(0, 0, 0), array_size=0, pitches=(0, 0), num_mip_levels=0,
        num_samples=0, buffer=None,
    ):  # fmt: skip
        self.image_type, self.shape, self.array_size, self.pitches = (
            image_type,
            shape,
            array_size,
            pitches,
        )
        self.num_mip_levels, self.num_samples, self.buffer = num_mip_levels, num_samples, buffer


class _Format(ctypes.Structure):
    _fields_ = [("order", ctypes.c_uint32), ("kind", ctypes.c_uint32)]


class _Description(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint32),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
        ("array_size", ctypes.c_size_t), ("row_pitch", ctypes.c_size_t), ("slice_pitch", ctypes.c_size_t),
        ("levels", ctypes.c_uint32), ("samples", ctypes.c_uint32), ("buffer", ctypes.c_void_p),
    ]  # fmt: skip


def get_supported_image_formats(context, flags, image_type):
    """Formats of images of a type, one of `mem_object_type`, with some `mem_flags`.

    Returns
    -------
    list of ImageFormat
    """
    count = ctypes.c_uint32()
    expected(context, Context, "get_supported_image_formats")
    call(
        "clGetSupportedImageFormats",
        context.int_ptr,
        flags,
        image_type,
        0,
        None,
        ctypes.byref(count),
    )
    made = (_Format * count.value)()
    call("clGetSupportedImageFormats", context.int_ptr, flags, image_type, count, made, None)
    return [ImageFormat(f.order, f.kind) for f in made]


class Image(MemoryObject):
    """Pixels in one to three dimensions.

    Parameters
    ----------
    context : Context
    flags : int
        Of `mem_flags`.
    format : ImageFormat
    shape : tuple of int, optional
        Width first; by default that of `hostbuf`.
    pitches : tuple of int, optional
        Bytes of rows and slices of `hostbuf`.
    hostbuf : array, optional
    is_array : bool
        Whether the last dimension counts images.
    buffer : Buffer, optional
        Of whose memory a one-dimensional image is made.
    desc : ImageDescriptor, optional
        Instead of shape, pitches, is_array and buffer.
    """

    def __init__(
        self, context, flags, format, shape=None, pitches=None, hostbuf=None, is_array=False, buffer=None, *, desc=None
    ):  # fmt: skip
        if desc is None:
            desc = _describe(shape, pitches, hostbuf, is_array, buffer)
        elif shape is not None or pitches is not None or is_array or buffer is not None:
            raise TypeError("Image: expected desc, or shape and the like; got both")
        _check_sides(expected(context, Context, "Image"), desc)
        sides = [*desc.shape, 0, 0, 0][:3]
        pitches = [*(desc.pitches or ()), 0, 0][:2]
        described = _Description(
            desc.image_type, *sides, desc.array_size, *pitches, desc.num_mip_levels, desc.num_samples,
            desc.buffer.int_ptr if desc.buffer is not None else None,
        )  # fmt: skip
        pointer = None
        if hostbuf is not None:
            data = host_array("Image", hostbuf, writable=bool(flags & mem_flags.USE_HOST_PTR))
            width, height, depth = (max(n, 1) for n in sides)
            is_1d = desc.image_type == mem_object_type.IMAGE1D_ARRAY
            layers = (1, desc.array_size) if is_1d else (height, max(depth, desc.array_size))
            check_box(data, (width * format.itemsize, *layers), pitches=pitches)
            if flags & (mem_flags.USE_HOST_PTR | mem_flags.COPY_HOST_PTR):
                pointer = address_of(data)
            if flags & mem_flags.USE_HOST_PTR:
                self.hostbuf = hostbuf
        self._address = create(
            "clCreateImage", context.int_ptr, flags, ctypes.byref(_Format(*format._key())), ctypes.byref(described),
            pointer,
        )  # fmt: skip

    def get_image_info(self, param):
        """What the driver answers to a query, one of `image_info`."""
        data = driver.answer("clGetImageInfo", self.int_ptr, param)
        if param == image_info.FORMAT:
            found = _Format.from_buffer_copy(data)
            return ImageFormat(found.order, found.kind)
        if param == image_info.BUFFER:
            return decode(data, MemoryObject)
        return decode(data, "u" if len(data) == 4 else "z")

    @property
    def shape(self):
        """Width, height and depth, as many as the image has dimensions."""
        kind = self.type
        if kind == mem_object_type.IMAGE3D:
            return (self.width, self.height, self.depth)
        if kind in (mem_object_type.IMAGE1D, mem_object_type.IMAGE1D_BUFFER):
            return (self.width,)
        if kind == mem_object_type.IMAGE1D_ARRAY:
            return (self.width, self.array_size)
        if kind == mem_object_type.IMAGE2D_ARRAY:
            return (self.width, self.height, self.array_size)
        return (self.width, self.height)

    @property
    def image(self):
        """The image itself."""
        return self


def _image_attribute(what):
    return property(lambda self: self.get_image_info(what))


for _key, _what in vars(image_info).items():
    if isinstance(_what, int) and not _key.startswith("_"):
        setattr(Image, _key.lower(), _image_attribute(_what))


def _describe(shape, pitches, hostbuf, is_array, buffer):
    if shape is None:
        if hostbuf is None:
            raise wrong("Image", "INVALID_VALUE", "expected shape or hostbuf")
        shape = hostbuf.shape
    if pitches is not None and hostbuf is None:
        raise wrong("Image", "INVALID_VALUE", "pitches are those of hostbuf, which is not given")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if buffer is not None and is_array:
        raise ValueError("Image: expected buffer or is_array; got both")
    kinds = mem_object_type
    count = 0
    if buffer is not None:
        kind = kinds.IMAGE1D_BUFFER
    elif is_array:
        kind = {2: kinds.IMAGE1D_ARRAY, 3: kinds.IMAGE2D_ARRAY}.get(len(shape))
        *shape, count = shape
    else:
        kind = {1: kinds.IMAGE1D, 2: kinds.IMAGE2D, 3: kinds.IMAGE3D}.get(len(shape))
    if kind is None:
        raise wrong(
            "Image", "INVALID_VALUE", f"images have one to three dimensions; got shape {shape}"
        )
    return ImageDescriptor(kind, tuple(shape), count, pitches or (0, 0), buffer=buffer)


_kinds = mem_object_type
_limits = {  # of each side of a kind of image: what its devices call it
    **dict.fromkeys((_kinds.IMAGE1D, _kinds.IMAGE1D_ARRAY), ("image2d_max_width",)),
    **dict.fromkeys((_kinds.IMAGE2D, _kinds.IMAGE2D_ARRAY), ("image2d_max_width", "image2d_max_height")),
    _kinds.IMAGE3D: ("image3d_max_width", "image3d_max_height", "image3d_max_depth"),
    _kinds.IMAGE1D_BUFFER: ("image_max_buffer_size",),
}  # fmt: skip


def _check_sides(context, desc):
    """Refuses images without pixels, and larger ones than any device of the context takes."""
    is_array = desc.image_type in (_kinds.IMAGE1D_ARRAY, _kinds.IMAGE2D_ARRAY)
    sides = [*desc.shape, desc.array_size] if is_array else desc.shape
    limits = _limits.get(desc.image_type, ()) + ("image_max_array_size",) * is_array
    for side, limit in zip(sides, limits, strict=False):
        if side < 1:
            raise wrong(
                "Image", "INVALID_IMAGE_SIZE",
                f"an image has at least one pixel along each axis; got shape {tuple(sides)}",
            )  # fmt: skip
        known = [getattr(d, limit) for d in context.devices if d.image_support]
        most = max(known, default=side)  # without images the driver says so
        if side > most:
            raise wrong(
                "Image", "INVALID_IMAGE_SIZE",
                f"got shape {tuple(sides)}; the device's {limit} is {most}",
            )  # fmt: skip


def create_image(
    context, flags, format, shape=None, pitches=None, hostbuf=None, is_array=False, buffer=None
):
    """An image; parameters are those of `Image`."""
    return Image(context, flags, format, shape, pitches, hostbuf, is_array, buffer)


def image_from_array(ctx, ary, num_channels=None, mode="r", norm_int=False):
    """A two- or three-dimensional image of an array.

    Parameters
    ----------
    ctx : Context
    ary : numpy.ndarray
        In C order; the last axis of a 3-dimensional array is the channels', if `num_channels` is given.
    num_channels : int, optional
    mode : {"r", "w"}
        Whether kernels read or write it.
    norm_int : bool
        Whether integers stand for numbers from 0 (or -1) to 1.

    Returns
    -------
    Image
    """
    if not ary.flags.c_contiguous:
        raise ValueError(
            "image_from_array: the array is not in C order; use numpy.ascontiguousarray(a)"
        )
    dtype, shape = ary.dtype, ary.shape
    if num_channels is None:
        from .. import cltypes

        try:
            dtype, num_channels = cltypes.vec_type_to_scalar_and_count[dtype]
        except KeyError:
            num_channels = 1
    elif num_channels != 1:
        if shape[-1] != num_channels:
            raise RuntimeError(
                f"image_from_array: the last axis has {num_channels} elements; got shape {shape}"
            )
        shape = shape[:-1]
    flags = mem_flags.COPY_HOST_PTR | {"r": mem_flags.READ_ONLY, "w": mem_flags.WRITE_ONLY}[mode]
    order = {1: channel_order.R, 2: channel_order.RG, 3: channel_order.RGB, 4: channel_order.RGBA}[
        num_channels
    ]
    kinds = DTYPE_TO_CHANNEL_TYPE_NORM if norm_int else DTYPE_TO_CHANNEL_TYPE
    return create_image(
        ctx, flags, ImageFormat(order, kinds[np.dtype(dtype)]), shape=shape[::-1], hostbuf=ary
    )


class Sampler(Holder):
    """How a kernel reads an image between its pixels and beyond its edges.

    Parameters
    ----------
    context : Context
    normalized_coords : bool
    addressing_mode, filter_mode : int
        Of the classes of those names.
    """

    _retain, _release = "clRetainSampler", "clReleaseSampler"
    _queries = (
        "clGetSamplerInfo",
        {**texts_of(sampler_info, "b NORMALIZED_COORDS"), sampler_info.CONTEXT: Context},
    )

    def __init__(
        self,
        context,
        normalized_coords,
        addressing_mode=addressing_mode.NONE,
        filter_mode=filter_mode.NEAREST,
    ):
        self._address = create(
            "clCreateSampler", expected(context, Context, "Sampler").int_ptr, bool(normalized_coords), addressing_mode, filter_mode
        )  # fmt: skip


add_attributes(Sampler, sampler_info)


def copy_image(queue, dest, src, *, wait_for=None, is_blocking=True, **where):
    """Copies between images, buffers and the host."""

    def box(*names):
        found = next((where.pop(n) for n in names if where.get(n) is not None), None)
        return found

    if isinstance(dest, Image) and isinstance(src, Image):
        origins = (
            triple(box("src_origin") or (0,), 0),
            triple(box("dest_origin", "dst_origin") or (0,), 0),
        )
        region = triple(box("region") or src.shape, 1)
        name, args = "clEnqueueCopyImage", (src.int_ptr, dest.int_ptr, *origins, region)
    elif isinstance(dest, MemoryObject) and isinstance(src, MemoryObject):
        image = dest if isinstance(dest, Image) else src
        origin, region = triple(box("origin") or (0,), 0), triple(box("region") or image.shape, 1)
        offset = where.pop("offset", 0)
        if image is dest:
            name, args = (
                "clEnqueueCopyBufferToImage",
                (src.int_ptr, dest.int_ptr, offset, origin, region),
            )
        else:
            name, args = (
                "clEnqueueCopyImageToBuffer",
                (src.int_ptr, dest.int_ptr, origin, region, offset),
            )
    else:
        reads = isinstance(src, Image)
        image, host = (src, dest) if reads else (dest, src)
        data = host_array("enqueue_copy", host, writable=reads)
        pitches = [*(box("pitches") or ()), 0, 0][:2]
        origin, region = triple(box("origin") or (0,), 0), triple(box("region") or image.shape, 1)
        width = region[0] * image.format.itemsize
        check_box(data, (width, *region[1:]), pitches=pitches)
        name = "clEnqueueReadImage" if reads else "clEnqueueWriteImage"
        args = (image.int_ptr, is_blocking, origin, region, *pitches, address_of(data))
        if where:
            raise TypeError(f"enqueue_copy: unknown arguments for an image: {', '.join(where)}")
        return enqueue(name, queue, *args, wait_for=wait_for, ward=None if is_blocking else host)
    if where:
        raise TypeError(f"enqueue_copy: unknown arguments for images: {', '.join(where)}")
    return enqueue(name, queue, *args, wait_for=wait_for)


def enqueue_fill_image(queue, mem, color, origin, region, wait_for=None):
    """Fill a box of an image with a colour, an array of four numbers."""
    data = np.asarray(color)
    if data.nbytes != 16:
        raise wrong(
            "enqueue_fill_image",
            "INVALID_VALUE",
            f"a colour has four numbers of 4 bytes; got {data.dtype} {data.shape}",
        )
    return enqueue(
        "clEnqueueFillImage", queue, mem.int_ptr, data.tobytes(), triple(origin, 0), triple(region, 1), wait_for=wait_for
    )  # fmt: skip


def enqueue_map_image(
    queue, img, flags, origin, region, shape, dtype, order="C", strides=None, wait_for=None, is_blocking=True
):  # fmt: skip
    """Let the host see a box of an image.

    Returns
    -------
    (numpy.ndarray, Event, int, int)
        The array, the event, and bytes of a row and of a slice.
    """
    expected(queue, CommandQueue, "enqueue_map_image")
    expected(img, Image, "enqueue_map_image")
    made, code = ctypes.c_void_p(), ctypes.c_int32()
    row, piece = ctypes.c_size_t(), ctypes.c_size_t()
    address = driver.function("clEnqueueMapImage")(
        queue.int_ptr, img.int_ptr, bool(is_blocking), flags, triple(origin, 0), triple(region, 1), ctypes.byref(row),
        ctypes.byref(piece), *waits(wait_for), ctypes.byref(made), ctypes.byref(code),
    )  # fmt: skip
    if code.value:
        raise driver.error_of(code.value, "clEnqueueMapImage")
    mapped = MemoryMap(queue, img, address)
    return (
        array_at(mapped, address, shape, dtype, order, strides),
        Event._of(made.value),
        row.value,
        piece.value,
    )
