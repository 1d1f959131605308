"""Headers of CUDA whose text kernels include, and the names of those that need none, since the language itself has what they
declare.

Random numbers have cuRAND's names, the steps of its XORWOW and its state of 48 bytes; sequences of one seed begin where a
hash says, not 2**67 steps apart, so that the numbers differ from cuRAND's.
"""

_CURAND = r"""
struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
__device__ unsigned long long curand_mixed(unsigned long long z) {  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
__device__ unsigned int curand(curandStateXORWOW* s) {
    unsigned int t = s->v[0] ^ (s->v[0] >> 2), last = s->v[4];
    s->v[0] = s->v[1];
    s->v[1] = s->v[2];
    s->v[2] = s->v[3];
    s->v[3] = last;
    s->v[4] = (last ^ (last << 4)) ^ (t ^ (t << 1));
    s->d += 362437u;
    return s->v[4] + s->d;
}
__device__ void skipahead(unsigned long long n, curandStateXORWOW* s) {
    for (unsigned long long k = 0; k < n; k++) curand(s);
}
__device__ void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                            curandStateXORWOW* s) {
    unsigned long long step = 0x9e3779b97f4a7c15ull;
    unsigned long long from = curand_mixed(seed + step) ^ curand_mixed(curand_mixed(sequence + step) + step);
    unsigned long long a = curand_mixed(from + step), b = curand_mixed(from + 2 * step), c = curand_mixed(from + 3 * step);
    s->v[0] = (unsigned int)a;
    s->v[1] = (unsigned int)(a >> 32);
    s->v[2] = (unsigned int)b;
    s->v[3] = (unsigned int)(b >> 32);
    s->v[4] = (unsigned int)c | 1u;
    s->d = (unsigned int)(c >> 32);
    s->boxmuller_flag = 0;
    s->boxmuller_flag_double = 0;
    s->boxmuller_extra = 0.0f;
    s->boxmuller_extra_double = 0.0;
    skipahead(offset, s);
}
__device__ float curand_uniform(curandStateXORWOW* s) {  // above 0, at most 1
    return (float)curand(s) * 2.3283064365386963e-10f + 1.1641532182693481e-10f;
}
__device__ double curand_uniform_double(curandStateXORWOW* s) {
    unsigned long long low = curand(s), high = curand(s);
    return (double)(low ^ (high << 21)) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
__device__ float2 curand_normal2(curandStateXORWOW* s) {
    float r = sqrtf(-2.0f * logf(curand_uniform(s))), a = 6.2831853071795865f * curand_uniform(s);
    return make_float2(r * sinf(a), r * cosf(a));
}
__device__ double2 curand_normal2_double(curandStateXORWOW* s) {
    double r = sqrt(-2.0 * log(curand_uniform_double(s))), a = 6.2831853071795865 * curand_uniform_double(s);
    return make_double2(r * sin(a), r * cos(a));
}
__device__ float curand_normal(curandStateXORWOW* s) {
    if (s->boxmuller_flag != 0) {
        s->boxmuller_flag = 0;
        return s->boxmuller_extra;
    }
    float2 pair = curand_normal2(s);
    s->boxmuller_extra = pair.y;
    s->boxmuller_flag = 1;
    return pair.x;
}
__device__ double curand_normal_double(curandStateXORWOW* s) {
    if (s->boxmuller_flag_double != 0) {
        s->boxmuller_flag_double = 0;
        return s->boxmuller_extra_double;
    }
    double2 pair = curand_normal2_double(s);
    s->boxmuller_extra_double = pair.y;
    s->boxmuller_flag_double = 1;
    return pair.x;
}
__device__ float curand_log_normal(curandStateXORWOW* s, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(s));
}
__device__ double curand_log_normal_double(curandStateXORWOW* s, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(s));
}
"""

TEXTS = {"curand_kernel.h": _CURAND}

_C = """
    assert complex ctype errno fenv float inttypes iso646 limits locale malloc math memory setjmp signal stdalign stdarg
    stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings tgmath time uchar wchar wctype""".split()
_CPP = """
    algorithm any array atomic bit bitset cassert charconv chrono climits cmath compare complex concepts cstdarg cstddef
    cstdint cstdio cstdlib cstring ctime deque exception execution functional initializer_list iomanip iostream iterator limits
    list map memory new numbers numeric optional ostream queue random ratio set span sstream stack stdexcept string
    string_view tuple type_traits typeinfo unordered_map unordered_set utility variant vector version cfloat""".split()
_CUPY = """
    atomics.cuh bfloat16.cuh carray.cuh complex.cuh cuComplex_bridge.h float16.cuh hip_workaround.cuh math_constants.h swap.cuh
    tuple.cuh type_dispatcher.cuh""".split()
_KNOWN = {*(f"{n}.h" for n in _C), *_CPP, *(f"cupy/{n}" for n in _CUPY)}
# Of toolkits: NVIDIA's, PyCUDA's, PyOpenCL's.
_FAMILIES = (
    "CL/", "builtin_types", "channel_descriptor", "cooperative_groups", "crt/", "cub/", "cuComplex", "cublas", "cuda", "cudnn",
    "cufft", "curand", "cusolver", "cusparse", "cutensor", "device_", "driver_", "helper_", "host_", "math_", "mma", "nv/",
    "opencl", "pycuda-", "pyopencl-", "sm_", "surface_", "texture_", "thrust/", "vector_", "vector_functions", "sys/",
)  # fmt: skip


def is_known(name):
    """Whether what the header declares is part of the language that is translated, or fails where it is used."""
    return name in _KNOWN or name.startswith(_FAMILIES)
