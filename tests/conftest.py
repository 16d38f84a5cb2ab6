"""How properties are tested: with the same examples in every run, or with new ones to find faults.

`make test` draws the same examples each time, so it is green for everyone or for no one.
`make fuzz` draws new ones, and more of them.
"""

from hypothesis import is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

MORE = 20  # times as many examples when fuzzing

settings.register_profile("same", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile(
    "fuzz", derandomize=False, deadline=None, database=None, max_examples=50, print_blob=True
)
settings.load_profile("same")


def pytest_configure(config):
    """Draw the same examples whichever tests ran before."""
    if not fuzzing(config):
        # constants of the code that is loaded by then would be drawn, too
        providers._get_local_constants = lambda: providers._local_constants


def pytest_collection_modifyitems(config, items):
    """Fuzz with a multiple of the examples that each test asks for."""
    if not fuzzing(config):
        return
    tests = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for test in filter(is_hypothesis_test, tests):
        usual = test._hypothesis_internal_use_settings
        more = settings(usual, max_examples=MORE * usual.max_examples)
        test._hypothesis_internal_use_settings = more


def fuzzing(config):
    return config.getoption("--hypothesis-profile") == "fuzz"
