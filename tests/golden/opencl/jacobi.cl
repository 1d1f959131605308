// Numbers at the ends of lines are lines of jacobi.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct jacobi_numbers {
    long u_offset;
    long u_shape0;
    long u_shape1;
    long u_stride0;
    long u_new_offset;
    long u_new_stride0;
};

__kernel void jacobi(
    __global const double* u,
    __global double* u_new,
    const struct jacobi_numbers numbers)
{
    const long u_shape0 = numbers.u_shape0;
    const long u_shape1 = numbers.u_shape1;
    const long u_stride0 = numbers.u_stride0;
    const long u_new_stride0 = numbers.u_new_stride0;
    u += numbers.u_offset;
    u_new += numbers.u_new_offset;
    const long y = 1 + (long)get_global_id(1);  // 2
    const long x = 1 + (long)get_global_id(0);  // 3
    if (y >= u_shape0 - 1 || x >= u_shape1 - 1) {  // 2
        return;
    }
    u_new[y * u_new_stride0 + x] = (u[(y - 1) * u_stride0 + x] + u[(y + 1) * u_stride0 + x] + (u[y * u_stride0 + (x - 1)] + u[y * u_stride0 + (x + 1)])) / 4.0;  // 4
}
