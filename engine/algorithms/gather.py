"""Elements at positions: out[i] = x[index[i]]."""

import unisono as un


@un.kernel
def gather(x, index, out):
    i = un.global_id(0)
    out[i] = x[index[i]]
