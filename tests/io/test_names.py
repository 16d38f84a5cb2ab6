import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlink.errors import InvalidParameter
from gramlink.io.names import alike, dataset_name, exchange_name, owner_name, unreadable

GOOD = [
    "clinic", "St. Mary's", "Hôpital n° 5", "a" * 100, "病院", "東京A病院", "佐々木クリニック",
    "한국병원", "больница 5", "Ελλάδα", "مستشفى", "בית חולים", "अस्पताल",
    "\u02bbOkina", "100 % & #1",
]  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_name_in_letters_of_one_script_is_an_owners(name):
    assert owner_name(name) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it has not 1 to 100 characters"),
        ("a" * 101, "it has not 1 to 100 characters"),
        (" ", "starts or ends with a blank"),
        (" clinic", "starts or ends with a blank"),
        ("clinic ", "starts or ends with a blank"),
        ("clinic\n", "invisible characters"),
        ("a\x1b[2J", "invisible characters"),
        ("a\u202eb", "invisible characters"),
        ("a\u200bb", "invisible characters"),
        ("a\ufe0fb", "invisible characters"),
        ("a\u034fb", "invisible characters"),
        ("\ud800", "invisible characters"),
        ("a/b", "names of files cannot have /"),
        ("..\\a", "names of files cannot have \\"),
        ("clinic:hidden", "names of files cannot have :"),
        ('<"?>', 'names of files cannot have " < > ?'),
        ("..", "it starts with ."),
        (".clinic", "it starts with ."),
        ("-rf", "it starts with -"),
        ("con", "Windows has a device"),
        ("NUL.backup", "Windows has a device"),
        ("Com1", "Windows has a device"),
        ("r\N{CYRILLIC SMALL LETTER IE}gistry", "mixes CYRILLIC and LATIN letters"),
        ("\N{GREEK SMALL LETTER ALPHA}-site", "mixes GREEK and LATIN letters"),
        ("\N{FULLWIDTH LATIN SMALL LETTER X}", "did you mean x?"),
        ("A\N{COMBINING RING ABOVE}", "did you mean Å?"),
        (5, "it is not text"),
        (None, "it is not text"),
    ],
)
def test_a_name_that_could_confuse_a_reader_or_a_folder_is_refused(name, why):
    with pytest.raises(InvalidParameter, match="cannot be the name of an owner") as caught:
        owner_name(name)
    assert why in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("clinic", "Clinic"),
        ("registry", "r\N{CYRILLIC SMALL LETTER IE}gistry"),
        ("coco", "сосо"),  # all of it Cyrillic
        ("HOSPITAL", "HOSPlTAL"),
        ("site-1", "site-l"),
        ("site-10", "site-1O"),
        ("hospita1", "Hospital"),
        ("modem", "modern"),
        ("St. Mary's", "St. Mary\N{RIGHT SINGLE QUOTATION MARK}s"),
        ("a-b", "a\N{HYPHEN}b"),
        ("\N{CYRILLIC SMALL LETTER IO}", "\N{LATIN SMALL LETTER E WITH DIAERESIS}"),
        ("\N{CYRILLIC CAPITAL LETTER EL}", "\N{GREEK CAPITAL LETTER LAMDA}"),
        ("ss", "ß"),
        ("fi", "\N{LATIN SMALL LIGATURE FI}"),
        ("a b", "a  b"),
    ],
)
def test_names_that_look_the_same_are_found(one, other):
    assert set(alike([one, "office", other])) == {one, other}


def test_names_that_look_different_are_told_apart():
    assert (
        alike([*GOOD, "hospital", "registry", "site-1", "site-2", "ward-i", "ward-0", "zoo"]) == []
    )


@given(st.lists(st.text(max_size=4), unique=True, max_size=4), st.randoms())
def test_which_names_look_alike_does_not_depend_on_their_order(names, random):
    found = alike(names)
    assert found == sorted(found)
    random.shuffle(names)
    assert alike(names) == found


def test_a_data_set_may_mix_scripts_as_it_is_nobody_elses():
    assert dataset_name("пациенты_export") == "пациенты_export"
    for name in ("", "a/b", "a:b", "a\x1b", "con", ".a"):
        with pytest.raises(InvalidParameter, match="cannot be the name of a data set") as caught:
            dataset_name(name)
        assert "--dataset" in caught.value.hint


@given(st.text())
def test_why_a_name_cannot_be_read_can_be_read(text):
    assert unreadable(text).isprintable()


@pytest.mark.parametrize("name", ["stroke-2026", "a", "0", "a" * 64, "7-", "a--b"])
def test_a_name_that_can_be_part_of_an_address_is_an_exchanges(name):
    assert exchange_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "", "-", "-a", "A", "Stroke", "a" * 65, "a b", "a/b", "../a", ".", "a.b", "a\\b", "a\n",
        "\na", "a\x00", "a?b", "a%2fb", "é", "٣", "ａ", "a_b", "=1+1", 5, None, b"a", ["a"], True,
    ],
)  # fmt: skip
def test_a_name_that_could_lead_elsewhere_is_no_exchanges(name):
    with pytest.raises(InvalidParameter, match="cannot be the name of an exchange") as caught:
        exchange_name(name)
    assert caught.value.hint


@given(st.text())
def test_a_name_of_an_exchange_is_of_small_letters_digits_and_hyphens(text):
    fits = (
        0 < len(text) <= 64
        and set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        and text[0] != "-"
    )
    try:
        assert exchange_name(text) == text
        assert fits
    except InvalidParameter:
        assert not fits
