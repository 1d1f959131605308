"""``cupy.cuda.texture``: memory that kernels read by coordinates."""

from ..._raw.textures import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    TextureDescriptor,
    TextureObject,
)

__all__ = [
    "CUDAarray",
    "ChannelFormatDescriptor",
    "ResourceDescriptor",
    "TextureDescriptor",
    "TextureObject",
]
