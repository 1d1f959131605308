// Numbers at the ends of lines are lines of jacobi.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void jacobi(
    __global const double* u, long u_offset, long u_shape0, long u_shape1, long u_stride0,
    __global double* u_new, long u_new_offset, long u_new_stride0)
{
    u += u_offset;
    u_new += u_new_offset;
    const long y = 1 + (long)get_global_id(1);  // 2
    const long x = 1 + (long)get_global_id(0);  // 3
    if (y >= u_shape0 - 1 || x >= u_shape1 - 1) {  // 2
        return;
    }
    u_new[y * u_new_stride0 + x] = (u[(y - 1) * u_stride0 + x] + u[(y + 1) * u_stride0 + x] + (u[y * u_stride0 + (x - 1)] + u[y * u_stride0 + (x + 1)])) / 4.0;  // 4
}
