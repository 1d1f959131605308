"""Types of ``unisono.extending``, written by scripts/stubs.py."""

from . import intrinsic as intrinsic
from . import overload as overload
from . import overload_attribute as overload_attribute
from . import overload_method as overload_method
from . import register_jitable as register_jitable
