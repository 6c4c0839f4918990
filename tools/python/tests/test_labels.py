import pytest
from netuit.labels import parse_cell


@pytest.mark.parametrize("label", ["7", "a", "(1, 2, 3)", "(1, 'a')", "(1, True)", "(", "__import__('os')", ""])
def test_only_pairs_of_whole_numbers_are_cells(label):
    assert parse_cell(label) is None


def test_a_pair_of_whole_numbers_is_a_cell():
    assert parse_cell("(12, 3)") == (12, 3)
