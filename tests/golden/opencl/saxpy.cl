// Numbers at the ends of lines are lines of saxpy.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void saxpy(
    __global const double* a, long a_offset, long a_stride0,
    __global double* out, long out_offset, long out_shape0, long out_stride0,
    double s)
{
    a += a_offset;
    out += out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    out[i * out_stride0] = a[i * a_stride0] * s + out[i * out_stride0];  // 3
}
