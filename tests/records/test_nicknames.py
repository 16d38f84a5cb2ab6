from importlib.resources import files

import pytest

from gramlink.records.fields import ALPHABET
from gramlink.records.nicknames import LANGUAGES, NO_GROUP, groups, groups_of
from gramlink.records.strings import Strings


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_name_is_in_one_group_of_two_or_more(language):
    text = files("gramlink.records.nicknames").joinpath(f"{language}.txt").read_text("utf-8")
    lines = [line.split() for line in text.splitlines()]
    names = [name for line in lines for name in line]
    assert min(map(len, lines)) > 1
    assert sorted(names) == sorted(groups(language))
    assert len(set(names)) == len(names) > 500
    assert all(name.isascii() and name.isalpha() and name.isupper() for name in names)


def test_a_nickname_has_the_group_of_its_name_in_any_case():
    texts = ["William", "BILL", "bill", "ZAPHOD", ""]
    found = groups_of(Strings.of(texts, ALPHABET + ALPHABET.lower() + "*"), "en").tolist()
    assert found[0] == found[1] == found[2] != NO_GROUP
    assert found[3:] == [NO_GROUP, NO_GROUP]


def test_groups_differ_by_language():
    assert groups("de")["FRITZ"] == groups("de")["FRIEDRICH"]
    assert "FRITZ" not in groups("en")
