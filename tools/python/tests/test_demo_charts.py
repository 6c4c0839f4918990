import fake
import pytest
from netuit import arguments, demo_charts, results

PNG = b"\x89PNG\r\n\x1a\n"


def test_the_chart_is_a_picture(tmp_path):
    demo_charts.draw_chart(results.summarize(fake.make_rows()), tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


def test_a_chart_of_one_run_without_a_single_conflict_is_a_picture(tmp_path):
    summaries = results.summarize([fake.make_row(conflicts=0, updates_per_second=0.0)])
    demo_charts.draw_chart(summaries, tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
    assert (tmp_path / "chart.png").read_bytes().startswith(PNG)


@pytest.fixture
def kept(monkeypatch):
    """Figures that are drawn, in place of their files."""
    figures = []
    monkeypatch.setattr(demo_charts, "save", lambda figure, path: figures.append(figure))
    yield figures
    for figure in figures:
        demo_charts.plt.close(figure)


def chart_of(rows, kept, tmp_path):
    demo_charts.draw_chart(results.summarize(rows), tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
    return kept[-1], " ".join(text.get_text() for text in kept[-1].texts)


def test_where_no_run_left_a_conflict_words_take_the_place_of_the_lower_row(kept, tmp_path):
    rows = fake.make_rows()
    figure, words = chart_of([{**row, "conflicts": 0} for row in rows], kept, tmp_path)
    assert len(figure.axes) == 2 and not any("conflicts" in panel.get_ylabel() for panel in figure.axes)
    assert "Conflicts left at the end: none in any run." in words and "lower row" not in words
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["1x1", "1x2", "2x1", "2x2*"]
    figure, words = chart_of(rows, kept, tmp_path)
    assert len(figure.axes) == 4 and "none in any run" not in words


def test_a_graph_without_a_conflict_says_so_in_its_panel_beside_one_that_has_some(kept, tmp_path):
    rows = [{**row, "conflicts": row["conflicts"] if row["graph"] == "torus 64x64" else 0} for row in fake.make_rows()]
    figure, _ = chart_of(rows, kept, tmp_path)
    assert [[text.get_text() for text in panel.texts] for panel in figure.axes] == [[], [], [], ["none in any run"]]
    assert len(figure.axes[2].patches) == 24 and len(figure.axes[3].patches) == 0


def test_an_svg_file_is_beside_each_picture_and_is_the_same_again(tmp_path):
    drawn = []
    for _ in range(2):
        demo_charts.draw_chart(results.summarize(fake.make_rows()), tmp_path / "chart.png", seconds=1, fixed_period_ms=100)
        drawn.append((tmp_path / "chart.svg").read_bytes())
    assert drawn[0] == drawn[1] and b"</svg>" in drawn[0] and b">workers (processes x threads)</text>" in drawn[0]


def test_borders_run_between_cells_of_different_workers():
    cells = [(0, (0, 0), 0, (0, 0), False), (0, (0, 1), 1, (0, 1), False), (0, (1, 0), 1, (0, 0), False)]
    assert demo_charts._borders(cells) == [[(0.5, -0.5), (0.5, 0.5)]]


def test_a_grid_that_is_not_full_is_drawn(tmp_path):
    cells = [(mode, (row, row), row % 3, (0, row % 2), row == 1) for row in range(10, 15) for mode in (0, 3)]
    demo_charts.draw_grid("diagonal", "1x2", cells, tmp_path / "grid.png", arguments.MODE_NAMES)
    assert (tmp_path / "grid.png").read_bytes().startswith(PNG)
