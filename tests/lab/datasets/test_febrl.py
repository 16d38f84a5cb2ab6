import polars as pl

from gramlink.lab.datasets import febrl4

FEBRL = febrl4()


def test_febrl4_is_5000_persons_and_a_copy_of_each():
    assert len(FEBRL.left) == len(FEBRL.right) == len(FEBRL.truth) == 5000
    assert FEBRL.left.columns == FEBRL.right.columns
    assert FEBRL.left.columns[:3] == ["rec_id", "given_name", "surname"]
    assert FEBRL.left.columns[-2:] == ["date_of_birth", "soc_sec_id"]
    assert len(FEBRL.left.columns) == 11


def test_febrl4_is_text_without_blanks_around_it_and_null_where_empty():
    for file in (FEBRL.left, FEBRL.right):
        assert set(file.dtypes) == {pl.String}
        for column in file:
            assert not column.str.contains(r"^\s|\s$|^$").any(), column.name
            assert column.null_count() < 1000
        assert file["rec_id"].null_count() == 0
    assert FEBRL.left["given_name"].null_count() == 112
    assert FEBRL.left["postcode"].str.starts_with("0").any()


def test_febrl4_knows_the_truth():
    left, right = FEBRL.truth["id_left"], FEBRL.truth["id_right"]
    assert left.equals(FEBRL.left["rec_id"], check_names=False)
    assert set(right) == set(FEBRL.right["rec_id"])
    assert right.n_unique() == 5000
    assert (left.str.replace("org", "dup-0") == right).all()


def test_the_last_row_of_a_file_without_a_last_newline_is_read_whole():
    assert FEBRL.left.row(-1)[-1] == "6375537"
    assert FEBRL.right.row(-1)[-1] == "8541055"
