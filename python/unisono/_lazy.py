"""Where names live that are loaded when they are first used."""

_jit = "barrier global_id global_size group_id jit kernel local_array local_id local_size num_groups prange"
homes = dict.fromkeys(_jit.split(), "._jit")
homes["mesh"] = "._mesh"
