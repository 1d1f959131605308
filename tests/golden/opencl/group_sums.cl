// Numbers at the ends of lines are lines of group_sums.py
#pragma OPENCL FP_CONTRACT OFF

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

struct group_sums_numbers {
    long a_offset;
    long sums_offset;
};

__kernel void group_sums(
    __global const float* a,
    __global float* sums,
    const struct group_sums_numbers numbers)
{
    a += numbers.a_offset;
    sums += numbers.sums_offset;
    __local float tile[64];  // 3
    const long lid = (long)get_local_id(0);  // 4
    tile[lid] = a[(long)get_global_id(0)];  // 5
    long half_ = 32;  // 6
    while (half_ > 0) {  // 7
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // 8
        if (lid < half_) {  // 9
            tile[lid] = tile[lid] + tile[lid + half_];  // 10
        }
        half_ = un_floordiv_long(half_, 2);  // 11
    }
    if (lid == 0) {  // 12
        sums[(long)get_group_id(0)] = tile[0];  // 13
    }
}
