"""Measures how fast this machine copies memory: what a sweep's bytes per second are compared with."""

import threading
import time

import numpy as np


def copy_bandwidth(megabytes=128, repeats=5):
    """Bytes read and written per second when all cores copy arrays beyond the caches; the best of some runs."""
    import os

    threads = len(os.sched_getaffinity(0))
    parts = []
    for _ in range(threads):
        source = np.ones(megabytes * 2**20 // 8 // threads)
        parts.append((source, np.zeros_like(source)))
    best = float("inf")
    for _ in range(repeats):
        workers = [threading.Thread(target=np.copyto, args=(b, a)) for a, b in parts]
        begin = time.perf_counter()
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        best = min(best, time.perf_counter() - begin)
    return sum(2 * a.nbytes for a, _ in parts) / best
