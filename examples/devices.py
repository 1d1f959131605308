"""What this machine offers: discovery, properties, and computing where the data lives."""

import unisono as un

for device in un.devices():
    memory = f"{device.memory_bytes / 2**30:.1f} GiB" if device.memory_bytes else "unknown memory"
    float64 = "float64" if device.has_float64 else "no float64"
    print(f"{device}: {device.kind}, {device.compute_units} units, {memory}, {float64}")

for device in un.devices():
    x = un.arange(5, device=device)  # compute follows data
    y = (x * x + 1).sum()
    print(f"computed on {y.device}: {int(y)}")

print("a GPU:", *(un.devices("gpu") or ["none here"]))
try:
    un.zeros(3, device="gpu:99")
except un.DeviceError as error:
    print("asking for another:", error)
