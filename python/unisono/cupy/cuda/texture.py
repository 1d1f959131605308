"""``cupy.cuda.texture``: memory that kernels read by coordinates."""

from ..._raw.textures import *  # noqa: F403
from ..._raw.textures import __all__ as __all__
