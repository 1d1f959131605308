"""Each device present, by dpctl's filter strings."""

import pytest
from unisono import dpctl


@pytest.fixture(params=[d.filter_string for d in dpctl.get_devices()])
def chosen(request):
    """Filter string of the current device."""
    with dpctl.device_context(request.param):
        yield request.param
