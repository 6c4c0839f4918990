import math

import netuit
import fake_results
import numpy
import pandas
import pytest
from matplotlib.collections import LineCollection
from netuit import analysis, comparison_plots, experiment_plots, result_plots
from netuit.style import MODE_COLORS, SINGLE
from fake_sweep import make_quality, make_rows


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """No figure lands in the checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UIT_FIGURES", str(tmp_path / "figures"))
    yield
    experiment_plots.plt.close("all")


def is_drawn(figure, name):
    path = experiment_plots.keep(figure, name, "tools/experiment fake")
    return path.name == f"{name}.svg" and "</svg>" in path.read_text(encoding="utf-8")


def test_whole_experiments_become_pictures(tmp_path):
    rows, quality = make_rows(tmp_path), make_quality(tmp_path)
    assert is_drawn(experiment_plots.rates_and_conflicts(rows), "rates")
    assert is_drawn(comparison_plots.rates_by_case(rows), "cases")
    assert is_drawn(comparison_plots.threads_by_case(rows), "threads")
    assert is_drawn(experiment_plots.quality_by_case(quality), "quality")
    assert is_drawn(experiment_plots.regressions(quality, "log2_threads"), "regressions")
    assert is_drawn(
        experiment_plots.clusters({"fast": rows[rows["threads"] == 1], "slow": rows[rows["threads"] == 1]}), "clusters"
    )


def make_half(tmp_path, factor):
    """Rows and quality of two processes, of which one snapshot in five is ten times as late, and others in the way."""
    rows = make_rows(tmp_path, rate=lambda workers, mode: factor * (1000.0 + mode) * workers, conflicts=lambda workers, mode: 40 + mode)
    random = numpy.random.default_rng(1)
    snapshots = []
    for mode in (0, 3):
        for number in range(5):
            row = fake_results.quality_row(random, mode, 0, "worker", 0, 0, "mpi")
            late = 10 if number == 4 else 1
            row |= {"replicate": number, "processes": 2, "threads": 1, "clumpiness": 0, "skip_rate": 0.01 * mode}
            row |= {"simstep_latency_updates": late * (1.0 + mode), "wall_latency_s": late * factor * (1 + mode) * 1e-5}
            row |= {"age_p50_s": factor * 1e-5, "transit_p50_s": factor * 1e-6}
            snapshots += [row, row | {"processes": 1, "wall_latency_s": 1}]
    fake_results.write_csv(tmp_path / "quality.csv", snapshots)
    return rows[rows["threads"] == 1], netuit.load(tmp_path / "quality.csv")


def test_medians_of_two_processes_are_set_beside_those_of_simulated_ones(tmp_path):
    real, simulated = (analysis.medians(*make_half(tmp_path, factor)) for factor in (1.0, 1.5))
    assert list(real.columns) == list(analysis.CALIBRATED) and list(real.index) == [0, 1, 2, 3, 4, 5]
    assert real.loc[3, "rate"] == pytest.approx(2 * 1003 * 1.01) and real.loc[3, "conflicts"] == 44
    assert real.loc[3, "wall_latency_s"] == pytest.approx(4e-5) and real.loc[3, "simstep_latency_updates"] == 4
    table = analysis.set_beside(real, simulated)
    assert list(dict.fromkeys(table.index.get_level_values("quantity"))) == list(analysis.CALIBRATED)
    assert table.loc[("wall_latency_s", 3), "ratio"] == pytest.approx(1.5) and table.loc[("conflicts", 4), "ratio"] == 1
    assert math.isnan(table.loc[("clumpiness", 0), "ratio"]) and ("wall_latency_s", 4) not in table.index


def test_real_and_simulated_are_bars_beside_each_other(tmp_path):
    figure = comparison_plots.real_and_simulated(*make_half(tmp_path, 1.0), *make_half(tmp_path, 1.5))
    assert is_drawn(figure, "beside")
    panels = {panel.get_ylabel(): panel for panel in figure.axes if panel.get_visible()}
    assert len(panels) == len(analysis.CALIBRATED)
    heights = [bar.get_height() for bar in panels["wall-time latency"].patches]
    assert heights == pytest.approx([1e-5, 4e-5, 1.5e-5, 6e-5])
    assert len(panels["updates per second and process"].patches) == 12
    assert "real: medians over 3 replicates" in " ".join(text.get_text() for text in figure.texts)


def dots(panel, color):
    """Ordinates of the dots of a colour, from left to right."""
    lines = [line for line in panel.lines if line.get_marker() == "o" and line.get_color() == color and len(line.get_ydata())]
    return [line.get_ydata()[0] for line in sorted(lines, key=lambda line: line.get_xdata()[0])]


def test_by_case_a_mode_is_set_against_the_one_that_does_not_communicate(tmp_path):
    rows = make_rows(tmp_path, rate=lambda workers, mode: {0: 500.0, 3: 900.0}.get(mode, 1000.0))
    rows = rows[rows["threads"] == 1].assign(case=pandas.Categorical(["one"] * (rows["threads"] == 1).sum()))
    figure = comparison_plots.rates_by_case(rows)
    assert [panel.get_title() for panel in figure.axes] == ["2x1 workers", "4x1 workers"]
    for panel in figure.axes:
        assert dots(panel, MODE_COLORS[0]) == pytest.approx([0.5])
        assert dots(panel, MODE_COLORS[3]) == pytest.approx([0.9])


def test_what_threads_keep_is_per_cpu_and_relative_to_one_of_the_same_case(tmp_path):
    slow = make_rows(tmp_path, rate=lambda workers, mode: 1000.0 / max(1, workers / 2)).assign(cpus=2, case="slow")
    quick = make_rows(tmp_path, rate=lambda workers, mode: 9000.0 * 0.8 ** (workers - 1) / max(1, workers / 2)).assign(cpus=2, case="quick")
    panel = comparison_plots.threads_by_case(pandas.concat([slow, quick])[lambda rows: rows["mode"] == 4]).axes[0]
    first, second = comparison_plots.seaborn.color_palette("colorblind", 2)
    assert dots(panel, first) == pytest.approx([1, 1]) and dots(panel, second) == pytest.approx([0.8, 0.8**3])
    assert [text.get_text() for text in panel.get_xticklabels()] == ["2", "4*"]


def test_axes_of_quality_have_units_and_stars_where_workers_take_turns(tmp_path):
    quality = make_quality(tmp_path, factor=lambda workers: workers**3)
    quality["oversubscribed"] = quality["threads"] > 2
    figure = experiment_plots.quality_by_case(quality)
    figure.draw_without_rendering()
    panels = {panel.get_ylabel(): panel for panel in figure.axes}
    assert panels["wall-time latency"].get_yscale() == "log" and panels["simstep period"].get_yscale() == "linear"
    for panel in panels.values():
        labels = [text.get_text() for text in panel.get_yticklabels(which="both") if text.get_text()]
        assert len(labels) >= 2 and not any("times" in label for label in labels)
    assert [text.get_text().split("\n")[-1] for text in figure.axes[-1].get_xticklabels()] == ["1x1", "1x2", "1x4*", "1x8*"]
    assert "take turns" in figure.get_supxlabel()


def test_rates_are_per_cpu_where_workers_outnumber_them(tmp_path):
    rows = make_rows(tmp_path, rate=lambda workers, mode: 1000.0 / max(1, workers / 2)).assign(cpus=2)
    panel = experiment_plots.rates_and_conflicts(rows).axes[0]
    assert panel.get_ylabel() == "updates per second and CPU"
    assert [round(bar.get_height()) for bar in panel.containers[3]] == [1010] * 3
    few = rows[rows["processes"] * rows["threads"] <= 2]
    assert experiment_plots.rates_and_conflicts(few).axes[0].get_ylabel() == "updates per second and worker"


def test_no_point_of_a_cluster_is_cut_off(tmp_path):
    few = make_rows(tmp_path, conflicts=lambda workers, mode: 4)
    many = make_rows(tmp_path, conflicts=lambda workers, mode: 400 * workers)
    figure = experiment_plots.clusters({name: rows[rows["threads"] == 1] for name, rows in (("few", few), ("many", many))})
    for panel in figure.axes:
        assert panel.get_ylim()[0] == 0
        assert all(max(line.get_ydata()) <= panel.get_ylim()[1] for line in panel.lines)


def test_a_figure_names_the_commands_that_make_it_again(tmp_path):
    figure = experiment_plots.rates_and_conflicts(make_rows(tmp_path))
    experiment_plots.keep(figure, "rates", "tools/experiment paper")
    words = [text.get_text() for text in figure.texts]
    assert "drawn by: tools/figures rates     measured by: tools/experiment paper" in words


def said_below(figure):
    """Lines below a figure, from top to bottom."""
    lines = [text for text in figure.texts if text.get_text() and text.get_position()[1] < 0]
    return [text.get_text() for text in sorted(lines, key=lambda text: -text.get_position()[1])]


def test_a_figure_says_below_what_it_shows_of_how_many_replicates(tmp_path):
    rows, quality = make_rows(tmp_path), make_quality(tmp_path)
    bars, dots = "means over 3 replicates; lines: bootstrapped 95 % intervals", "over workers and snapshots"
    quality["failure_rate"] = 0.1  # else it had no panel
    alone = rows[rows["threads"] == 1]
    fewer = alone[alone["replicate"] < 2]
    many = more(rows)
    frequent = more(quality)
    told = {
        experiment_plots.rates_and_conflicts(rows): "bars: means over 3 replicates; dots: single ones",
        result_plots.plot_rates(rows).figure: "bars: means over 3 replicates; dots: single ones",
        result_plots.plot_rates(many).figure: f"bars: {bars}".replace("3 replicates", "6 replicates"),
        result_plots.plot_conflicts(alone[alone["replicate"] == 0]).figure: "bars: means over 1 replicate; dots: single ones",
        experiment_plots.clusters({"fast": fewer, "slow": alone}): "dots: means over 2 to 3 replicates; small dots: single ones",
        experiment_plots.clusters({"slow": many[many["threads"] == 1]}): "dots: means over 6 replicates; upright lines: bootstrapped 95 % intervals",
        comparison_plots.rates_by_case(rows): "dots: ratios of means over 3 replicates; small dots: single ones to the mean of mode 4",
        comparison_plots.threads_by_case(rows): "dots: ratios of means over 3 replicates; small dots: single ones to the mean of one thread",
        comparison_plots.rates_by_case(many): f"dots: ratios of {bars}".replace("3 replicates", "6 replicates"),
        comparison_plots.threads_by_case(many): f"dots: ratios of {bars}".replace("3 replicates", "6 replicates"),
        experiment_plots.quality_by_case(quality): f"dot: median {dots} of 4 replicates; thick line: middle half; thin line: middle 95 %",
        result_plots.plot_quality(quality): f"dots: medians {dots} of 4 replicates; small dots: those of single ones",
        result_plots.plot_quality(frequent): f"dots: medians {dots} of 8 replicates; lines: bootstrapped 95 % intervals of medians",
        experiment_plots.regressions(quality, "log2_threads"): f"dots: a mean and a median {dots} for each of 4 replicates",
    }
    for figure, line in told.items():
        assert said_below(figure) == [line]


def more(table):
    """The same with twice the replicates."""
    return pandas.concat([table, table.assign(replicate=table["replicate"] + table["replicate"].max() + 1)], ignore_index=True)


def singles(panel):
    """Places of the small dots that stand for a replicate each."""
    return [place for line in panel.lines if line.get_color() == SINGLE["color"] and line.get_markersize() == SINGLE["markersize"]
            for place in zip(line.get_xdata(), line.get_ydata())]  # fmt: skip


def upright(panel):
    """How many upright lines a panel has."""
    lines = [line.get_xydata() for line in panel.lines]
    lines += [segment for group in panel.collections if isinstance(group, LineCollection) for segment in group.get_segments()]
    return sum(line[0][0] == line[1][0] and line[0][1] != line[1][1] for line in lines if len(line) == 2)


def test_below_five_replicates_ratios_have_a_dot_for_each_and_no_interval(tmp_path):
    rows = make_rows(tmp_path, rate=lambda workers, mode: {0: 500.0, 3: 900.0}.get(mode, 1000.0))
    rows = rows[rows["threads"] == 1].assign(case="one")
    few, many = (comparison_plots.rates_by_case(table).axes[0] for table in (rows, more(rows)))
    assert len(singles(few)) == 5 * 3 and upright(few) == 0
    assert sorted(y for _, y in singles(few))[:3] == pytest.approx([0.5 / 1.01, 0.5, 0.5 * 1.02 / 1.01])  # of mode 0, to the mean of mode 4
    assert len(singles(many)) == 0 and upright(many) == 5


def test_below_five_replicates_a_cluster_has_a_dot_for_each_and_no_interval(tmp_path):
    rows = make_rows(tmp_path)[lambda rows: rows["threads"] == 1]
    figure = experiment_plots.clusters({"few": rows, "many": more(rows)})
    for few, many in ((figure.axes[0], figure.axes[1]), (figure.axes[2], figure.axes[3])):
        assert len(singles(few)) == 6 * 3 * 3 and upright(few) == 0
        assert len(singles(many)) == 0 and upright(many) == 6 * 3


def test_runs_without_a_conflict_have_no_row_of_conflicts_and_words_instead(tmp_path):
    figure = experiment_plots.rates_and_conflicts(make_rows(tmp_path).assign(conflicts=0))
    assert [panel.get_ylabel() for panel in figure.axes] == ["updates per second and CPU", ""]
    assert "conflicts left: none in any run" in said_below(figure)
    assert len(experiment_plots.rates_and_conflicts(make_rows(tmp_path)).axes) == 4


def test_a_metric_that_is_0_everywhere_has_no_panel_and_is_named_below(tmp_path):
    quality = make_quality(tmp_path).assign(failure_rate=0.0)
    for figure in (experiment_plots.quality_by_case(quality), experiment_plots.regressions(quality, "log2_threads"), result_plots.plot_quality(quality)):
        labels = [panel.get_ylabel() for panel in figure.axes if panel.get_visible()]
        assert len([label for label in labels if label]) == 5 and "delivery failure rate" not in labels
        assert said_below(figure)[0].endswith("; 0 everywhere: delivery failure rate")


def test_a_figure_says_below_that_other_work_disturbed_it(tmp_path):
    rows, quality = (table.assign(others_cpus=0.0) for table in (make_rows(tmp_path), make_quality(tmp_path)))
    rows.loc[rows["processes"] == 4, "others_cpus"] = 0.8
    rows.loc[rows["replicate"] == 0, "others_cpus"] = math.nan
    note = "DISTURBED: other work took {} CPUs meanwhile, on average"
    assert said_below(experiment_plots.rates_and_conflicts(rows))[1:] == [note.format("0.16")]  # of five layouts one
    assert said_below(experiment_plots.quality_by_case(quality.assign(others_cpus=0.2)))[1:] == [note.format("0.20")]
    assert len(said_below(experiment_plots.quality_by_case(quality))) == 1
    assert len(said_below(experiment_plots.rates_and_conflicts(rows.assign(launcher="simulated")))) == 1


def test_lines_below_a_figure_do_not_lie_on_each_other(tmp_path):
    figure = experiment_plots.rates_and_conflicts(make_rows(tmp_path).assign(others_cpus=0.5))
    experiment_plots.keep(figure, "rates")
    assert [line.split(":")[0] for line in said_below(figure)] == ["bars", "DISTURBED", "drawn by"]
    figure.draw_without_rendering()
    lines = sorted((text.get_window_extent() for text in figure.texts if text.get_text()), key=lambda box: -box.y0)
    assert len(lines) == 3 and all(above.y0 >= below.y1 for above, below in zip(lines, lines[1:]))


def test_a_figure_drawn_again_is_the_same_file(tmp_path):
    rows = make_rows(tmp_path)
    first = experiment_plots.keep(experiment_plots.rates_and_conflicts(rows), "rates").read_bytes()
    assert experiment_plots.keep(experiment_plots.rates_and_conflicts(rows), "rates").read_bytes() == first


def test_nothing_to_draw_is_an_input_error(tmp_path):
    quality = make_quality(tmp_path)
    with pytest.raises(netuit.InputError):
        analysis.regress(quality[quality["threads"] == 1], "log2_threads")
    with pytest.raises(netuit.InputError):
        experiment_plots.quality_by_case(quality[quality["scope"] == "pair"])
    for draw in (experiment_plots.quality_by_case, result_plots.plot_quality):
        with pytest.raises(netuit.InputError, match="0 everywhere: refused$"):
            draw(quality.assign(failure_rate=0.0), {"failure_rate": "refused"})
    with pytest.raises(netuit.InputError):
        experiment_plots.rates_and_conflicts(make_rows(tmp_path).iloc[:0])
    rows = make_rows(tmp_path)
    with pytest.raises(netuit.InputError):
        comparison_plots.real_and_simulated(rows[rows["processes"] == 1], quality, rows, quality)
    with pytest.raises(netuit.InputError):
        comparison_plots.rates_by_case(rows[rows["mode"] != 4])
    with pytest.raises(netuit.InputError):
        comparison_plots.threads_by_case(rows[rows["threads"] == 1])
    with pytest.raises(netuit.InputError):
        experiment_plots.clusters({"two sizes": rows[(rows["processes"] > 1) & (rows["threads"] == 1)]})


def test_a_figure_that_cannot_be_written_is_an_output_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UIT_FIGURES", str(tmp_path / "file"))
    with pytest.raises(netuit.OutputError):
        experiment_plots.keep(experiment_plots.rates_and_conflicts(make_rows(tmp_path)), "rates")


def test_rows_of_one_replicate_are_drawn(tmp_path):
    assert is_drawn(experiment_plots.rates_and_conflicts(make_rows(tmp_path, replicates=1)), "one")
    assert isinstance(analysis.against_mode_0(pandas.read_csv(tmp_path / "rows.csv")), pandas.DataFrame)
