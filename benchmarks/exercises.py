"""A hundred small exercises with arrays as one script, each of them once: what a newcomer's first program takes.

`run.py exercises` times the process, import included, less that of bare Python; caches are warm.
"""

import statistics
import subprocess
import sys
import time

SCRIPT = """
import {module} as xp

rng = xp.random.default_rng(7)
zeros = xp.zeros(10)
zeros[4] = 1
line = xp.arange(10, 50)
back = line[::-1]
square = xp.arange(9).reshape(3, 3)
places = xp.nonzero(xp.asarray([1, 2, 0, 0, 4, 0]))
unit = xp.eye(3)
cube = rng.random((3, 3, 3))
page = rng.random((10, 10))
least, most = page.min(), page.max()
mean = rng.random(30).mean()
frame = xp.ones((6, 6))
frame[1:-1, 1:-1] = 0
padded = xp.pad(xp.ones((4, 4)), 1)
below = xp.diag(1 + xp.arange(4), k=-1)
board = xp.zeros((8, 8), dtype=int)
board[1::2, ::2] = 1
board[::2, 1::2] = 1
where_it_is = xp.unravel_index(99, (6, 7, 8))
tiles = xp.tile(xp.asarray([[0, 1], [1, 0]]), (4, 4))
scaled = (page - page.mean()) / page.std()
product = xp.ones((5, 3)) @ xp.ones((3, 2))
few = xp.arange(11)
few[(few > 3) & (few < 8)] *= -1
total = few.sum()
both = xp.intersect1d(rng.integers(0, 10, 10), rng.integers(0, 10, 10))
either = xp.union1d(both, xp.asarray([3, 5]))
third = xp.setdiff1d(either, both)
away = xp.copysign(xp.ceil(xp.abs(rng.uniform(-10, 10, 10))), -1.0)
whole = xp.trunc(rng.uniform(0, 10, 10))
rows = xp.zeros((5, 5)) + xp.arange(5.0)
listed = xp.asarray([k * k for k in range(10)])
inner = xp.linspace(0, 1, 11, endpoint=False)[1:]
ordered = xp.sort(rng.random(10))
same = xp.allclose(rng.random(5), rng.random(5))
points = rng.random((10, 2))
radius = xp.sqrt((points**2).sum(axis=1))
angle = xp.arctan2(points[:, 1], points[:, 0])
top = rng.random(10)
top[top.argmax()] = 0
grid = xp.meshgrid(xp.linspace(0, 1, 5), xp.linspace(0, 1, 5))
cauchy = 1.0 / xp.subtract.outer(xp.arange(8), xp.arange(8) + 0.5)
det = xp.linalg.det(cauchy)
limits = xp.iinfo(xp.int32).max, xp.finfo(xp.float32).eps
near = few[xp.abs(few - 4.2).argmin()]
apart = xp.sqrt(((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=-1))
single = xp.arange(10, dtype=xp.float32).astype(xp.int32)
bell = xp.exp(-(xp.hypot(*xp.meshgrid(xp.linspace(-1, 1, 10), xp.linspace(-1, 1, 10))) ** 2))
placed = xp.zeros((10, 10))
xp.put(placed, rng.choice(100, 3, replace=False), 1)
centred = page - page.mean(axis=1, keepdims=True)
by_column = page[page[:, 1].argsort()]
empty_columns = (~page.any(axis=0)).any()
nearest = page.flat[xp.abs(page - 0.5).argmin()]
added = xp.arange(3).reshape(3, 1) + xp.arange(3).reshape(1, 3)
counted = xp.bincount(rng.integers(0, 5, 20), minlength=5)
weighted = xp.bincount(xp.asarray([1, 3, 9]), xp.asarray([1.0, 2.0, 3.0]), minlength=10)
colours = xp.unique(rng.integers(0, 2, (16, 3)), axis=0).shape[0]
planes = cube.sum(axis=(-2, -1))
groups = weighted / xp.maximum(1, xp.bincount(xp.asarray([1, 3, 9]), minlength=10))
diagonal = xp.einsum("ij,ji->i", page, page)
spaced = xp.zeros(17)
spaced[::4] = xp.arange(1, 6)
times_plane = xp.ones((5, 5, 3)) * (2 * xp.ones((5, 5)))[:, :, None]
swapped = xp.arange(25).reshape(5, 5)
swapped[[0, 1]] = swapped[[1, 0]]
faces = rng.integers(0, 100, (10, 3))
edges = xp.roll(faces.repeat(2, axis=1), -1, axis=1).reshape(-1, 2)
edges.sort(axis=1)
repeated = xp.repeat(xp.arange(5), xp.asarray([1, 0, 2, 1, 3]))
steps = xp.cumsum(xp.ones(20))
moving = (steps[3:] - steps[:-3]) / 3
windows = xp.lib.stride_tricks.sliding_window_view(xp.arange(10), 3)
negated = xp.logical_not(rng.integers(0, 2, 10))
signs = xp.negative(rng.uniform(-1, 1, 10))
blocks = xp.add.reduceat(xp.add.reduceat(xp.ones((16, 16)), xp.arange(0, 16, 4), axis=0), xp.arange(0, 16, 4), axis=1)
life = rng.integers(0, 2, (12, 12))
neighbours = sum(life[1 + i : 11 + i, 1 + j : 11 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
life[1:-1, 1:-1] = (neighbours == 3) | ((life[1:-1, 1:-1] == 1) & (neighbours == 2))
largest = steps[xp.argpartition(steps, -5)[-5:]]
pairs = xp.stack(xp.meshgrid(xp.arange(3), xp.arange(4)), axis=-1).reshape(-1, 2)
rank = xp.linalg.matrix_rank(page)
often = xp.bincount(rng.integers(0, 10, 50)).argmax()
patches = xp.lib.stride_tricks.sliding_window_view(rng.integers(0, 5, (10, 10)), (3, 3))
symmetric = (page + page.T) / 2
stacked = xp.tensordot(xp.ones((4, 5, 5)), xp.ones((4, 5, 1)), axes=[[0, 2], [0, 1]])
solved = xp.linalg.solve(symmetric + 10 * xp.eye(10), xp.ones(10))
eigen = xp.linalg.eigvalsh(symmetric)
lower = xp.tril(page).sum() - xp.triu(page, 1).sum()
bits = ((xp.arange(16)[:, None] & (1 << xp.arange(8))) != 0).astype(int)
distinct = xp.unique(xp.asarray([3, 1, 3, 2]), return_counts=True)
summed = xp.einsum("i->", steps), xp.einsum("i,j->ij", steps[:3], steps[:3])
along = xp.linspace(0, 1, 25)
path = xp.interp(along, xp.cumsum(xp.asarray([0, 0.3, 0.7])), xp.asarray([0.0, 1.0, 4.0]))
integers = page[(xp.mod(page, 1) == 0).all(axis=1)]
chosen = xp.percentile(rng.choice(steps, (100, 20)).mean(axis=1), [2.5, 97.5])
transformed = xp.abs(xp.fft.rfft(xp.sin(steps)))
smooth = xp.convolve(steps, xp.ones(3) / 3, mode="valid")
fitted = xp.polyfit(along, 2 * along + 1, 1)
table = xp.histogram(rng.standard_normal(100), bins=10)[0]
correlated = xp.corrcoef(rng.random((3, 20)))
clipped = xp.clip(signs, -0.5, 0.5)
text = str(page), repr(few)
assert text and board.sum() == 32 and colours <= 8 and padded.sum() == 16 and abs(fitted[0] - 2) < 1e-9
"""


def wall(code):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - begin


def measure(name, who):
    """Process with the script less bare Python, in turn."""
    code = SCRIPT.format(module=who)
    wall(code)
    return statistics.median(wall(code) - wall("pass") for _ in range(9))
