// Numbers at the ends of lines are lines of flags.py
#pragma OPENCL FP_CONTRACT OFF

static bool un_invert_bool(bool a)
{
    return !a;
}

struct flags_numbers {
    long a_offset;
    long b_offset;
    long out_offset;
    long out_shape0;
};

__kernel void flags(
    __global const uchar* a,
    __global const uchar* b,
    __global uchar* out,
    const struct flags_numbers numbers)
{
    const long out_shape0 = numbers.out_shape0;
    a += numbers.a_offset;
    b += numbers.b_offset;
    out += numbers.out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    out[i] = (a[i] != 0 && un_invert_bool(b[0] != 0)) || i == 3;  // 3
}
