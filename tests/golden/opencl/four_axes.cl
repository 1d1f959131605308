// Numbers at the ends of lines are lines of four_axes.py
#pragma OPENCL FP_CONTRACT OFF

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static long un_mod_long(long a, long b)
{
    if (b == 0 || b == -1) return 0;
    long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static long un_max_long(long a, long b)
{
    return a >= b ? a : b;
}

static long un_mul_long(long a, long b)
{
    return (long)((ulong)a * (ulong)b);
}

struct four_axes_numbers {
    long out_offset;
    long out_shape0;
    long out_shape1;
    long out_shape2;
    long out_shape3;
    long out_stride0;
    long out_stride1;
    long out_stride2;
    long out_stride3;
};

__kernel void four_axes(
    __global long* out,
    const struct four_axes_numbers numbers)
{
    const long out_shape0 = numbers.out_shape0;
    const long out_shape1 = numbers.out_shape1;
    const long out_shape2 = numbers.out_shape2;
    const long out_shape3 = numbers.out_shape3;
    const long out_stride0 = numbers.out_stride0;
    const long out_stride1 = numbers.out_stride1;
    const long out_stride2 = numbers.out_stride2;
    const long out_stride3 = numbers.out_stride3;
    out += numbers.out_offset;
    const long p = un_floordiv_long((long)get_global_id(2), out_shape1);  // 2
    const long q = un_mod_long((long)get_global_id(2), out_shape1);  // 3
    const long r = (long)get_global_id(1);  // 4
    const long x = (long)get_global_id(0);  // 5
    if ((long)get_global_id(2) >= un_mul_long(un_max_long(out_shape0, 0), un_max_long(out_shape1, 0)) || r >= out_shape2 || x >= out_shape3) {  // 2
        return;
    }
    out[p * out_stride0 + q * out_stride1 + r * out_stride2 + x * out_stride3] = ((p * 10 + q) * 10 + r) * 10 + x;  // 6
}
