"""`pyopencl.characterize.performance`: measures what calls, copies and additions of a device take."""

import time

import numpy as np

from .. import Buffer, CommandQueue, Program, command_queue_properties, enqueue_copy, mem_flags


class Timer:
    """What measures a number of commands: subclasses say how."""

    def __init__(self, queue):
        self.queue = queue

    def start(self):
        """Before the first command."""

    def stop(self):
        """Behind the last one."""

    def add_event(self, evt):
        """The event of each command."""

    def get_elapsed(self):
        """Seconds."""


class WallTimer(Timer):
    """Measures by the clock on the wall."""

    def start(self):
        """Wait for what came before."""
        self.queue.finish()
        self.start_time = time.perf_counter()

    def stop(self):
        """Wait for the commands."""
        self.queue.finish()
        self.end_time = time.perf_counter()

    def get_elapsed(self):
        """Seconds between both."""
        return self.end_time - self.start_time


def _seconds(queue, command, timer_factory, least=0.1, warm_up=3):
    """Of one command, of as many as take that long together."""
    timer = (timer_factory or WallTimer)(queue)
    for _ in range(warm_up):
        command()
    count = 1
    while True:
        timer.start()
        for _ in range(count):
            timer.add_event(command())
        timer.stop()
        elapsed = timer.get_elapsed()
        if elapsed >= least:
            return elapsed / count
        wanted = int(count * least / elapsed) if elapsed > 0 else 0
        count = min(10 * count, max(2 * count, wanted))


class HostDeviceTransferBase:
    """Memory of the host and of the device."""

    def __init__(self, queue, block_size):
        self.queue = queue
        self.host_buf = np.empty(block_size, np.uint8)
        self.dev_buf = Buffer(queue.context, mem_flags.READ_WRITE, block_size)


class HostToDeviceTransfer(HostDeviceTransferBase):
    """A copy to the device."""

    def do(self):
        """Enqueue it."""
        return enqueue_copy(self.queue, self.dev_buf, self.host_buf)


class DeviceToHostTransfer(HostDeviceTransferBase):
    """A copy from the device."""

    def do(self):
        """Enqueue it."""
        return enqueue_copy(self.queue, self.host_buf, self.dev_buf)


class DeviceToDeviceTransfer:
    """A copy on the device."""

    def __init__(self, queue, block_size):
        self.queue = queue
        self.dev_buf_1, self.dev_buf_2 = (
            Buffer(queue.context, mem_flags.READ_WRITE, block_size) for _ in range(2)
        )

    def do(self):
        """Enqueue it."""
        return enqueue_copy(self.queue, self.dev_buf_2, self.dev_buf_1)


def transfer_latency(queue, transfer_type, timer_factory=None):
    """Seconds of a copy of one byte."""
    return _seconds(queue, transfer_type(queue, 1).do, timer_factory)


def transfer_bandwidth(queue, transfer_type, block_size, timer_factory=None):
    """Bytes a second of copies of that many."""
    return block_size / _seconds(queue, transfer_type(queue, block_size).do, timer_factory)


def get_profiling_overhead(ctx, timer_factory=None):
    """Seconds that profiling adds to a command, and those of a command with it."""
    took = []
    for properties in (0, command_queue_properties.PROFILING_ENABLE):
        queue = CommandQueue(ctx, properties=properties)
        took.append(transfer_latency(queue, DeviceToDeviceTransfer, timer_factory))
    return took[1] - took[0], took[1]


def get_empty_kernel_time(queue, timer_factory=None):
    """Seconds of a launch of a kernel that does nothing."""
    kernel = Program(queue.context, "__kernel void empty() {}").build().empty
    return _seconds(queue, lambda: kernel(queue, (1,), None), timer_factory)


def get_add_rate(queue, type="float", timer_factory=None):
    """Additions a second of numbers of the C type."""
    additions, turns = 50, 10
    text = f"""
    __kernel void adding() {{
        local {type} results[1024];
        {type} x = get_global_id(0);
        for (int k = 0; k < {turns}; ++k) {{ {"x += x; " * additions} }}
        results[get_local_id(0)] = x;
    }}"""
    kernel = Program(queue.context, text).build().adding
    size = 4 * queue.device.max_compute_units
    rates, dips = [], 0
    while True:
        took = _seconds(queue, lambda n=size: kernel(queue, (n,), None), timer_factory)
        rate, best = size / took, max(rates, default=0)
        rates.append(rate)
        is_dip = rate < 0.9 * best and dips < 3
        dips = 0 if rate > 1.05 * best else dips + is_dip
        if rate <= 1.05 * best and not is_dip:
            return turns * additions * max(rates)
        size *= 2
