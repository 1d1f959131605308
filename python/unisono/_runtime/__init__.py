"""Devices, meshes, evaluation and settings, and the processor that the engine needs."""
