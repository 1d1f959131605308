// Numbers at the ends of lines are lines of checked_gather.py
#pragma OPENCL FP_CONTRACT OFF

struct un_fault {
    int lock;
    int failed;
    long order;
    long iteration;
    long launch;
    long site;
    long values[4];
};

// Records a fault unless one of an earlier work-item (in row-major order) is there. The lock is taken and given
// back inside one branch, so that work-items that run in lockstep cannot wait for each other.
static void un_raise(__global long* memory, long site, long v0, long v1, long v2, long v3)
{
    volatile __global struct un_fault* record = (volatile __global struct un_fault*)memory;
    const long order = ((long)get_global_id(2) * (long)get_global_size(1) + (long)get_global_id(1))
        * (long)get_global_size(0) + (long)get_global_id(0);
    bool done = false;
    while (!done) {
        if (atomic_cmpxchg(&record->lock, 0, 1) == 0) {
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            if (!record->failed || order < record->order) {
                record->failed = 1;
                record->order = order;
                record->iteration = (long)get_global_id(get_work_dim() - 1);
                record->site = site;
                record->values[0] = v0;
                record->values[1] = v1;
                record->values[2] = v2;
                record->values[3] = v3;
            }
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_xchg(&record->lock, 0);
            done = true;
        }
    }
}

static long un_add_long(long a, long b)
{
    return (long)((ulong)a + (ulong)b);
}

struct checked_gather_numbers {
    long a_offset;
    long a_shape0;
    long index_offset;
    long out_offset;
    long out_shape0;
};

__kernel void checked_gather(
    __global const float* a,
    __global const long* index,
    __global float* out,
    __global long* faults,
    const struct checked_gather_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    const long out_shape0 = numbers.out_shape0;
    a += numbers.a_offset;
    index += numbers.index_offset;
    out += numbers.out_offset;
    const long i = (long)get_global_id(0);  // 2
    if (i >= out_shape0) {
        return;
    }
    const long index_1 = index[i];  // 3
    const long index_2 = index_1 < 0 ? un_add_long(index_1, a_shape0) : index_1;
    if (index_2 < 0 || index_2 >= a_shape0) {
        un_raise(faults, 0, index_1, a_shape0, 0, 0);
        return;
    }
    out[i] = a[index_2];
}
