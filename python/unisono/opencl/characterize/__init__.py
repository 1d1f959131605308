"""`pyopencl.characterize`: what devices can do beyond what they tell."""

from .._objects.constants import device_local_mem_type, device_type
from .._objects.svm import has_capability


def has_double_support(dev):
    """Whether it computes with float64."""
    return "cl_khr_fp64" in dev.extensions.split() or bool(dev.double_fp_config)


def has_amd_double_support(dev):
    """Whether it has AMD's extension for float64."""
    return "cl_amd_fp64" in dev.extensions.split()


def has_struct_arg_count_bug(dev, ctx=None):
    """Whether its driver counts arguments that are structs wrongly: none of today's does."""
    return False


def get_pocl_version(platform, fallback_value=None):
    """Version of PoCL, as (major, minor), or None for another driver."""
    import re

    if platform.name != "Portable Computing Language":
        return None
    found = re.search(r"PoCL (\d+)\.(\d+)|pocl (\d+)\.(\d+)", platform.version)
    return tuple(int(n) for n in found.groups() if n is not None) if found else fallback_value


def reasonable_work_group_size_multiple(dev, ctx=None):
    """A number of work-items that work-groups should be a multiple of."""
    return 1 if dev.type & device_type.CPU else dev.preferred_work_group_size_multiple or 32


def get_simd_group_size(dev, type_size):
    """Work-items that go in lockstep."""
    return 1 if dev.type & device_type.CPU else reasonable_work_group_size_multiple(dev)


def usable_local_mem_size(dev, nargs=None):
    """Bytes of local memory that a kernel may use."""
    return (
        dev.local_mem_size
        if dev.local_mem_type == device_local_mem_type.LOCAL
        else dev.local_mem_size
    )


def get_fast_inaccurate_build_options(dev):
    """Options with which the compiler rounds as it likes."""
    return ["-cl-mad-enable", "-cl-fast-relaxed-math", "-cl-no-signed-zeros"]


def has_src_build_cache(dev):
    """Whether the driver keeps what it compiled; None where that is not known."""
    return True if dev.platform.name == "Portable Computing Language" else None


def has_coarse_grain_buffer_svm(dev):
    """Whether it has coarse-grained shared virtual memory."""
    return has_capability(dev, "COARSE_GRAIN_BUFFER")


def has_fine_grain_buffer_svm(dev):
    """Whether it has fine-grained shared virtual memory."""
    return has_capability(dev, "FINE_GRAIN_BUFFER")


def has_fine_grain_system_svm(dev):
    """Whether it reaches all memory of the host."""
    return has_capability(dev, "FINE_GRAIN_SYSTEM")


def has_fine_grain_buffer_svm_atomics(dev):
    """Whether atomics of host and device see each other in fine-grained memory."""
    return has_fine_grain_buffer_svm(dev) and has_capability(dev, "ATOMICS")


def has_fine_grain_system_svm_atomics(dev):
    """Whether atomics of host and device see each other in all memory."""
    return has_fine_grain_system_svm(dev) and has_capability(dev, "ATOMICS")
