import math

import fake
import numpy
import pandas
import pytest
from netuit import InputError, load, plot_conflicts, plot_quality, plot_rates, results
from netuit.analysis import QUALITY_METRICS
from netuit.style import MODE_COLORS, SINGLE
from fake_sweep import make_quality


def test_plots_have_a_bar_for_each_layout_and_mode_and_mark_oversubscription(tmp_path):
    results.write_rows(tmp_path / "rows.csv", fake.make_rows())
    rows = load(tmp_path)
    rows = rows[rows["graph"] == "torus 64x64"]
    for plot in (plot_rates, plot_conflicts):
        axes = plot(rows)
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1x1", "1x2", "2x1", "2x2*"]
        assert len(axes.containers) == 6 and all(len(bars) == 4 for bars in axes.containers)
    heights = [bar.get_height() for bar in plot_rates(rows).containers[0]]
    assert heights[0] == pytest.approx(rows.query("mode == 0 and processes == 1 and threads == 1")["updates_per_second"].mean())
    with pytest.raises(InputError, match="no rows"):
        plot_rates(rows[:0])


def test_only_metrics_that_were_measured_have_a_panel():
    row = {"scope": "worker", "mode": 3, "replicate": 0, "snapshot": 0}
    metrics = {"simstep_period_s": 1e-5, "simstep_latency_updates": 1.5, "clumpiness": 0.5, "skip_rate": math.nan}
    figure = plot_quality(pandas.DataFrame([row | metrics]))
    assert [panel.get_ylabel() for panel in figure.axes if panel.get_visible()] == [
        "simstep period, s", "simstep latency, updates", "delivery clumpiness",
    ]  # fmt: skip


def make_layers(tmp_path, num_layers):
    """Quality of which each layer has ten times the latency of the one before, and the second no clumpiness."""
    quality = make_quality(tmp_path)
    layers = [quality.assign(layer=layer, wall_latency_s=1e-5 * 10.0**layer) for layer in range(num_layers)]
    table = pandas.concat(layers, ignore_index=True)
    return table.assign(clumpiness=table["clumpiness"].where(table["layer"] != 1), failure_rate=0.1 * (table["layer"] > 0))


@pytest.mark.parametrize("num_layers", [5, 6])
def test_quality_of_several_layers_is_drawn_by_layer(tmp_path, num_layers):
    figure = plot_quality(make_layers(tmp_path, num_layers))
    figure.canvas.draw()
    axes = numpy.array(figure.axes).reshape(-1, num_layers)
    titles = ["Spawn", "Transfer", "Talk", "Environment", "Kinship", "layer 5"][:num_layers]
    assert [panel.get_title() for panel in axes[0]] == titles
    assert [line[0].get_ylabel() for line in axes] == list(QUALITY_METRICS.values())
    for layer, panel in enumerate(axes[list(QUALITY_METRICS).index("wall_latency_s")]):
        heights = [value for line in panel.lines for value in line.get_ydata() if not math.isnan(value)]
        assert heights and heights == pytest.approx([1e-5 * 10**layer] * len(heights))

    refused = axes[list(QUALITY_METRICS).index("failure_rate")]
    assert ["0 everywhere" in [text.get_text() for text in panel.texts] for panel in refused] == [True] + [False] * (num_layers - 1)
    assert not any(numpy.isfinite(line.get_ydata().astype(float)).any() for line in refused[0].lines)


def test_quality_of_one_layer_has_a_panel_for_each_metric(tmp_path):
    figure = plot_quality(make_layers(tmp_path, 1).assign(failure_rate=0.1))
    assert len(figure.axes) == len(QUALITY_METRICS) and not any(panel.get_title() for panel in figure.axes)


def test_below_five_replicates_quality_has_the_median_of_each_beside_that_of_all(tmp_path):
    quality = make_quality(tmp_path).assign(skip_rate=lambda table: 0.1 * table["replicate"])
    other = quality.assign(mode=0, skip_rate=0.5)
    both = pandas.concat([quality, other], ignore_index=True)
    *_, panel = [panel for panel in plot_quality(both).axes if panel.get_visible()]
    assert panel.get_ylabel() == "skip rate"
    dots = [line for line in panel.lines if line.get_color() == SINGLE["color"]]
    assert [sorted(set(line.get_ydata().round(6))) for line in dots] == [[0.5], pytest.approx([0, 0.1, 0.2, 0.3])]
    means = [line for line in panel.lines if line.get_color() in (MODE_COLORS[0], MODE_COLORS[3]) and len(line.get_xdata()) == 4]
    assert len(means) == 2
    for mean, single in zip(means, dots):
        assert sorted(set(single.get_xdata().round(6))) == pytest.approx(sorted(mean.get_xdata().astype(float)))
    many = pandas.concat([both, both.assign(replicate=both["replicate"] + 4)], ignore_index=True)
    *_, panel = [panel for panel in plot_quality(many).axes if panel.get_visible()]
    assert not any(line.get_color() == SINGLE["color"] for line in panel.lines)
