"""Text that may come from another party, as it can be printed, logged and sent on."""

LONGEST = 1000


def printable(text: str) -> str:
    r"""Text without anything that a terminal would act on: control characters, turned directions.

    >>> printable("clinic\x1b[2J")
    'clinic?[2J'
    """
    return "".join(symbol if symbol.isprintable() else "?" for symbol in text)


def one_line(text: str) -> str:
    r"""Text as one readable line, of a bounded length.

    >>> one_line("the bundle\n  is damaged")
    'the bundle is damaged'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= LONGEST else line[:LONGEST] + " ..."
