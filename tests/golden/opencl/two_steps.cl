// Numbers at the ends of lines are lines of two_steps.py
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

struct two_steps_numbers {
    long a_offset;
    long a_shape0;
    long out_offset;
};

__kernel void two_steps(
    __global double* a,
    __global double* out,
    const struct two_steps_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    a += numbers.a_offset;
    out += numbers.out_offset;
    const long n = a_shape0;  // 2
    const long i = (long)get_global_id(0);  // 3
    if (i >= n) {
        return;
    }
    out[i] = a[i] * 0.5;  // 4
}

struct two_steps_2_numbers {
    long out_offset;
};

__kernel void two_steps_2(
    __global double* out,
    const struct two_steps_2_numbers numbers)
{
    out += numbers.out_offset;
    out[0] = 100.0;  // 5
}

struct two_steps_3_numbers {
    long a_offset;
    long a_shape0;
    long out_offset;
};

__kernel void two_steps_3(
    __global double* a,
    __global double* out,
    const struct two_steps_3_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    a += numbers.a_offset;
    out += numbers.out_offset;
    const long n = a_shape0;  // 2
    const long j = (long)get_global_id(0);  // 7
    if (j >= n) {
        return;
    }
    a[j] = out[n - 1 - j];  // 8
}
