"""The sender's mark by the standard library alone: Bech32, X25519 (RFC 7748), HKDF (RFC 5869)."""

import hmac

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
PRIME = 2**255 - 19
BASE_POINT = (9).to_bytes(32, "little")


def age_key(prefix: str, raw: bytes) -> str:
    """32 bytes as age writes them, with the checksum of BIP 173."""
    number = int.from_bytes(raw, "big") << 4  # 52 letters of 5 bits
    values = [number >> shift & 31 for shift in range(255, -1, -5)]
    expanded = [ord(one) >> 5 for one in prefix] + [0] + [ord(one) & 31 for one in prefix]
    check = _checksum([*expanded, *values, *[0] * 6]) ^ 1
    values += [check >> shift & 31 for shift in range(25, -1, -5)]
    return f"{prefix}1{''.join(LETTERS[value] for value in values)}"


def _checksum(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, term in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            check ^= term if top >> bit & 1 else 0
    return check


def raw(key: str) -> bytes:
    """The 32 bytes of an age key."""
    bits = "".join(f"{LETTERS.index(one):05b}" for one in key.lower().rpartition("1")[2][:-6])
    return bytes(int(bits[place : place + 8], 2) for place in range(0, 256, 8))


def x25519(scalar: bytes, point: bytes) -> bytes:
    """RFC 7748, section 5: the ladder, one bit of the scalar at a time."""
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | 1 << 254
    u = int.from_bytes(point, "little") % 2**255
    x2, z2, x3, z3 = 1, 0, u, 1
    for bit in range(254, -1, -1):
        if k >> bit & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        da, cb, aa, bb = d * a, c * b, a * a, b * b
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, (aa - bb) * (aa + 121665 * (aa - bb)) % PRIME
        if k >> bit & 1:
            x2, z2, x3, z3 = x3, z3, x2, z2
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, "little")


def hkdf(secret: bytes, salt: bytes, info: bytes, length: int = 32) -> bytes:
    """RFC 5869 with SHA-256: extract, then expand."""
    key = hmac.digest(salt, secret, "sha256")
    block, found = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        found += block
    return found[:length]


def mark(data: bytes, own_identity: str, other_recipient: str, *, sending: bool) -> str:
    """The mark of what the holder of an identity sends to another, or has got from it."""
    private, other = raw(own_identity), raw(other_recipient)
    own = x25519(private, BASE_POINT)
    sender, reader = (own, other) if sending else (other, own)
    key = hkdf(x25519(private, other), sender + reader, b"gramlink/sender-mark/v1")
    return hmac.digest(key, data, "sha256").hex()
