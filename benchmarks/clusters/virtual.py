"""What a statement costs the ranks of large and small jobs, on virtual ranks: python benchmarks/clusters/virtual.py."""

import time

import unisono as un

_columns, _rows, _sweeps = 64, 16, 400


def sweeps(m, layout=None):
    """Slices of an array of which each rank has the same share, however many ranks there are."""
    u = un.zeros((_rows * m.size, _columns), mesh=m, layout=layout)
    v = u.copy()
    for _ in range(_sweeps // 2):
        v[1:-1, 1:-1] = ((u[:-2, 1:-1] + u[2:, 1:-1]) + (u[1:-1, :-2] + u[1:-1, 2:])) / 4
        u[1:-1, 1:-1] = ((v[:-2, 1:-1] + v[2:, 1:-1]) + (v[1:-1, :-2] + v[1:-1, 2:])) / 4
    un.eval(u)


def mirrored(m):
    """Parts that are fetched from the other end."""
    u = un.zeros(512 * m.size, mesh=m)
    v = un.zeros(512 * m.size, mesh=m)
    for _ in range(_sweeps):
        v[...] = u[::-1] + 1
    un.eval(v)


def bookkeeping():
    print("a statement of a sampled rank: us of processor time, messages, bytes")
    for program, statements in ((sweeps, 5 * _sweeps), (mirrored, 2 * _sweeps)):
        for p in (10, 1000, 100_000):
            m = un.mesh("virtual", p, sample=(p // 3, p // 2))
            best = None
            for _ in range(6):
                m.run(program, m)
                r = m.report()
                best = min(best or 1e9, *r.computing)
            print(
                f"{program.__name__:>8} p = {p:>6}: {best / statements * 1e6:6.2f} us, "
                f"{r.messages[0] / statements:.3f} messages, {r.bytes[0] / statements:.0f} bytes"
            )


def one_rank():
    """Microseconds of (a + b) * 2 - a of 1000 elements, without a mesh and on one of one rank: in one process by
    turns, since a whole process may find the machine slower than the next one does."""
    mesh = un.mesh("mpi")
    operands = [
        (un.ones(1000), un.ones(1000)),
        (un.ones(1000, mesh=mesh), un.ones(1000, mesh=mesh)),
    ]
    best = [1e9, 1e9]
    for turn in range(600):
        for which in (0, 1) if turn % 2 else (1, 0):
            a, b = operands[which]
            start = time.perf_counter()
            for _ in range(300):
                c = (a + b) * 2 - a
            un.eval(c)
            best[which] = min(best[which], (time.perf_counter() - start) / 300 * 1e6)
    return best


def small_statements(ranks):
    """Microseconds a rank of a statement of 1000 elements without messages."""

    def program():
        m = un.mesh() if ranks else None
        place = {"mesh": m} if ranks else {}
        x, y = un.ones(1000, **place), un.ones(1000, **place)
        un.eval(x, y)
        best = 1e9
        for _ in range(15):
            start = time.thread_time()
            for _ in range(200):
                y += x
            un.eval(y)
            best = min(best, (time.thread_time() - start) / 200 * 1e6)
        return best

    return un.mesh("virtual", ranks).run(program) if ranks else [program()]


if __name__ == "__main__":
    bookkeeping()
    host, mesh = one_rank()
    print(
        f"(a + b) * 2 - a of 1000 elements: {host:.3f} us, on one rank {mesh / host:.2f} times that"
    )
    for ranks in (0, 1, 2):
        times = ", ".join(f"{t:.2f}" for t in small_statements(ranks))
        print(
            f"y += x of 1000 elements, {f'{ranks} virtual ranks' if ranks else 'no mesh'}: {times} us a rank"
        )
