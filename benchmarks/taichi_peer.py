"""What Taichi takes for the benchmarks that it has a way to write."""

from timing import best_of


def start():
    import taichi as ti

    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
    return ti


def jacobi(u, v):
    """Seconds of a sweep between two fields."""
    ti = start()
    n = u.shape[0]
    a, b = (ti.field(ti.f64, (n, n)) for _ in range(2))
    a.from_numpy(u)
    b.from_numpy(v)

    @ti.kernel
    def step(u: ti.template(), u_new: ti.template()):
        for y, x in ti.ndrange((1, n - 1), (1, n - 1)):
            u_new[y, x] = ((u[y - 1, x] + u[y + 1, x]) + (u[y, x - 1] + u[y, x + 1])) / 4

    def sweeps():
        for _ in range(2):
            step(a, b)
            step(b, a)
        ti.sync()

    sweeps()
    return best_of(sweeps, 4, 5)


def expression(x, y, z, functions):
    """Seconds of one pass; `functions`: with sin, exp and sqrt."""
    ti = start()
    a, b, c, r = (ti.field(ti.f64, len(x)) for _ in range(4))
    for field, values in ((a, x), (b, y), (c, z)):
        field.from_numpy(values)

    @ti.kernel
    def arithmetic():
        for i in r:
            r[i] = a[i] * b[i] + c[i] * 2 - a[i] / 3

    @ti.kernel
    def with_functions():
        for i in r:
            r[i] = ti.sin(a[i]) * 2 + ti.exp(-b[i] * b[i]) - ti.sqrt(ti.abs(c[i]))

    run = with_functions if functions else arithmetic

    def once():
        run()
        ti.sync()

    once()
    return best_of(once, 1, 9)
