"""C++ in kernels of CUDA C text: member functions, constructors, operators, templates of structs, references, closures."""

import numpy as np
import pytest
import unisono as un

N = 8


def run(device, text, name_expression=None, options=()):
    """What a kernel k(const double *a, double *o) gives of 0, 1, ... 7."""
    a, o = un.arange(float(N), device=device), un.zeros(N, device=device)
    head = "" if name_expression else 'extern "C" '
    source = text.replace("KERNEL", head + "__global__ void k(const double *a, double *o)")
    names = (name_expression,) if name_expression else None
    module = un.RawModule(code=source, options=options, name_expressions=names)
    module.get_function(name_expression or "k")((1,), (N,), (a, o))
    return np.asarray(o)


A = np.arange(float(N))

VECTOR = """
struct V {
    double x, y;
    __device__ V() : x(0), y(0) {}
    __device__ V(double a, double b = 1) : x(a), y(b) {}
    __host__ __device__ V operator+(const V &o) const { return V(x + o.x, y + o.y); }
    __device__ V &operator+=(const V &o) { x += o.x; y += o.y; return *this; }
    __device__ bool operator<(const V &o) const { return norm2() < o.norm2(); }
    __device__ double norm2() const { return x * x + this->y * y; }
    __device__ void scale(double s) { x *= s; y *= s; }
    __device__ V scaled(double s) const { V v(*this); v.scale(s); return v; }
};
__device__ V operator*(double s, const V &v) { return V(s * v.x, s * v.y); }
"""


def test_members_constructors_and_operators(device):
    text = (
        VECTOR
        + """KERNEL {
        int i = threadIdx.x;
        V v(a[i]), z;
        V w = v + V(1, 1);
        w.scale(2);
        w += 0.5 * v;
        z += w;
        o[i] = z.norm2() + (v < w) + z.scaled(2).x;
    }"""
    )
    x, y = 2 * (A + 1) + A / 2, 4.5
    assert np.allclose(run(device, text), x * x + y * y + 1 + 2 * x)


def test_structs_in_memory_of_the_block(device):
    text = """struct Body {
        float x, y, m;
        __device__ float apart(const Body &b) const { float dx = x - b.x, dy = y - b.y; return dx * dx + dy * dy; }
        __device__ void move(float by) { x += by; }
    };
    KERNEL {
        __shared__ Body all[8];
        int i = threadIdx.x;
        all[i] = Body{(float)a[i], 0, 1};
        all[i].move(2);
        __syncthreads();
        float s = 0;
        const Body &mine = all[i];
        for (int j = 0; j < 8; j++) s += mine.apart(all[j]);
        o[i] = s + all[7].x;
    }"""
    assert np.array_equal(run(device, text), ((A[:, None] - A) ** 2).sum(1) + 9)


def test_templates_of_structs(device):
    text = """template <typename T, int N = 4> class Array {
        T d[N];
    public:
        static constexpr int count = N;
        __device__ T &operator[](int i) { return d[i]; }
        __device__ T sum() const { T s = 0; for (int i = 0; i < N; i++) s += d[i]; return s; }
    };
    template <typename T> __global__ void k(const T *a, T *o) {
        int i = threadIdx.x;
        Array<T> r;
        Array<Array<T, 2>, 2> n;
        for (int j = 0; j < r.count; j++) r[j] = a[i] + j;
        r[0] *= 2;
        n[1][0] = 5;
        o[i] = r.sum() + n[1][0];
    }
    template __global__ void k<double>(const double *, double *);
    """
    assert np.array_equal(run(device, text, "k<double>"), 5 * A + 6 + 5)


def test_bases_and_first_values(device):
    text = """class Base {
    public:
        double w = 2.0;
        __device__ double f(double x) { return w * x; }
        static __device__ double one() { return 1.0; }
    };
    class Derived : public Base {
        int n_;
    public:
        __device__ explicit Derived(int n) : n_(n) { if (n > 5) return; w += 1; }
        __device__ int n() const { return n_; }
        __device__ double g(double x) { return f(x) + one() + n(); }
    };
    struct Plain { int a = 3; double b; };
    KERNEL {
        int i = threadIdx.x;
        Derived d(3), e(6);
        Plain p, q = {1, 2.5};
        o[i] = d.g(a[i]) + e.f(a[i]) + Base::one() + p.a + q.a + q.b;
    }"""
    assert np.array_equal(run(device, text), 3 * A + 4 + 2 * A + 1 + 6.5)


def test_functors_closures_and_auto(device):
    text = """struct Plus { __device__ double operator()(double a, double b) const { return a + b; } };
    template <class F> __device__ double apply(F f, double a, double b) { return f(a, b); }
    KERNEL {
        int i = threadIdx.x;
        auto k = 2.0;
        auto twice = [=](double x) { return x * k; };
        int count = 0;
        auto note = [&](double x) { double y = x + 1; count += 2; return y; };
        k = 100;
        const auto *p = a + 1;
        o[i] = apply(Plus(), a[i], 3.0) + twice(2.0) + note(a[i]) + count + p[0];
    }"""
    assert np.array_equal(run(device, text), A + 3 + 4 + A + 1 + 2 + 1)


def test_references(device):
    text = """struct P { double x, y; };
    __device__ double &first(double *p) { return p[0]; }
    KERNEL {
        __shared__ double s[8];
        int i = threadIdx.x;
        double &mine = s[i];
        mine = a[i];
        mine += 1;
        P p = {1, 2};
        double &x = p.x;
        x += a[i];
        P &whole = p;
        whole.y = 5;
        const double &sum = mine + 1;
        first(s + i) *= 2;
        o[i] = s[i] + p.x + p.y + sum;
    }"""
    assert np.array_equal(run(device, text), 2 * (A + 1) + 1 + A + 5 + A + 2)


@pytest.mark.parametrize(
    "text, what",
    [
        ("struct S { virtual int f() { return 1; } };", "a member of 'S' is virtual"),
        ("struct S { int a; ~S() { a = 1; } };", "'S' has a destructor"),
        ("struct S { int a; int f(); };", "'f' is declared in the struct and not defined"),
        ("struct S { static int a; };", "'a' is a variable of all 'S'"),
        ("struct S { int a; operator int() { return a; } };", "an operator that converts"),
        ("template <class T> struct S { T a; }; template <> struct S<int> { int b; };", "a form of 'S' for some"),
        ("template <class T> struct S { T a; }; __device__ S<int, int> f();", "'S' takes 1 parameters; got 2"),
        ("struct S { int a; __device__ S(int k) : a(k) {} }; __device__ int g() { S s(1, 2); return s.a; }",
         "'S' is made of 1 values; got 2"),
        ("__device__ int &g(int *p) { p[0] = 1; int k = 2; return k; }", "'g' returns a reference"),
        ("__device__ int g() { auto x; return 1; }", "'x' is auto, and has no value"),
        ("__device__ int g() { int &x = 1 + 2; return x; }", "'x' refers to a value without a place"),
        ("__device__ int g() { auto f = [](int x) { if (x) return 1; return 2; }; return f(1); }", "returns early"),
        ("__device__ int g(auto x) { return x; }", "'auto' is not translated"),
    ],
)  # fmt: skip
def test_what_is_not_there(text, what):
    call = "g()" if " g()" in text else "1"
    source = text + f'extern "C" __global__ void k(double *o) {{ o[0] = {call}; }}'
    with pytest.raises(un.CompileError, match=what):
        un.RawKernel(source, "k")((1,), (1,), (un.zeros(1),))
