// Numbers at the ends of lines are lines of collatz.py
#pragma OPENCL FP_CONTRACT OFF

static long un_mod_long(long a, long b)
{
    if (b == 0 || b == -1) return 0;
    long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

static long un_mul_long(long a, long b)
{
    return (long)((ulong)a * (ulong)b);
}

static long un_add_long(long a, long b)
{
    return (long)((ulong)a + (ulong)b);
}

static int un_add_int(int a, int b)
{
    return (int)((uint)a + (uint)b);
}

struct collatz_numbers {
    long out_offset;
    long out_shape0;
};

__kernel void collatz(
    __global int* out,
    const struct collatz_numbers numbers)
{
    const long out_shape0 = numbers.out_shape0;
    out += numbers.out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    long n = i + 1;  // 3
    int steps = 0;
    while (n != 1) {  // 5
        if (steps > 100) {  // 6
            break;
        }
        if (un_mod_long(n, 2) == 0) {  // 7
            n = un_floordiv_long(n, 2);  // 8
        } else if (n < 0) {  // 9
            n = 1;  // 10
        } else {
            n = un_add_long(un_mul_long(3, n), 1);  // 12
        }
        steps = un_add_int(steps, 1);  // 13
    }
    out[i] = steps;  // 14
}
