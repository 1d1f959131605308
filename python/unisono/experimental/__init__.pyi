"""Types of ``unisono.experimental``, written by scripts/stubs.py."""

from .. import jitclass as jitclass
from . import structref as structref
