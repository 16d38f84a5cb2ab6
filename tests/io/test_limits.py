import subprocess
import sys

import pytest

from gramlink.errors import InvalidParameter
from gramlink.io.limits import Limits, limit_memory


@pytest.mark.parametrize("limits", [{"memory": -1}, {"seconds": -1}, {"seconds": 10**9}])
def test_limits_that_make_no_sense_are_refused(limits):
    with pytest.raises(InvalidParameter):
        Limits(**limits)


def test_a_process_can_end_with_its_standard_input():
    process = subprocess.Popen(
        [sys.executable, "-c", "from gramlink.io.limits import end_with_input as e\n"
         "import time\ne()\ntime.sleep(60)"],
        stdin=subprocess.PIPE,
    )  # fmt: skip
    process.stdin.close()
    assert process.wait(60) == 1


def test_memory_can_be_limited_though_not_beyond_what_the_system_allows(monkeypatch):
    resource = pytest.importorskip("resource")
    given = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    for most in (resource.RLIM_INFINITY, 100):
        monkeypatch.setattr(resource, "getrlimit", lambda _, most=most: (most, most))
        limit_memory(10**9)
        limit_memory(0)
    endless = resource.RLIM_INFINITY
    assert given == [(10**9, endless), (endless, endless), (100, 100), (100, 100)]
