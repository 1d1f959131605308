"""What runs, and why: one kernel for a chain of operations, the counters, and the log of evaluations."""

import unisono as un

a = un.linspace(0, 1, 100_000)
un.eval(a)

before = un.stats()
c = a
for k in range(10):
    c = c * 0.5 + k
print(un.explain(c))  # what computing c would run; nothing has run yet

un.eval(c)
after = un.stats()
print("kernels launched:", after["kernels_launched"] - before["kernels_launched"])
print(
    "buffers of that size allocated:",
    (after["bytes_allocated"] - before["bytes_allocated"]) // c.nbytes,
)

total = float(c.sum())  # a value leaves: this line evaluates
print("last evaluation:", un.flush_log()[-1]["reason"], "at line", un.flush_log()[-1]["line"])
