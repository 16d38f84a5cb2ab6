"""Cells: how long the parts of a veiled row are, for its kernels and for those who lay it out.

It imports no compiler, so that a manifest can be read without one.
"""

TAG = 8  # bytes
DRAWS = 56  # parities that a row shows of a field, under a pad
SKETCH = DRAWS // 8  # bytes
CELL = SKETCH + 2  # bytes of a field in a row: its sketch, an equality byte and a missing byte
BLOCKS = 5  # of 16 bytes, of a row's stream for a field
STREAM = 16 * BLOCKS  # bytes: the draws, then the pads of the cell; the rest is not used
