import math

import numpy
import pandas
import pytest

import conduit_tools as conduit
import fake
import fake_results
from conduit_tools import analysis, comparisons, drawing, experiment_report, notebooks, plots

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """No figure lands in the checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONDUIT_FIGURES", str(tmp_path / "figures"))
    yield
    plots.plt.close("all")


def make_rows(tmp_path, rate=lambda workers, mode: 1000.0, conflicts=lambda workers, mode: 40, replicates=3):
    """Rows of a sweep with threads of one process and processes of one thread."""
    rows = []
    for processes, threads in ((1, 1), (1, 2), (1, 4), (2, 1), (4, 1)):
        workers = processes * threads
        for mode, name in enumerate(fake.MODES):
            for replicate in range(replicates):
                rows += [
                    fake.make_row(
                        processes=processes, threads=threads, mode=mode, mode_name=name, replicate=replicate,
                        process=process, thread=thread, updates_per_second=rate(workers, mode) * (1 + 0.01 * replicate),
                        conflicts=conflicts(workers, mode) + replicate, oversubscribed=int(workers > 2),
                    ) | {"case": "threads" if processes == 1 else "processes"}
                    for process in range(processes) for thread in range(threads)
                ]  # fmt: skip
    fake_results.write_csv(tmp_path / "rows.csv", rows)
    return conduit.load(tmp_path / "rows.csv")


def make_quality(tmp_path, factor=lambda workers: 1.0):
    random = numpy.random.default_rng(1)
    rows = []
    for workers in (1, 2, 4, 8):
        for replicate in range(4):
            for snapshot in range(3):
                row = fake_results.quality_row(random, 3, snapshot, "worker", 0, 0, "thread")
                row |= {
                    "replicate": replicate,
                    "case": "threads",
                    "processes": 1,
                    "threads": workers,
                    "oversubscribed": 0,
                }
                rows.append(
                    row | {"wall_latency_s": 1e-5 * factor(workers) * random.lognormal(0, 0.02), "failure_rate": 0}
                )
    fake_results.write_csv(tmp_path / "quality.csv", rows)
    return conduit.load(tmp_path / "quality.csv")


def is_drawn(figure, name):
    path = plots.keep(figure, name, "tools/experiment fake")
    return path.name == f"{name}.png" and path.read_bytes().startswith(PNG)


def test_whole_experiments_become_pictures(tmp_path):
    rows, quality = make_rows(tmp_path), make_quality(tmp_path)
    assert is_drawn(plots.rates_and_conflicts(rows), "rates")
    assert is_drawn(comparisons.rates_by_case(rows), "cases")
    assert is_drawn(comparisons.threads_by_case(rows), "threads")
    assert is_drawn(plots.quality_by_case(quality), "quality")
    assert is_drawn(plots.regressions(quality, "log2_threads"), "regressions")
    assert is_drawn(
        plots.clusters({"fast": rows[rows["threads"] == 1], "slow": rows[rows["threads"] == 1]}), "clusters"
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
    return rows[rows["threads"] == 1], conduit.load(tmp_path / "quality.csv")


def test_medians_of_two_processes_are_set_beside_those_of_simulated_ones(tmp_path):
    real, simulated = (analysis.medians(*make_half(tmp_path, factor)) for factor in (1.0, 1.5))
    assert list(real.columns) == list(analysis.CALIBRATED) and list(real.index) == [0, 1, 2, 3, 4]
    assert real.loc[3, "rate"] == pytest.approx(2 * 1003 * 1.01) and real.loc[3, "conflicts"] == 44
    assert real.loc[3, "wall_latency_s"] == pytest.approx(4e-5) and real.loc[3, "simstep_latency_updates"] == 4
    table = analysis.set_beside(real, simulated)
    assert list(dict.fromkeys(table.index.get_level_values("quantity"))) == list(analysis.CALIBRATED)
    assert table.loc[("wall_latency_s", 3), "ratio"] == pytest.approx(1.5) and table.loc[("conflicts", 4), "ratio"] == 1
    assert math.isnan(table.loc[("clumpiness", 0), "ratio"]) and ("wall_latency_s", 4) not in table.index


def test_real_and_simulated_are_bars_beside_each_other(tmp_path):
    figure = comparisons.real_and_simulated(*make_half(tmp_path, 1.0), *make_half(tmp_path, 1.5))
    assert is_drawn(figure, "beside")
    panels = {panel.get_ylabel(): panel for panel in figure.axes if panel.get_visible()}
    assert len(panels) == len(analysis.CALIBRATED)
    heights = [bar.get_height() for bar in panels["wall-time latency"].patches]
    assert heights == pytest.approx([1e-5, 4e-5, 1.5e-5, 6e-5])
    assert len(panels["updates per second and process"].patches) == 10
    assert "real: medians over 3 replicates" in " ".join(text.get_text() for text in figure.texts)


def dots(panel, color):
    """Ordinates of the dots of a colour, from left to right."""
    lines = [line for line in panel.lines if line.get_marker() == "o" and line.get_color() == color and len(line.get_ydata())]
    return [line.get_ydata()[0] for line in sorted(lines, key=lambda line: line.get_xdata()[0])]


def test_by_case_a_mode_is_set_against_the_one_that_does_not_communicate(tmp_path):
    rows = make_rows(tmp_path, rate=lambda workers, mode: {0: 500.0, 3: 900.0}.get(mode, 1000.0))
    rows = rows[rows["threads"] == 1].assign(case=pandas.Categorical(["one"] * (rows["threads"] == 1).sum()))
    figure = comparisons.rates_by_case(rows)
    assert [panel.get_title() for panel in figure.axes] == ["2x1 workers", "4x1 workers"]
    for panel in figure.axes:
        assert dots(panel, drawing.MODE_COLORS[0]) == pytest.approx([0.5])
        assert dots(panel, drawing.MODE_COLORS[3]) == pytest.approx([0.9])


def test_what_threads_keep_is_per_cpu_and_relative_to_one_of_the_same_case(tmp_path):
    slow = make_rows(tmp_path, rate=lambda workers, mode: 1000.0 / max(1, workers / 2)).assign(cpus=2, case="slow")
    quick = make_rows(tmp_path, rate=lambda workers, mode: 9000.0 * 0.8 ** (workers - 1) / max(1, workers / 2)).assign(cpus=2, case="quick")
    panel = comparisons.threads_by_case(pandas.concat([slow, quick])[lambda rows: rows["mode"] == 4]).axes[0]
    first, second = comparisons.seaborn.color_palette("colorblind", 2)
    assert dots(panel, first) == pytest.approx([1, 1]) and dots(panel, second) == pytest.approx([0.8, 0.8**3])
    assert [text.get_text() for text in panel.get_xticklabels()] == ["2", "4*"]


def test_axes_of_quality_have_units_and_stars_where_workers_take_turns(tmp_path):
    quality = make_quality(tmp_path, factor=lambda workers: workers**3)
    quality["oversubscribed"] = quality["threads"] > 2
    figure = plots.quality_by_case(quality)
    figure.draw_without_rendering()
    panels = {panel.get_ylabel(): panel for panel in figure.axes}
    assert panels["wall-time latency"].get_yscale() == "log" and panels["simstep period"].get_yscale() == "linear"
    for panel in panels.values():
        labels = [text.get_text() for text in panel.get_yticklabels(which="both") if text.get_text()]
        assert len(labels) >= 2 and not any("times" in label for label in labels)
    assert [text.get_text().split("\n")[-1] for text in figure.axes[-1].get_xticklabels()] == ["1x1", "1x2", "1x4*", "1x8*"]
    assert "take turns" in figure.get_supxlabel()


def make_layers(tmp_path, num_layers):
    """Quality of which each layer has ten times the latency of the one before, and the second no clumpiness."""
    quality = make_quality(tmp_path)
    layers = [quality.assign(layer=layer, wall_latency_s=1e-5 * 10.0**layer) for layer in range(num_layers)]
    table = pandas.concat(layers, ignore_index=True)
    return table.assign(clumpiness=table["clumpiness"].where(table["layer"] != 1))


@pytest.mark.parametrize("num_layers", [5, 6])
def test_quality_of_several_layers_is_drawn_by_layer(tmp_path, num_layers):
    figure = drawing.plot_quality(make_layers(tmp_path, num_layers))
    assert is_drawn(figure, "layers")
    axes = numpy.array(figure.axes).reshape(-1, num_layers)
    titles = ["Spawn", "Transfer", "Talk", "Environment", "Kinship", "layer 5"][:num_layers]
    assert [panel.get_title() for panel in axes[0]] == titles
    assert [line[0].get_ylabel() for line in axes] == list(drawing.QUALITY_METRICS.values())
    for layer, panel in enumerate(axes[list(drawing.QUALITY_METRICS).index("wall_latency_s")]):
        heights = [value for line in panel.lines for value in line.get_ydata() if not math.isnan(value)]
        assert heights and heights == pytest.approx([1e-5 * 10**layer] * len(heights))


def test_quality_of_one_layer_has_a_panel_for_each_metric(tmp_path):
    figure = drawing.plot_quality(make_layers(tmp_path, 1))
    assert len(figure.axes) == len(drawing.QUALITY_METRICS) and not any(panel.get_title() for panel in figure.axes)


def test_rates_are_per_cpu_where_workers_outnumber_them(tmp_path):
    rows = make_rows(tmp_path, rate=lambda workers, mode: 1000.0 / max(1, workers / 2)).assign(cpus=2)
    panel = plots.rates_and_conflicts(rows).axes[0]
    assert panel.get_ylabel() == "updates per second and CPU"
    assert [round(bar.get_height()) for bar in panel.containers[3]] == [1010] * 3
    few = rows[rows["processes"] * rows["threads"] <= 2]
    assert plots.rates_and_conflicts(few).axes[0].get_ylabel() == "updates per second and worker"


def test_no_point_of_a_cluster_is_cut_off(tmp_path):
    few = make_rows(tmp_path, conflicts=lambda workers, mode: 4)
    many = make_rows(tmp_path, conflicts=lambda workers, mode: 400 * workers)
    figure = plots.clusters({name: rows[rows["threads"] == 1] for name, rows in (("few", few), ("many", many))})
    for panel in figure.axes:
        assert panel.get_ylim()[0] == 0
        assert all(max(line.get_ydata()) <= panel.get_ylim()[1] for line in panel.lines)


def test_a_figure_names_the_commands_that_make_it_again(tmp_path):
    figure = plots.rates_and_conflicts(make_rows(tmp_path))
    plots.keep(figure, "rates", "tools/experiment paper")
    words = [text.get_text() for text in figure.texts]
    assert "drawn by: tools/figures rates     measured by: tools/experiment paper" in words


def said_below(figure):
    """Lines below a figure, from top to bottom."""
    lines = [text for text in figure.texts if text.get_text() and text.get_position()[1] < 0]
    return [text.get_text() for text in sorted(lines, key=lambda text: -text.get_position()[1])]


def test_a_figure_says_below_what_it_shows_of_how_many_replicates(tmp_path):
    rows, quality = make_rows(tmp_path), make_quality(tmp_path)
    bars, dots = "means over 3 replicates; lines: bootstrapped 95 % intervals", "over workers and snapshots"
    alone = rows[rows["threads"] == 1]
    fewer = alone[alone["replicate"] < 2]
    told = {
        plots.rates_and_conflicts(rows): f"bars: {bars}",
        drawing.plot_rates(rows).figure: f"bars: {bars}",
        drawing.plot_conflicts(alone[alone["replicate"] == 0]).figure: f"bars: {bars}".replace("3 replicates", "1 replicate"),
        plots.clusters({"fast": fewer, "slow": alone}): "dots: means over 2 to 3 replicates; upright lines: bootstrapped 95 % intervals",
        comparisons.rates_by_case(rows): f"dots: ratios of {bars}",
        comparisons.threads_by_case(rows): f"dots: ratios of {bars}",
        plots.quality_by_case(quality): f"dot: median {dots} of 4 replicates; thick line: middle half; thin line: middle 95 %",
        drawing.plot_quality(quality): f"dots: medians {dots} of 4 replicates; lines: bootstrapped 95 % intervals of medians",
        plots.regressions(quality, "log2_threads"): f"dots: a mean and a median {dots} for each of 4 replicates",
    }
    for figure, line in told.items():
        assert said_below(figure) == [line]


def test_a_figure_says_below_that_other_work_disturbed_it(tmp_path):
    rows, quality = (table.assign(others_cpus=0.0) for table in (make_rows(tmp_path), make_quality(tmp_path)))
    rows.loc[rows["processes"] == 4, "others_cpus"] = 0.8
    rows.loc[rows["replicate"] == 0, "others_cpus"] = math.nan
    note = "DISTURBED: other work took {} CPUs meanwhile, on average"
    assert said_below(plots.rates_and_conflicts(rows))[1:] == [note.format("0.16")]  # of five layouts one
    assert said_below(plots.quality_by_case(quality.assign(others_cpus=0.2)))[1:] == [note.format("0.20")]
    assert len(said_below(plots.quality_by_case(quality))) == 1
    assert len(said_below(plots.rates_and_conflicts(rows.assign(launcher="simulated")))) == 1


def test_lines_below_a_figure_do_not_lie_on_each_other(tmp_path):
    figure = plots.rates_and_conflicts(make_rows(tmp_path).assign(others_cpus=0.5))
    plots.keep(figure, "rates")
    assert [line.split(":")[0] for line in said_below(figure)] == ["bars", "DISTURBED", "drawn by"]
    figure.draw_without_rendering()
    lines = sorted((text.get_window_extent() for text in figure.texts if text.get_text()), key=lambda box: -box.y0)
    assert len(lines) == 3 and all(above.y0 >= below.y1 for above, below in zip(lines, lines[1:]))


def test_a_figure_drawn_again_is_the_same_file(tmp_path):
    rows = make_rows(tmp_path)
    first = plots.keep(plots.rates_and_conflicts(rows), "rates").read_bytes()
    assert plots.keep(plots.rates_and_conflicts(rows), "rates").read_bytes() == first


def test_rates_are_relative_to_one_worker_in_the_same_mode(tmp_path):
    runs = analysis.relative_rates(make_rows(tmp_path, rate=lambda workers, mode: (1000.0 + mode) / workers))
    for workers, part in runs.groupby("num_workers"):
        assert part["relative"].mean() == pytest.approx(1 / workers)


def test_mode_3_is_set_against_mode_0_with_intervals(tmp_path):
    rows = make_rows(
        tmp_path,
        rate=lambda workers, mode: 800.0 if mode == 3 else 100.0,
        conflicts=lambda workers, mode: 10 if mode == 3 else 41,
    )
    table = analysis.against_mode_0(rows).set_index("workers")
    assert table.loc["4x1", "rate ratio"] == pytest.approx(8)
    assert table.loc["4x1", "low"] < 8 < table.loc["4x1", "high"]
    assert table.loc["4x1", "conflicts ratio"] == pytest.approx(11 / 42)


def test_a_ratio_without_samples_is_not_a_number():
    assert all(map(math.isnan, drawing.ratio_interval([], [1.0])))
    assert all(map(math.isnan, drawing.gain_interval(([1.0], [1.0]), ([1.0], []))))
    assert all(map(math.isnan, analysis.deviation_ratio_interval([1.0], [1.0, 2.0])))
    assert all(map(math.isnan, analysis.deviation_ratio_interval([1.0, 2.0], [2.0, 2.0])))


@pytest.mark.parametrize("size, share", [(3, 0.75), (5, 0.84), (10, 0.90), (30, 0.93)])
def test_the_interval_of_a_mean_holds_it_as_often_as_is_said(size, share):
    random = numpy.random.default_rng(1)
    held = 0
    for _ in range(1000):
        low, high = drawing.bootstrap_interval(random.normal(size=size))
        held += low <= 0 <= high
    assert held / 1000 == pytest.approx(share, abs=0.035)  # 2.5 standard deviations of the first, and more of the others


def make_threads(**rates):
    """Rows of cases, one thread and four, three replicates that are 1 % apart."""
    rows = []
    for case, by_layout in rates.items():
        for threads, rate in by_layout.items():
            for replicate in range(3):
                row = fake.make_row(threads=threads, mode=4, mode_name=fake.MODES[4], replicate=replicate, updates_per_second=rate * (1 + 0.01 * replicate))
                rows += [{**row, "thread": thread, "case": case, "cpus": 4} for thread in range(threads)]
    return pandas.DataFrame(rows)


def test_what_a_factor_explains_has_an_interval():
    rows = make_threads(as_it_is={1: 100.0, 4: 80.0}, quicker={1: 200.0, 4: 180.0}, same={1: 100.0, 4: 80.4})
    lines = experiment_report.factors(rows, ["as_it_is", "quicker", "same"]).splitlines()
    told = {tuple(line.split()[:2]): line for line in lines[2:]}
    assert "20.0 % (18.9 to 21.0)" in told["as_it_is", "1x4"] and told["as_it_is", "1x4"].endswith(" -")
    (least, most) = (float(each) for each in told["quicker", "1x4"].split("+10.0 points (")[1].rstrip(")").split(" to "))
    assert 6 < least < 10 < most < 14
    (least, most) = (float(each) for each in told["same", "1x4"].split("+0.4 points (")[1].rstrip(")").split(" to "))
    assert least < 0 < most  # of what differs by less than replicates do, nothing is shown
    assert told["quicker", "1x1"].split()[-2:] == ["-", "-"]


def make_runs(spreads, replicates):
    """Runs of a layout, whose conflicts spread by mode."""
    random = numpy.random.default_rng(1)
    values = [(mode, replicate, random.normal(1000, spread)) for mode, spread in spreads.items() for replicate in range(replicates)]
    return pandas.DataFrame(values, columns=["mode", "replicate", "conflicts"])


def test_the_spread_of_conflicts_in_modes_1_and_2_is_set_against_that_in_mode_3():
    table = analysis.conflicts_spread(make_runs({0: 500, 1: 20, 2: 60, 3: 20}, replicates=40))
    assert list(table.index) == [1, 2] and set(table["replicates"]) == {40}
    assert table.loc[2, "deviation"] == pytest.approx(60, rel=0.3)
    assert table.loc[1, "low"] < 1 < table.loc[1, "high"] < 2
    assert 1.5 < table.loc[2, "low"] < table.loc[2, "to mode 3"] < table.loc[2, "high"] < 5


def test_the_interval_of_a_spread_holds_the_truth_about_as_often_as_it_says():
    random = numpy.random.default_rng(1)
    held = 0
    for _ in range(200):
        _, low, high = analysis.deviation_ratio_interval(random.normal(0, 2, 10), random.normal(0, 1, 10), num_samples=500)
        held += low <= 2 <= high
    assert 0.85 <= held / 200 <= 0.99


def test_a_spread_of_three_replicates_has_an_interval_without_an_upper_end():
    table = analysis.conflicts_spread(make_runs({1: 20, 3: 20}, replicates=3))
    assert list(table.index) == [1] and 0 <= table.loc[1, "low"] < table.loc[1, "high"] == math.inf
    assert len(analysis.conflicts_spread(make_runs({1: 20, 2: 20, 3: 20}, replicates=1))) == 0


def make_faulty(quality):
    """The same with other noise, where one worker of eight in each replicate is ten times as late."""
    is_struck = (quality["threads"] == 8) & (quality["snapshot"] == 0)
    late = quality["wall_latency_s"].where(~is_struck, 10 * quality["wall_latency_s"])
    return quality.assign(wall_latency_s=late, case="faulty")


def test_a_faulty_host_is_set_against_healthy_ones_replicate_by_replicate(tmp_path):
    healthy = make_quality(tmp_path)
    healthy["wall_latency_s"] *= 1 + healthy["replicate"]  # which outweighs what the fault does, but for pairs
    healthy = healthy[healthy["threads"] == 8]
    table = analysis.paired_differences(make_faulty(healthy), healthy, {"wall_latency_s": "latency", "skip_rate": "skips"})
    assert list(table.columns) == ["healthy", "difference", "low", "high", "replicates"]
    mean, median = (table.loc[("latency", statistic)] for statistic in ("mean", "median"))
    assert mean["healthy"] == pytest.approx(2.5e-5, rel=0.05)
    assert mean["difference"] == pytest.approx(3 * 2.5e-5, rel=0.1) and mean["low"] > 0 and mean["replicates"] == 4
    assert abs(median["difference"]) < 0.05 * median["healthy"]
    assert table.loc[("skips", "mean"), "difference"] == 0


def test_replicates_without_a_partner_are_left_out_of_differences(tmp_path):
    healthy = make_quality(tmp_path)
    table = analysis.paired_differences(make_faulty(healthy[healthy["replicate"] < 3]), healthy[healthy["replicate"] > 0])
    assert set(table["replicates"]) == {2 * 4}  # of four layouts
    with pytest.raises(conduit.InputError, match="no replicate"):
        analysis.paired_differences(healthy[healthy["replicate"] == 0], healthy[healthy["replicate"] == 1])


def test_regressions_find_a_slope_and_say_where_there_is_none(tmp_path):
    fits = analysis.regress(make_quality(tmp_path, factor=lambda workers: 1 + math.log2(workers)), "log2_threads")
    fits = fits.set_index(["metric", "statistic"])
    for statistic in ("mean", "median"):
        latency = fits.loc[("wall-time latency, s", statistic)]
        assert latency["slope"] == pytest.approx(1e-5, rel=0.1)
        assert latency["low"] < latency["slope"] < latency["high"] and latency["p"] < 0.001
        failure = fits.loc[("delivery failure rate", statistic)]
        assert failure["slope"] == 0 and math.isnan(failure["p"])
        assert fits.loc[("simstep period, s", statistic)]["p"] > 0.001
        assert latency["n"] == 16


def test_outliers_move_means_and_no_medians(tmp_path):
    quality = make_quality(tmp_path)
    is_struck = (quality["threads"] == 8) & (quality["snapshot"] == 0)
    quality.loc[is_struck, "wall_latency_s"] *= 100
    fits = analysis.regress(quality, "log2_threads", {"wall_latency_s": "latency"}).set_index("statistic")
    assert fits.loc["mean", "slope"] > 20 * abs(fits.loc["median", "slope"])
    latency = analysis.means_and_medians(quality)["wall-time latency, s"].loc[(1, 3)]
    assert latency["mean"] > 5 * latency["median"]


def make_pairs():
    """Of two processes of two threads, each pair of workers in two snapshots; the workers of a process within it too."""
    workers = [(process, thread) for process in range(2) for thread in range(2)]
    lines = []
    for snapshot in range(2):
        for (process, thread) in workers:
            lines += [{"mode": 3, "replicate": 0, "snapshot": snapshot, "scope": "pair", "layer": 0, "process": process, "thread": thread,
                       "transport": "thread" if peer[0] == process else "mpi", "peer_process": peer[0], "peer_thread": peer[1],
                       "begin_s": 1.0 + snapshot, "end_s": 1.5 + snapshot, "updates": 100 + 50 * thread, "channels_out": 1, "channels_in": 1,
                       "attempted": 10, "accepted": 9, "dropped": 1, "preempted": 1, "received": 8, "stepped": 6, "skipped": 2, "folded": 0,
                       "pulls": 20, "laden": 4, "touches": 40 - 20 * peer[1]} for peer in workers if peer != (process, thread)]  # fmt: skip
            lines.append(lines[-1] | {"scope": "worker", "peer_process": None, "peer_thread": None})
    return pandas.DataFrame(lines)


def test_pairs_of_workers_add_up_to_pairs_of_processes():
    table = analysis.by_process_pair(make_pairs())
    assert list(zip(table["snapshot"], table["process"], table["peer_process"])) == [(0, 0, 1), (0, 1, 0), (1, 0, 1), (1, 1, 0)]
    assert set(table["transport"]) == {"mpi"}
    for _, line in table.iterrows():
        assert (line["num_pairs"], line["attempted"], line["received"], line["updates"], line["touches"]) == (4, 40, 32, 500, 120)
        assert line["simstep_period_s"] == pytest.approx(4 * 0.5 / 500)
        assert line["simstep_latency_updates"] == pytest.approx(500 / 120)
        assert line["wall_latency_s"] == pytest.approx(2 / 120)
        assert line["failure_rate"] == pytest.approx(0.1) and line["clumpiness"] == pytest.approx(0.5)
        assert line["skip_rate"] == pytest.approx((8 + 4) / (32 + 4))


def test_a_pair_of_processes_of_which_one_is_silent_has_no_latency():
    pairs = make_pairs()
    table = analysis.by_process_pair(pairs.assign(attempted=pairs["attempted"].where(pairs["process"] == 0, 0), received=0, laden=0, preempted=0))
    assert table["simstep_latency_updates"].isna().tolist() == [False, True] * 2
    assert table["failure_rate"].isna().tolist() == [False, True] * 2 and table["clumpiness"].isna().all()


def test_latencies_by_touches_and_by_stamps_are_set_beside_each_other(tmp_path):
    quality = make_quality(tmp_path).assign(simstep_latency_updates=1.5)
    quality["age_mean_s"] = 1.1 * 1.5 * quality["simstep_period_s"]
    quality.loc[quality["replicate"] == 0, "age_mean_s"] *= 100  # which moves means, and no medians
    table = analysis.latency_agreement(quality)
    assert list(table.columns) == ["by touches, updates", "by stamps, updates", "ratio"]
    assert len(table) == 4 and table["ratio"].to_numpy() == pytest.approx(1.1)


@pytest.mark.parametrize("drop", [True, False])
def test_without_stamps_there_is_nothing_to_set_beside_touches(drop, tmp_path, capsys):
    quality = make_quality(tmp_path).drop(columns="age_mean_s", errors="ignore")
    table = analysis.latency_agreement(quality if drop else quality.assign(age_mean_s=float("nan")))
    assert len(table) == 0 and "ratio" in table
    out = capsys.readouterr().out
    assert out.startswith("No stamps: ") and out.count("\n") == 1


@pytest.mark.parametrize(
    ("folder", "cases"),
    [
        ("compute_work", {"work_0", "work_10", "work_100", "work_1000"}),  # bound by work, at last
        ("two_hosts", {"one_host", "one_host_intensive"}),  # bound by communication; the other cases cross a network
    ],
)
def test_latencies_by_touches_and_by_stamps_agree_within_a_tenth(folder, cases):
    quality = conduit.load(notebooks.BINDER / "data" / folder / "quality.csv")
    table = analysis.latency_agreement(quality[~quality["oversubscribed"]]).reset_index()
    table = table[~table["case"].str.startswith("two_hosts")]
    assert set(table["case"]) == cases
    assert table["ratio"].between(0.9, 1.1).all(), table


def test_nothing_to_draw_is_an_input_error(tmp_path):
    quality = make_quality(tmp_path)
    with pytest.raises(conduit.InputError):
        analysis.regress(quality[quality["threads"] == 1], "log2_threads")
    with pytest.raises(conduit.InputError):
        plots.quality_by_case(quality[quality["scope"] == "pair"])
    with pytest.raises(conduit.InputError):
        plots.rates_and_conflicts(make_rows(tmp_path).iloc[:0])
    rows = make_rows(tmp_path)
    with pytest.raises(conduit.InputError):
        comparisons.real_and_simulated(rows[rows["processes"] == 1], quality, rows, quality)
    with pytest.raises(conduit.InputError):
        comparisons.rates_by_case(rows[rows["mode"] != 4])
    with pytest.raises(conduit.InputError):
        comparisons.threads_by_case(rows[rows["threads"] == 1])
    with pytest.raises(conduit.InputError):
        plots.clusters({"two sizes": rows[(rows["processes"] > 1) & (rows["threads"] == 1)]})


def test_data_that_are_not_there_are_said_to_be_absent(capsys):
    assert analysis.data("missing") is None
    assert "tools/experiment missing" in capsys.readouterr().out
    assert analysis.simulated() == {} and "tools/experiment simulated" in capsys.readouterr().out


def test_simulated_results_are_named_by_their_file_folder_or_case(tmp_path):
    for path in ("fast.csv", "slow/4/rows.csv", "slow/16/rows.csv"):
        (tmp_path / "data/simulated" / path).parent.mkdir(parents=True, exist_ok=True)
        fake_results.write_csv(tmp_path / "data/simulated" / path, [fake.make_row()])
    cases = [fake.make_row() | {"case": case} for case in ("whole", "faulty")]
    fake_results.write_csv(tmp_path / "data/simulated/cases.csv", cases)
    parts = analysis.simulated()
    assert {name: len(rows) for name, rows in parts.items()} == {"whole": 1, "faulty": 1, "fast": 1, "slow": 2}
    assert analysis.simulated(kind="quality") == {}


def test_simulated_hosts_are_processes_and_a_faulty_one_makes_a_cluster_of_its_own(tmp_path):
    kept = ("mode", "mode_name", "replicate", "process", "updates_per_second", "conflicts", "conflict_edges_total")
    rows = [
        {"network": "paper", "hosts": hosts, "faulty_host": faulty} | {key: fake.make_row()[key] for key in kept}
        for hosts, faulty in ((1, ""), (64, ""), (64, 27))
    ]
    (tmp_path / "data/simulated").mkdir(parents=True)
    fake_results.write_csv(tmp_path / "data/simulated/rows.csv", rows)
    parts = analysis.simulated()
    assert {name: sorted(part["processes"]) for name, part in parts.items()} == {
        "paper": [1, 64],
        "paper, faulty host": [64],
    }
    assert list(analysis.relative_rates(parts["paper"])["relative"]) == [1, 1]


def test_a_figure_that_cannot_be_written_is_an_output_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CONDUIT_FIGURES", str(tmp_path / "file"))
    with pytest.raises(conduit.OutputError):
        plots.keep(plots.rates_and_conflicts(make_rows(tmp_path)), "rates")


def test_rows_of_one_replicate_are_drawn(tmp_path):
    assert is_drawn(plots.rates_and_conflicts(make_rows(tmp_path, replicates=1)), "one")
    assert isinstance(analysis.against_mode_0(pandas.read_csv(tmp_path / "rows.csv")), pandas.DataFrame)
