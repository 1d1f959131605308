"""The baseline in Fortran, compiled by gfortran -O3 where that is installed: serial, and with OpenMP."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from .method import Method, Outcome

# A C array in Fortran's order of axes: x comes first.
SOURCE = """
subroutine solve(u, u_new, width, height) bind(c)
  use iso_c_binding
  integer(c_int), value :: width, height
  real(KIND), intent(in) :: u(width, height)
  real(KIND), intent(inout) :: u_new(width, height)
  integer :: x, y
  !$omp parallel do
  do y = 2, height - 1
    do x = 2, width - 1
      u_new(x, y) = ((u(x, y - 1) + u(x, y + 1)) + (u(x - 1, y) + u(x + 1, y))) / 4
    end do
  end do
end subroutine
"""


class Fortran(Method):
    """A subroutine in a shared library, called with pointers to NumPy's arrays."""

    def __init__(self, name, *options):
        self.name, self.options, self.built = name, options, {}

    def place(self, u):
        if u.dtype not in self.built:
            self.built[u.dtype] = self.build({4: "c_float", 8: "c_double"}[u.itemsize])
        self.function = self.built[u.dtype]
        return u.copy()

    def build(self, kind):
        """Compile for a kind of number."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "solve.f90"), Path(folder, "solve.so")
            source.write_text(SOURCE.replace("KIND", kind))
            # Contraction would give other bits than NumPy's.
            options = ["-O3", "-march=native", "-ffp-contract=off", "-fprotect-parens"]
            command = ["gfortran", *options, *self.options, "-shared", "-fPIC"]
            subprocess.run([*command, "-o", library, source], check=True, capture_output=True)
            return ctypes.CDLL(str(library)).solve

    def step(self, u, u_new):
        pointers = (ctypes.c_void_p(a.ctypes.data) for a in (u, u_new))
        self.function(*pointers, u.shape[1], u.shape[0])

    def change(self):
        return float(np.max(self.u - self.u_new))


def methods():
    if shutil.which("gfortran") is None:
        yield Outcome("gfortran -O3", missing="gfortran was not found (Debian: gfortran)")
        return
    yield Fortran("gfortran -O3")
    yield Fortran("gfortran -O3 -fopenmp", "-fopenmp")
