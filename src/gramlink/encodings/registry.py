"""The encodings that a bundle can have, by the names that manifests give them."""

from gramlink.encodings.encoding import EncodedRecords
from gramlink.encodings.vectors import VectorRecords

ENCODINGS: dict[str, type[EncodedRecords]] = {one.name: one for one in (VectorRecords,)}
DEFAULT: type[EncodedRecords] = VectorRecords
