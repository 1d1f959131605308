// Numbers at the ends of lines are lines of wraps.py
#pragma OPENCL FP_CONTRACT OFF

static int un_abs_int(int a)
{
    return a < 0 ? (int)(0 - (uint)a) : a;
}

static int un_floordiv_int(int a, int b)
{
    if (b == 0) return 0;
    if (b == -1) return (int)(0 - (uint)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static int un_mul_int(int a, int b)
{
    return (int)((uint)a * (uint)b);
}

static int un_add_int(int a, int b)
{
    return (int)((uint)a + (uint)b);
}

struct wraps_numbers {
    long a_offset;
    long a_stride0;
    long b_offset;
    long b_stride0;
    long out_offset;
    long out_shape0;
    long out_stride0;
};

__kernel void wraps(
    __global const int* a,
    __global const int* b,
    __global int* out,
    const struct wraps_numbers numbers)
{
    const long a_stride0 = numbers.a_stride0;
    const long b_stride0 = numbers.b_stride0;
    const long out_shape0 = numbers.out_shape0;
    const long out_stride0 = numbers.out_stride0;
    a += numbers.a_offset;
    b += numbers.b_offset;
    out += numbers.out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    out[i * out_stride0] = un_add_int(un_mul_int(a[i * a_stride0], b[i * b_stride0]), un_floordiv_int(un_abs_int(a[i * a_stride0]), b[i * b_stride0]));  // 3
}
