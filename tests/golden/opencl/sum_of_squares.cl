// Numbers at the ends of lines are lines of sum_of_squares.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static long un_max_long(long a, long b)
{
    return a >= b ? a : b;
}

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static ulong un_floordiv_ulong(ulong a, ulong b)
{
    return b == 0 ? 0 : (ulong)(a / b);
}

static long un_mul_long(long a, long b)
{
    return (long)((ulong)a * (ulong)b);
}

static long un_add_long(long a, long b)
{
    return (long)((ulong)a + (ulong)b);
}

static long un_min_long(long a, long b)
{
    return a <= b ? a : b;
}

struct sum_of_squares_numbers {
    long a_offset;
    long a_shape0;
    long a_stride0;
};

__kernel void sum_of_squares(
    __global const double* a,
    __global double* total_partials,
    const struct sum_of_squares_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    const long a_stride0 = numbers.a_stride0;
    a += numbers.a_offset;
    const long count = un_max_long(a_shape0, 0);  // 3
    const long chunk_size = un_floordiv_long(un_max_long(a_shape0, 0) + 255, 256);
    const long chunks = (long)un_floordiv_ulong((ulong)(un_max_long(a_shape0, 0) + un_floordiv_long(un_max_long(a_shape0, 0) + 255, 256) - 1), (ulong)un_floordiv_long(un_max_long(a_shape0, 0) + 255, 256));
    const long chunk = (long)get_global_id(0);
    if (chunk >= chunks) {
        return;
    }
    double total_chunk = -0.0;
    for (long i = un_mul_long(chunk, chunk_size); i < un_min_long(un_add_long(un_mul_long(chunk, chunk_size), chunk_size), count); ++i) {
        total_chunk = total_chunk + a[i * a_stride0] * a[i * a_stride0];  // 4
    }
    total_partials[chunk] = total_chunk;  // 3
}

struct sum_of_squares_2_numbers {
    long a_shape0;
};

__kernel void sum_of_squares_2(
    __global double* total_partials,
    __global long* results,
    const struct sum_of_squares_2_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    double total = 0.0;  // 2
    const long chunks = (long)un_floordiv_ulong((ulong)(un_max_long(a_shape0, 0) + un_floordiv_long(un_max_long(a_shape0, 0) + 255, 256) - 1), (ulong)un_floordiv_long(un_max_long(a_shape0, 0) + 255, 256));  // 3
    for (long chunk_1 = 0; chunk_1 < un_min_long(chunks, 256); ++chunk_1) {
        total = total + total_partials[chunk_1];
    }
    results[0] = as_long(total);  // 5
    return;
}
