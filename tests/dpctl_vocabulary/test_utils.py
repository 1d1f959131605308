"""`dpctl.utils`, and what devices tell of themselves beside numbers of items."""

import os

import pytest
from unisono import dpctl
from unisono.dpctl import utils


def test_queues_and_kinds_of_memory_together():
    q, other = dpctl.SyclQueue("cpu"), dpctl.SyclQueue("cpu")
    assert utils.get_execution_queue([]) is None and utils.get_execution_queue([q, None]) is None
    assert utils.get_execution_queue((q, q)) is q and utils.get_execution_queue([q, other]) is None
    assert utils.get_coerced_usm_type(["host", "shared", "host"]) == "shared"
    assert utils.get_coerced_usm_type(["host", "slow"]) is None
    utils.validate_usm_type("host")
    utils.validate_usm_type(None)
    for call, error in [
        (lambda: utils.get_execution_queue({}), TypeError),
        (lambda: utils.get_coerced_usm_type({}), TypeError),
        (lambda: utils.validate_usm_type(None, allow_none=False), TypeError),
        (lambda: utils.validate_usm_type("slow"), ValueError),
        (lambda: utils.intel_device_info(1), TypeError),
        (lambda: utils.SequentialOrderManager[None], TypeError),
    ]:
        with pytest.raises(error):
            call()


def test_events_in_order():
    q = dpctl.SyclQueue("cpu")
    order = utils.SequentialOrderManager[q]
    order.add_event_pair(dpctl.SyclEvent(), [dpctl.SyclEvent(), dpctl.SyclEvent()])
    assert utils.SequentialOrderManager[q] is order
    assert (order.num_host_task_events, order.num_submitted_events) == (1, 2)
    order.wait()
    assert order.submitted_events == order.host_task_events == []
    utils.SequentialOrderManager.clear()
    before = os.environ.get("PTI_ENABLE_COLLECTION")
    with utils.onetrace_enabled():
        assert os.environ["PTI_ENABLE_COLLECTION"] == "1"
    assert os.environ.get("PTI_ENABLE_COLLECTION") == before


def test_devices(chosen):
    device = dpctl.SyclDevice(chosen)
    assert device.max_work_item_sizes2d == device.max_work_item_sizes[:2]
    assert device.max_num_sub_groups * device.sub_group_sizes[0] <= max(
        device.max_work_group_size, 32
    )
    assert device.native_vector_width_int >= 0 and not device.has_aspect_is_composite
    assert device.get_unpartitioned_parent_device() == device
    assert dpctl.get_devices()[device.get_device_id()] == device
    assert device.can_access_peer(device)
    device.enable_peer_access(device)
    for call, error in [
        (lambda: device.can_access_peer({}), TypeError),
        (lambda: device.disable_peer_access(1), TypeError),
        (lambda: device.can_access_peer(device, value="fast"), ValueError),
        (lambda: device.create_sub_devices(partition=(0, 1)), TypeError),
    ]:
        with pytest.raises(error):
            call()


def test_filters_that_fit_nothing():
    for arg, error in [
        ("abc", dpctl.SyclDeviceCreationError),
        ("cpu:77", dpctl.SyclDeviceCreationError),
        (1, TypeError),
    ]:
        with pytest.raises(error):
            dpctl.SyclDevice(arg)
        with pytest.raises(ValueError, match="SyclPlatform: SyclDevice: "):
            dpctl.SyclPlatform(arg)
    with pytest.raises(dpctl.SyclContextCreationError, match="no device fits; got 'cpu:77'"):
        dpctl.SyclContext("cpu:77")
