// Numbers at the ends of lines are lines of histogram.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

static void un_atomic_add_int32(volatile __global int* at, int value)
{
    atomic_add(at, value);
}

static long un_mod_long(long a, long b)
{
    if (b == 0 || b == -1) return 0;
    long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static void un_atomic_add_int64(volatile __global long* at, long value)
{
    atom_add(at, value);
}

static double un_max_double(double a, double b)
{
    return ((a >= b) | (a != a)) ? a : b;
}

static void un_atomic_max_float64(volatile __global double* at, double value)
{
    volatile __global ulong* word = (volatile __global ulong*)at;
    ulong old = *word;
    for (;;) {
        const double seen = as_double(old);
        const ulong found = atom_cmpxchg(word, old, as_ulong((double)(un_max_double(seen, value))));
        if (found == old) return;
        old = found;
    }
}

static uchar un_add_uchar(uchar a, uchar b)
{
    return (uchar)((uint)a + (uint)b);
}

static void un_atomic_add_uint8(volatile __global uchar* at, uchar value)
{
    const uint shift = 8 * (uint)((uintptr_t)at & 3);
    volatile __global uint* word = (volatile __global uint*)((uintptr_t)at & ~(uintptr_t)3);
    uint old = *word;
    for (;;) {
        const uchar seen = (uchar)(old >> shift);
        const uint next = (old & ~(0xffu << shift)) | ((uint)(uchar)(un_add_uchar(seen, value)) << shift);
        const uint found = atomic_cmpxchg(word, old, next);
        if (found == old) return;
        old = found;
    }
}

struct histogram_numbers {
    long bins_offset;
    long bins_shape0;
    long total_offset;
    long peak_offset;
    long seen_offset;
    long a_offset;
    long range_end0;
};

__kernel void histogram(
    __global int* bins,
    __global long* total,
    __global double* peak,
    __global uchar* seen,
    __global const int* a,
    const struct histogram_numbers numbers)
{
    const long bins_shape0 = numbers.bins_shape0;
    const long range_end0 = numbers.range_end0;
    bins += numbers.bins_offset;
    total += numbers.total_offset;
    peak += numbers.peak_offset;
    seen += numbers.seen_offset;
    a += numbers.a_offset;
    if ((long)get_global_id(0) >= range_end0) {
        return;
    }
    const int v = a[(long)get_global_id(0)];  // 3
    un_atomic_add_int32(&bins[un_mod_long((long)v, bins_shape0)], 1);  // 4
    un_atomic_add_int64(&total[0], (long)v);  // 5
    un_atomic_max_float64(&peak[0], (double)v);  // 6
    un_atomic_add_uint8(&seen[un_mod_long((long)v, bins_shape0)], 1);  // 7
}
