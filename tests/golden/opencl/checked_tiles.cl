// Numbers at the ends of lines are lines of checked_tiles.py
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

static long un_floordiv_long(long a, long b)
{
    if (b == 0) return 0;
    if (b == -1) return (long)(0 - (ulong)a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

struct checked_tiles_numbers {
    long a_offset;
    long a_shape0;
    long sums_offset;
    long sums_shape0;
    long index_offset;
    long index_shape0;
};

__kernel void checked_tiles(
    __global const float* a,
    __global float* sums,
    __global const long* index,
    __global long* faults,
    const struct checked_tiles_numbers numbers)
{
    const long a_shape0 = numbers.a_shape0;
    const long sums_shape0 = numbers.sums_shape0;
    const long index_shape0 = numbers.index_shape0;
    a += numbers.a_offset;
    sums += numbers.sums_offset;
    index += numbers.index_offset;
    __local float tile[64];  // 3
    __local volatile int un_failed_at;
    int un_barriers = 0;
    volatile bool un_ended = false;
    if ((long)get_local_id(0) == 0 && (long)get_local_id(1) == 0 && (long)get_local_id(2) == 0) {
        un_failed_at = 2147483647;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const long lid = (long)get_local_id(0);  // 4
    const long index_1 = (long)get_global_id(0);  // 5
    const long index_2 = index_1 < 0 ? index_1 + index_shape0 : index_1;
    if (index_2 < 0 || index_2 >= index_shape0) {
        un_raise(faults, 0, index_1, index_shape0, 0, 0);
        atomic_min(&un_failed_at, un_barriers);
        goto un_sync_1;
    }
    const long index_3 = index[index_2];
    const long index_4 = index_3 < 0 ? un_add_long(index_3, a_shape0) : index_3;
    if (index_4 < 0 || index_4 >= a_shape0) {
        un_raise(faults, 0, index_3, a_shape0, 0, 0);
        atomic_min(&un_failed_at, un_barriers);
        goto un_sync_1;
    }
    const long index_5 = lid < 0 ? lid + 64 : lid;
    if (index_5 < 0 || index_5 >= 64) {
        un_raise(faults, 0, lid, 64, 0, 0);
        atomic_min(&un_failed_at, un_barriers);
        goto un_sync_1;
    }
    tile[index_5] = a[index_4];
    long half_ = 32;  // 6
    un_sync_1:
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    un_ended = un_failed_at <= un_barriers++;
    while (!un_ended && (half_ > 0)) {  // 7
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // 8
        un_ended = un_failed_at <= un_barriers++;
        if (un_ended) {
            goto un_sync_2;
        }
        if (lid < half_) {  // 9
            const long index_6 = lid < 0 ? lid + 64 : lid;  // 10
            if (index_6 < 0 || index_6 >= 64) {
                un_raise(faults, 1, lid, 64, 0, 0);
                atomic_min(&un_failed_at, un_barriers);
                goto un_sync_2;
            }
            const long index_7 = un_add_long(lid, half_);
            const long index_8 = index_7 < 0 ? un_add_long(index_7, 64) : index_7;
            if (index_8 < 0 || index_8 >= 64) {
                un_raise(faults, 1, index_7, 64, 0, 0);
                atomic_min(&un_failed_at, un_barriers);
                goto un_sync_2;
            }
            tile[index_6] = tile[index_6] + tile[index_8];
        }
        half_ = un_floordiv_long(half_, 2);  // 11
        un_sync_2:
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        un_ended = un_failed_at <= un_barriers++;
    }
    if (un_ended) {
        return;
    }
    if (lid == 0) {  // 12
        const long index_9 = (long)get_group_id(0);  // 13
        const long index_10 = index_9 < 0 ? index_9 + sums_shape0 : index_9;
        if (index_10 < 0 || index_10 >= sums_shape0) {
            un_raise(faults, 2, index_9, sums_shape0, 0, 0);
            return;
        }
        sums[index_10] = tile[0];
    }
}
