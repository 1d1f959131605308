"""fortran: compiled by gfortran, with the source itself, or a signature file, as declarations."""

import shutil
import subprocess

import numpy as np
import pytest
import unisono as un

SOURCE = """
subroutine laplace(u, v, n, m)
  integer, intent(in) :: n, m
  real(8), intent(in) :: u(n, m)
  real(8), intent(out) :: v(n, m)
  integer i, j
  v = u
  do j = 2, m - 1
    do i = 2, n - 1
      v(i, j) = (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1)) / 4
    end do
  end do
end subroutine
subroutine turned(n, z, k)
  integer, intent(in) :: n
  complex(8), intent(inout) :: z(n)
  complex*16, intent(in) :: k
  z = z * k
end subroutine
double complex function total(n, z)
  integer n
  double complex z(n)
  total = sum(z)
end function
logical function positive(x)
  real, intent(in) :: x
  positive = x > 0
end function
subroutine letters(s, n, t)
  character(len=*), intent(in) :: s, t
  integer, intent(out) :: n
  n = 100 * len(s) + len(t)
end subroutine
module shapes
  implicit none
contains
  subroutine grow(x)
    real(8), intent(inout) :: x
    x = x + 1
  end subroutine grow
  function added(a, b) bind(C) result(r)
    use iso_c_binding
    integer(c_int), value :: a, b
    integer(c_int) :: r
    r = a + b
  end function
end module shapes
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("gfortran")
    if not compiler:
        pytest.skip("no gfortran")
    folder = tmp_path_factory.mktemp("fortran")
    (folder / "f.f90").write_text(SOURCE)
    made = folder / "libf.so"
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-J", folder, "-o", made, folder / "f.f90"],
        check=True,
    )
    return made


@pytest.fixture(scope="module")
def f(library):
    return un.fortran(SOURCE, [library])


def test_arrays_in_fortrans_order(f):
    u = np.asfortranarray(np.random.default_rng(0).random((6, 5)))
    want = u.copy()
    want[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    v = np.zeros((6, 5), order="F")
    f.laplace(u, v, 6, 5)
    assert np.allclose(v, want, rtol=1e-15)

    @un.jit
    def run(u, v):
        f.laplace(u, v, u.shape[0], u.shape[1])

    w = np.zeros((6, 5), order="F")
    run(u, w)
    assert np.array_equal(w, v)
    with pytest.raises(ValueError, match="must be contiguous"):
        f.laplace(u[::2], v, 3, 5)


def test_complex_numbers_logicals_and_text(f):
    z = np.array([1 + 2j, 3j])
    f.turned(2, z, 2j)
    assert z.tolist() == [-4 + 2j, -6]
    assert f.total(2, z) == -10 + 2j
    assert (f.positive(1.5), f.positive(-1.0)) == (1, 0)
    n = np.zeros(1, np.int32)
    f.letters("abcde", n, "xy")
    assert n[0] == 502

    @un.jit
    def summed(z):
        return f.total(len(z), z) * 2

    assert summed(z) == -20 + 4j


def test_procedures_of_modules(f):
    x = np.array([1.5])
    f.grow(x)
    assert x[0] == 2.5 and f.added(2, 3) == 5


def test_a_signature_file(library):
    f = un.fortran(
        """
        python module shapes ! in
          interface
            subroutine turned(n, z, k)
              integer, optional, intent(in), check(len(z)>=n), depend(z) :: n=len(z)
              complex*16 dimension(n), intent(inout) :: z
              complex*16 intent(in) :: k
            end subroutine turned
          end interface
        end python module shapes
        """,
        [library],
    )
    z = np.array([1 + 2j])
    f.turned(1, z, 2)
    assert z.tolist() == [2 + 4j]


def test_text_that_is_written_is_refused():
    with pytest.raises(ValueError, match="argument 's' of f is text that is written"):
        un.fortran("subroutine f(s)\n character(len=*), intent(out) :: s\nend")


KINDS = """
module kinds_of_numbers
  use, intrinsic :: iso_fortran_env, only: wp => real64
  implicit none
  integer, parameter :: dp = kind(1.0d0), sp = selected_real_kind(6), &
                        ip = selected_int_kind(18)
contains
  real(dp) function mean(x, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    mean = sum(x) / n
  end function mean
  subroutine mixed(a, b, k)
    real(wp), intent(inout) :: a(0:*)
    real(kind=sp), intent(in) :: b
    integer(ip), intent(in) :: k
    a(0) = b * k
  end subroutine mixed
  real(dp) function total(x)
    real(dp), intent(in) :: x(:)
    total = sum(x)
  end function total
end module kinds_of_numbers
"""


def test_kinds_that_have_names(tmp_path):
    (tmp_path / "kinds.f90").write_text(KINDS)
    path = str(tmp_path / "libkinds.so")
    command = ["gfortran", "-shared", "-fPIC", "-J", str(tmp_path), "-o", path]
    subprocess.run([*command, str(tmp_path / "kinds.f90")], check=True)
    f = un.fortran(KINDS, [path])
    a = np.zeros(1)
    f.mixed(a, 1.5, 1 << 33)
    assert f.mean(np.arange(4.0), 4) == 1.5 and a[0] == 1.5 * (1 << 33)
    with pytest.raises(TypeError, match="total: cannot be called.*'x' of total comes with a desc"):
        f.total(a)
    with pytest.raises(ValueError, match="'y' of g comes with a description"):
        un.fortran("subroutine g(y)\n real, allocatable, intent(out) :: y(:)\nend")
