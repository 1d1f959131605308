"""Two queues of a device: work that goes on while the program does, events, times, and faults that show later."""

import numpy as np
import unisono as un


@un.kernel
def pick(table, positions, out):
    i = un.global_id(0)
    out[i] = table[positions[i]]


found = un.devices("opencl")
if not found:
    print("no OpenCL device here: python -m unisono doctor says what was searched")

for device in found[:1]:
    first, second = un.Queue(device), un.Queue(device, order="out", profiling=True)
    table = un.asarray(np.linspace(0.0, 1.0, 1000), device=device)

    with un.device(queue=first):
        squares = table * table
    with un.device(queue=second):
        roots = un.sqrt(squares)  # waits, on the device, for the first queue
    event = second.record()  # submitted; the program goes on
    event.wait()
    print("roots are the table again:", un.allclose(roots, table))
    print("the device took", event.profile.end - event.profile.start, "ns")

    out = un.zeros(3, device=device)
    positions = un.asarray(np.array([1, 2, 5000]), device=device)
    with un.device(queue=first):
        pick[3](table, positions, out)
        wrong = out * 2
    print("what does not depend on it:", float(squares[999]))
    try:
        print(wrong)
    except IndexError as error:
        print("what does:", error)
