"""What devices take for calls, copies and additions."""

import pytest
import unisono.opencl as cl
import unisono.opencl.characterize.performance as performance


class Counted(performance.Timer):
    """Takes a command for a hundredth of a second."""

    def start(self):
        self.commands = 0

    def add_event(self, evt):
        if evt is not None:
            evt.wait()
        self.commands += 1

    def get_elapsed(self):
        return self.commands / 100


@pytest.mark.parametrize(
    "kind",
    [
        performance.HostToDeviceTransfer,
        performance.DeviceToHostTransfer,
        performance.DeviceToDeviceTransfer,
    ],
)
def test_copies(ctx, kind):
    queue = cl.CommandQueue(ctx)
    assert performance.transfer_latency(queue, kind, Counted) == pytest.approx(0.01)
    assert performance.transfer_bandwidth(queue, kind, 64, Counted) == pytest.approx(6400)
    assert performance.transfer_latency(queue, kind) > 0


def test_launches_and_additions(ctx):
    queue = cl.CommandQueue(ctx)
    assert performance.get_empty_kernel_time(queue, Counted) == pytest.approx(0.01)
    assert performance.get_profiling_overhead(ctx, Counted) == pytest.approx((0, 0.01))
    assert performance.get_add_rate(queue) > 0
