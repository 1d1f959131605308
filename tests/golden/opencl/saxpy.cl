// Numbers at the ends of lines are lines of saxpy.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct saxpy_numbers {
    long a_offset;
    long a_stride0;
    long out_offset;
    long out_shape0;
    long out_stride0;
    double s;
};

__kernel void saxpy(
    __global const double* a,
    __global double* out,
    const struct saxpy_numbers numbers)
{
    const long a_stride0 = numbers.a_stride0;
    const long out_shape0 = numbers.out_shape0;
    const long out_stride0 = numbers.out_stride0;
    const double s = numbers.s;
    a += numbers.a_offset;
    out += numbers.out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    out[i * out_stride0] = a[i * a_stride0] * s + out[i * out_stride0];  // 3
}
