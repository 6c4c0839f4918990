import fake
from netuit import arguments, demo_charts, results

PNG = b"\x89PNG\r\n\x1a\n"


def test_the_chart_is_a_picture(tmp_path):
    demo_charts.draw_chart(results.summarize(fake.make_rows()), tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


def test_a_chart_of_one_run_without_a_single_conflict_is_a_picture(tmp_path):
    summaries = results.summarize([fake.make_row(conflicts=0, updates_per_second=0.0)])
    demo_charts.draw_chart(summaries, tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


def test_borders_run_between_cells_of_different_workers():
    cells = [(0, (0, 0), 0, (0, 0), False), (0, (0, 1), 1, (0, 1), False), (0, (1, 0), 1, (0, 0), False)]
    assert demo_charts._borders(cells) == [[(0.5, -0.5), (0.5, 0.5)]]


def test_a_grid_that_is_not_full_is_drawn(tmp_path):
    cells = [(mode, (row, row), row % 3, (0, row % 2), row == 1) for row in range(10, 15) for mode in (0, 3)]
    demo_charts.draw_grid("diagonal", "1x2", cells, tmp_path / "grid.png", arguments.MODE_NAMES)
    assert (tmp_path / "grid.png").read_bytes().startswith(PNG)
