"""The header of a sealed file, checked against the grammar of age.

The library that opens the file takes two headers that the format forbids: a stanza whose body
does not end in a short line, and one without a body.
"""

import re

HEADER = b"age-encryption.org/v1\n"

_STANZA = rb"-> [!-~]++(?: [!-~]++)*+\n(?:[A-Za-z0-9+/]{64}\n)*+[A-Za-z0-9+/]{0,63}\n"
_WHOLE = re.compile(re.escape(HEADER) + rb"(?:%b)++--- [A-Za-z0-9+/]{43}\n" % _STANZA)


def is_header(data: bytes) -> bool:
    r"""Whether a file starts with a whole header: stanzas for its readers, and a checksum.

    >>> is_header(HEADER + b"-> X25519 share\nkey\n--- " + b"A" * 43 + b"\n")
    True
    >>> is_header(HEADER + b"-> X25519 share\n--- " + b"A" * 43 + b"\n")
    False
    """
    return _WHOLE.match(data) is not None
