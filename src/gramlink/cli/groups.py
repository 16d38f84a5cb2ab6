"""Groups of options, which a command takes as one value.

A `Source` is where records come from, a `Speaker` is how the command speaks. `flat` turns a command
that takes such groups into one that typer can read.
"""

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """The command with each group of options spread into single options.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Speed:
    ...     fast: bool = False
    >>> def walk(*, far: int, speed: Speed) -> None:
    ...     print(far, speed)
    >>> inspect.signature(flat(walk))
    <Signature (*, far: int, fast: bool = False)>
    >>> flat(walk)(far=3, fast=True)
    3 Speed(fast=True)
    """
    spread: list[inspect.Parameter] = []
    groups: dict[str, tuple[type, list[str]]] = {}
    for parameter in inspect.signature(command).parameters.values():
        options, group = [parameter], parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            options = list(inspect.signature(group).parameters.values())
            groups[parameter.name] = group, [one.name for one in options]
        spread += (one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in options)

    def run(**given: Any) -> None:
        for name, (group, names) in groups.items():
            given[name] = group(**{one: given.pop(one) for one in names})
        command(**given)

    run.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in spread}
    return run
