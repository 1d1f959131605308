"""Peers in C and Fortran, compiled when they run into a temporary folder, called through ctypes."""

import atexit
import ctypes
import shutil
import subprocess
import tempfile

FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]

JACOBI_C = """
void jacobi(long n, const double *restrict u, double *restrict v) {
    #pragma omp parallel for schedule(static)
    for (long y = 1; y < n - 1; ++y)
        for (long x = 1; x < n - 1; ++x)
            v[y*n + x] = (u[(y+1)*n + x] + u[(y-1)*n + x] + u[y*n + x+1] + u[y*n + x-1]) / 4;
}
"""
# The first index of Fortran's arrays is the fastest: x comes first.
JACOBI_FORTRAN = """
subroutine jacobi(n, u, v) bind(c)
    use iso_c_binding
    integer(c_long), value :: n
    real(c_double), intent(in) :: u(n, n)
    real(c_double), intent(inout) :: v(n, n)
    integer(c_long) :: x, y
    !$omp parallel do schedule(static) private(x)
    do y = 2, n - 1
        do x = 2, n - 1
            v(x, y) = (u(x, y+1) + u(x, y-1) + u(x+1, y) + u(x-1, y)) / 4
        end do
    end do
end subroutine
"""
EXPRESSION_C = """
void expression(long n, const double *restrict a, const double *restrict b, const double *restrict c,
                double *restrict out) {
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < n; ++i) out[i] = a[i]*b[i] + c[i]*2 - a[i]/3;
}
"""
# The same steps as examples/mask_methods/compiled.py: floats of the corners, doubles of the points.
MASK_C = """
#include <stdbool.h>
#include <stdint.h>
static inline float lesser(float a, float b) { return a < b ? a : b; }
static inline float greater(float a, float b) { return a > b ? a : b; }
static bool is_inside(long count, const float *restrict vertices, double x, double y) {
    bool odd = false;
    for (long k = 0; k < count; ++k) {
        float x1 = vertices[2*k], y1 = vertices[2*k + 1];
        if (x1 == x && y1 == y) return true;
        long next = (k + 1) % count;
        float x2 = vertices[2*next], y2 = vertices[2*next + 1];
        if (y > lesser(y1, y2) && y <= greater(y1, y2) && x <= greater(x1, x2))
            if (y1 != y2 && (x1 == x2 || x <= (y - y1) * (x2 - x1) / (y2 - y1) + x1)) odd = !odd;
    }
    return odd;
}
void mask(long count, const float *restrict vertices, long rows, long columns, uint8_t *restrict out) {
    #pragma omp parallel for
    for (long i = 0; i < rows; ++i)
        for (long j = 0; j < columns; ++j) out[i*columns + j] = is_inside(count, vertices, i, j);
}
"""


def build(compiler, source, parallel):
    """Compile the source; return the loaded library."""
    folder = tempfile.mkdtemp(prefix="unisono-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = f"{folder}/peer.{'f90' if compiler == 'gfortran' else 'c'}"
    with open(path, "w") as f:
        f.write(source)
    flags = [*FLAGS, *(["-fopenmp"] if parallel else [])]
    subprocess.run([compiler, *flags, path, "-o", f"{folder}/peer.so"], check=True)
    return ctypes.CDLL(f"{folder}/peer.so")


def jacobi(compiler, parallel):
    """A sweep as a function of two NumPy arrays."""
    source = JACOBI_FORTRAN if compiler == "gfortran" else JACOBI_C
    function = build(compiler, source, parallel).jacobi

    def step(u, v):
        function(
            ctypes.c_long(u.shape[0]),
            ctypes.c_void_p(u.ctypes.data),
            ctypes.c_void_p(v.ctypes.data),
        )

    return step


def expression():
    """a*b + c*2 - a/3 into the fourth array."""
    function = build("gcc", EXPRESSION_C, True).expression

    def run(*arrays):
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
        function(ctypes.c_long(arrays[0].size), *pointers)

    return run


def mask():
    """The points inside a polygon as a function of its corners and the mask, NumPy arrays."""
    function = build("gcc", MASK_C, True).mask

    def run(vertices, out):
        function(
            ctypes.c_long(len(vertices)),
            ctypes.c_void_p(vertices.ctypes.data),
            *map(ctypes.c_long, out.shape),
            ctypes.c_void_p(out.ctypes.data),
        )

    return run
