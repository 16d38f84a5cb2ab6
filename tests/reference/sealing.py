"""Keys, age files and signatures by hand.

Bech32, X25519 (RFC 7748), HKDF (RFC 5869) and Ed25519 (RFC 8032).
"""

import base64
import hashlib
import hmac

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
PRIME = 2**255 - 19
BASE_POINT = (9).to_bytes(32, "little")
ORDER = 2**252 + 27742317777372353535851937790883648493
EIGHTH = 2707385501144840649318225287225658788936804267575313519463743609750303402022  # of order 8
D = -121665 * pow(121666, -1, PRIME) % PRIME
BASE = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    4 * pow(5, -1, PRIME) % PRIME,
)


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
    key = hmac.digest(salt or bytes(32), secret, "sha256")
    block, found = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(key, block + info + bytes([number]), "sha256")
        found += block
    return found[:length]


def signing_key(identity: str) -> tuple[int, bytes, bytes]:
    """RFC 8032, section 5.1.5: the scalar, the prefix and the public key of an age identity."""
    seed = hkdf(raw(identity), b"", b"gramlink/signing/v1")
    hashed = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(hashed[:32], "little") & ~7 & ~(1 << 255) | 1 << 254
    return scalar, hashed[32:], _written(_times(scalar, BASE))


def signature(message: bytes, identity: str) -> bytes:
    """RFC 8032, section 5.1.6."""
    scalar, prefix, public = signing_key(identity)
    r = _number(prefix + message)
    point = _written(_times(r, BASE))
    s = (r + _number(point + public + message) * scalar) % ORDER
    return point + s.to_bytes(32, "little")


def statement(data: bytes, sender: str, reader: str) -> bytes:
    """What a sender signs for a reader; the reader is empty if it is for anybody."""
    found = hashlib.sha256(data).hexdigest()
    return f"gramlink/signed/v1\n{sender}\n{reader}\n{found}\n".encode()


def _number(data: bytes) -> int:
    return int.from_bytes(hashlib.sha512(data).digest(), "little") % ORDER


def _times(scalar: int, point: tuple[int, int]) -> tuple[int, int]:
    found = (0, 1)
    while scalar:
        found = _sum(found, point) if scalar & 1 else found
        point, scalar = _sum(point, point), scalar >> 1
    return found


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    (x1, y1), (x2, y2) = one, other
    t = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + t, -1, PRIME)
    return x % PRIME, (y1 * y2 + x1 * x2) * pow(1 - t, -1, PRIME) % PRIME


def _written(point: tuple[int, int]) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def age_file(data: bytes, recipient: str, *stanzas: bytes) -> bytes:
    """Less than 64 KiB in the age format, with these stanzas after the reader's own."""
    file_key, nonce, ephemeral = bytes(range(16)), bytes(16), bytes(range(32))
    share, reader = x25519(ephemeral, BASE_POINT), raw(recipient)
    wrapping = hkdf(x25519(ephemeral, reader), share + reader, b"age-encryption.org/v1/X25519")
    wrapped = ChaCha20Poly1305(wrapping).encrypt(bytes(12), file_key, None)
    own = b"-> X25519 " + _base64(share) + b"\n" + _base64(wrapped) + b"\n"
    header = b"age-encryption.org/v1\n" + own + b"".join(stanzas) + b"---"
    mac = hmac.digest(hkdf(file_key, b"", b"header"), header, "sha256")
    payload = ChaCha20Poly1305(hkdf(file_key, nonce, b"payload"))
    last = bytes(11) + b"\1"
    return header + b" " + _base64(mac) + b"\n" + nonce + payload.encrypt(last, data, None)


def _base64(raw: bytes) -> bytes:
    return base64.b64encode(raw).rstrip(b"=")
