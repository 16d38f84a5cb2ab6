"""The log of a command: steps with their times and counts, on standard error."""

import logging

from gramlink.errors import InvalidParameter

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


def log_to_stderr(verbose: int, level: str) -> None:
    """Start logging at the level asked for, by the number of `-v` flags or by name.

    Privacy: a log says how many records there are, never what is in them.
    """
    if level and level.lower() not in LEVELS:
        raise InvalidParameter(
            f"GRAMLINK_LOG={level} is not a logging level", hint=f"one of {', '.join(LEVELS)}"
        )
    if not verbose and not level:
        return
    chosen = LEVELS[level.lower()] if level else logging.WARNING
    if verbose:
        chosen = min(chosen, logging.INFO if verbose == 1 else logging.DEBUG)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("gramlink")
    logger.handlers = [handler]  # only one, however often a program runs commands
    logger.setLevel(chosen)
