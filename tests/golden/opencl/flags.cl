// Numbers at the ends of lines are lines of flags.py
#pragma OPENCL FP_CONTRACT OFF

static bool un_invert_bool(bool a)
{
    return !a;
}

__kernel void flags(
    __global const uchar* a, long a_offset,
    __global const uchar* b, long b_offset,
    __global uchar* out, long out_offset, long out_shape0)
{
    a += a_offset;
    b += b_offset;
    out += out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    out[i] = (a[i] != 0 && un_invert_bool(b[0] != 0)) || i == 3;  // 3
}
