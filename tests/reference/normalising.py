"""What normalising means, one text at a time, with Python's own Unicode tables."""

import unicodedata

from gramlink.records.fields import CATCH_ALL, Field

# the characters with the property White_Space, which are not quite those of str.isspace
WHITESPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)

# letters that no decomposition takes apart, and letters that are used as apostrophes
PLAIN = {
    "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D",
    "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T", "ŋ": "n", "Ŋ": "N", "ə": "e", "Ə": "E",
    "ɓ": "b", "Ɓ": "B", "ɗ": "d", "Ɗ": "D", "ƙ": "k", "Ƙ": "K", "ƴ": "y", "Ƴ": "Y",
    "ǥ": "g", "Ǥ": "G", "ĸ": "q", "ı": "i", "ȷ": "j",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "þ": "th", "Þ": "TH", "ß": "ss", "ẞ": "SS",
    "ʹ": "'", "ʺ": "'", "ʻ": "'", "ʼ": "'", "ʽ": "'", "ʾ": "'", "ʿ": "'", "ˈ": "'",
}  # fmt: skip


def normalise(text: str, field: Field) -> str:
    """The text as it is compared, before it is cut to the field's length."""
    text = unicodedata.normalize("NFKC", text)
    if field.accents == "strip":
        text = "".join(PLAIN.get(c, c) for c in unicodedata.normalize("NFKD", text) if not mark(c))
    if field.case == "upper":
        text = text.upper()
    if field.case == "lower":
        text = text.lower()
    if field.punctuation != "keep":
        other = " " if field.punctuation == "space" else ""
        text = "".join(other if punctuation(c) else c for c in text)
    if field.whitespace != "keep":
        text = "".join(" " if c in WHITESPACE else c for c in text)
        words = [word for word in text.split(" ") if word]
        text = (" " if field.whitespace == "collapse" else "").join(words)
    if field.accents == "keep":
        text = unicodedata.normalize("NFKC", text)
    return text


def mark(character: str) -> bool:
    """Whether it is a combining mark."""
    return unicodedata.category(character).startswith("M")


def punctuation(character: str) -> bool:
    """Whether it is punctuation or a symbol; a replacement character is a letter that was lost."""
    return unicodedata.category(character)[0] in "PS" and character != CATCH_ALL
