"""What not every system has, and which tests therefore run on some only."""

import os
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes, pipes or signals")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
