// Numbers at the ends of lines are lines of every_second.py
#pragma OPENCL FP_CONTRACT OFF

static long un_mul_long(long a, long b)
{
    return (long)((ulong)a * (ulong)b);
}

static long un_add_long(long a, long b)
{
    return (long)((ulong)a + (ulong)b);
}

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static long un_sub_long(long a, long b)
{
    return (long)((ulong)a - (ulong)b);
}

struct every_second_numbers {
    long a_offset;
    long out_offset;
    long out_shape0;
    long out_stride0;
    long step;
};

__kernel void every_second(
    __global const long* a,
    __global long* out,
    const struct every_second_numbers numbers)
{
    const long out_shape0 = numbers.out_shape0;
    const long out_stride0 = numbers.out_stride0;
    const long step = numbers.step;
    a += numbers.a_offset;
    out += numbers.out_offset;
    const long n = out_shape0;  // 2
    const long i = un_add_long(n - 1, un_mul_long((long)get_global_id(0), step));  // 3
    if ((long)get_global_id(0) >= (step > 0 ? un_floordiv_long(un_sub_long(un_add_long(-1 - (n - 1), step), 1), step) : un_floordiv_long(un_add_long(un_add_long(-1 - (n - 1), step), 1), step))) {
        return;
    }
    out[i * out_stride0] = a[i * -1];  // 4
}
