"""What a character is, and what folding makes of it."""

import unicodedata

APOSTROPHES = "'\u2019"
JOINERS = "_-./:@#"
FIRST_DIACRITIC, LAST_DIACRITIC = "\u0300", "\u036f"

# Han, kana, Hangul, Thai, Lao, Khmer and Burmese: scripts that are cut into bigrams.
BIGRAM_RANGES = (
    *((0x3005, 0x3005), (0x3007, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035), (0x3038, 0x303C)),  # Han
    *((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)),
    *((0x3041, 0x3096), (0x3099, 0x309A), (0x309D, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x30FF)),  # kana
    *((0x31F0, 0x31FF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F)),
    *((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7FB), (0xFFA0, 0xFFDC)),  # Hangul
    *((0x0E01, 0x0E3A), (0x0E40, 0x0E4E)),  # Thai
    (0x0E81, 0x0ECE),  # Lao
    *((0x1780, 0x17D3), (0x17D7, 0x17D7), (0x17DC, 0x17DD)),  # Khmer
    *((0x1000, 0x103F), (0x1050, 0x108F), (0x109A, 0x109D), (0xA9E0, 0xA9EF), (0xA9FA, 0xA9FE)),  # Burmese
    (0xAA60, 0xAA7F),
)


def is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def is_digit(character: str) -> bool:
    return unicodedata.category(character).startswith("N")


def is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def is_bigram_script(character: str) -> bool:
    """Whether this is a letter, a mark or a Han numeral of a script that is cut into bigrams."""
    belongs = is_letter(character) or is_mark(character) or unicodedata.category(character) == "Nl"
    return belongs and any(first <= ord(character) <= last for first, last in BIGRAM_RANGES)


def fold(text: str) -> str:
    """The text without differences of compatibility, case, combining diacritics and kind of apostrophe."""
    for apostrophe in APOSTROPHES:
        text = text.replace(apostrophe, "'")
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFD", text)
    text = "".join(character for character in text if not FIRST_DIACRITIC <= character <= LAST_DIACRITIC)
    return unicodedata.normalize("NFC", text)
