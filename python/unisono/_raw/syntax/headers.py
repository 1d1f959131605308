"""Headers of CUDA whose text kernels include: what the language itself has needs none.

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
