"""Why the engine cannot be loaded on a processor older than it is built for."""

from pathlib import Path

# What x86-64-v3 has beyond the first 64-bit processors, by the names of /proc/cpuinfo.
_LEVEL = "sse4_2 popcnt avx avx2 bmi1 bmi2 f16c fma abm movbe".split()


def missing_features(cpuinfo):
    """Names of the features that the text of /proc/cpuinfo lacks."""
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), "")
    return [name for name in _LEVEL if name not in flags.split()]


def error_of_import(error):
    """The error to raise where the engine could not be loaded: `error`, or one that names what is wrong."""
    if isinstance(error.__cause__, ValueError):  # of an environment variable
        return error.__cause__
    if "CPU ISA level" not in str(error):
        return error
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text()
    except OSError:
        cpuinfo = ""
    missing = ", ".join(missing_features(cpuinfo)) or "one of its features"
    return ImportError(
        f"unisono: this processor lacks instructions that the engine is built for; got a processor without: "
        f"{missing}; expected x86-64-v3 (AVX2, FMA and BMI2: Intel since Haswell, 2013, AMD since Excavator, "
        f"2015); use a newer machine, or a virtual machine that shows these features to its guest "
        f"({error})"
    )
