import base64
import io
import json
import math
import pathlib
import re
import subprocess
import time

import networkx
import numpy
import pandas
import pytest
from PIL import Image

import browser
import fake
import fake_evolution
import fake_results
from built import folder_of
from netuit import evolution_plots, evolution_records, evolve, load, report, units
from netuit.arguments import MODE_NAMES
from netuit.report import inputs, layout, quality_charts, svg, worlds


def run(*words, capsys):
    code = report.main([str(word) for word in words])
    return code, *capsys.readouterr()


def page_of(folder, *more):
    report.write_report([folder, *more], folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


def takes_of(page):
    return json.loads(re.search(r'id="takes">(.*?)</script>', page, re.DOTALL).group(1))


def test_a_folder_of_results_becomes_one_page_with_every_chart(tmp_path, capsys):
    fake_results.write_results(tmp_path)
    code, out, err = run(tmp_path, capsys=capsys)
    assert (code, err) == (0, "")
    assert out.startswith(f"report: {tmp_path / 'report.html'}")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for title in (
        "Rate: torus",
        "Conflicts left: torus",
        "Conflicts over time: torus, 2x1",
        "Refused and skipped: shared memory",
        "Period by snapshot",
        "Latency by touches by snapshot",
        "Two ways to measure latency",
        "Latency by pair",
    ):
        assert f"<h3>{title}</h3>" in page
    assert "left-out" not in page
    assert page.count("<svg ") == page.count('role="img" aria-label=') - 2 == page.count("<table><thead>") - 1


def test_a_command_can_be_run_again_and_the_film_says_that_workers_were_slow(tmp_path):
    fake_results.write_results(tmp_path)
    path = tmp_path / "rows.json"
    manifest = json.loads(path.read_text())
    manifest |= {"processes": 2, "command_line": ["build/demos/channel_selection", "--slow-in-turn", "10ms", "--graph", "a b"]}
    path.write_text(json.dumps(manifest))
    page = page_of(tmp_path)
    assert "mpirun -n 2 build/demos/channel_selection --slow-in-turn 10ms --graph &#x27;a b&#x27;" in page or "--graph 'a b'" in page
    assert "Each worker is slowed on purpose for a while, in turn" in page


def test_the_two_ways_to_measure_latency_are_compared_by_their_means():
    random = numpy.random.default_rng(1)
    rows = [fake_results.quality_row(random, mode, 0, "worker", process, 0, "thread") for mode in (0, 3) for process in range(9)]
    quality = pandas.DataFrame(rows)
    quality = quality.assign(age_mean_s=quality["wall_latency_s"] * quality["mode"].map({0: 1.0, 3: 0.5}), age_p50_s=1.0)
    [figure] = quality_charts.agreement(quality)
    assert "mean age by stamps" in figure and "median" not in figure
    assert re.findall(r"<td>(\d\.\d{3})</td>", figure) == ["1.000", "0.500"]
    assert figure.count("<circle") == 18
    untouched = quality.assign(touches=quality["touches"].where(quality["process"] > 0, 0))
    assert quality_charts.agreement(untouched)[0].count("<circle") == 16
    assert quality_charts.agreement(quality.assign(age_mean_s=math.nan)) == []


def test_nothing_in_the_page_points_elsewhere(tmp_path):
    fake_results.write_results(tmp_path)
    page = page_of(tmp_path)
    assert not re.search(r"https?://|\bsrc=|url\(|@import", page)
    assert "default-src 'none'" in page


def test_4096_nodes_and_100_frames_of_2_modes_fit_into_5_megabytes(tmp_path):
    fake_results.write_results(tmp_path, fake_results.torus(64), num_frames=100)
    assert len(page_of(tmp_path).encode()) < 5e6


def test_more_than_fits_is_thinned_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(report.takes, "MOST_CHARACTERS", 10_000)
    fake_results.write_results(tmp_path, num_replicates=2)
    page = page_of(tmp_path)
    takes = takes_of(page)["takes"]
    assert [take["replicate"] for take in takes] == [0, 0]
    assert all(len(take["times"]) <= 22 and take["times"][-1] == 0.059 for take in takes)
    assert "one frame in" in page and "only the first replicate" in page


@pytest.mark.parametrize("absent, words", [
    ("rows.csv", "No rows (--output)"),
    ("quality.csv", "No quality of service (--quality)"),
    ("frames.csv", "No colours over time (--frames)"),
    ("colors.csv", "cannot be drawn: where the nodes are is not known"),
    ("rows.json", "No manifest (X.json) was given"),
])  # fmt: skip
def test_what_is_absent_is_left_out_and_the_page_says_so(tmp_path, absent, words):
    fake_results.write_results(tmp_path)
    (tmp_path / absent).unlink()
    assert words in page_of(tmp_path)


def test_a_file_of_quality_with_nothing_in_it_is_as_good_as_none(tmp_path):
    fake_results.write_results(tmp_path, num_frames=2)
    path = tmp_path / "quality.csv"
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert "No quality of service" in page_of(tmp_path)


def rows_of(folder, **changes):
    """Changes columns of the folder's rows, and removes those that are None."""
    rows = pandas.read_csv(folder / "rows.csv", dtype=str, keep_default_na=False).assign(**{name: str(value) for name, value in changes.items()})
    rows.drop(columns=[name for name, value in changes.items() if value is None]).to_csv(folder / "rows.csv", index=False)


def test_a_chart_in_which_all_is_0_is_left_out_and_the_page_says_so(tmp_path):
    fake_results.write_results(tmp_path, num_frames=5)
    rows_of(tmp_path, conflicts=0)
    for name, changes in (("quality.csv", {"dropped": 0, "accepted": 4000, "skipped": 0}), ("frames.csv", {"conflicts": 0})):
        pandas.read_csv(tmp_path / name, dtype=str, keep_default_na=False).assign(**changes).to_csv(tmp_path / name, index=False)
    page = page_of(tmp_path).split("<script")[0]
    for title in ("Conflicts left", "Refused and skipped", "Conflicts over time"):
        assert f"<h3>{title}" not in page
    assert "<li>Conflicts left, torus: none in any run.</li>" in page
    assert "<li>Refused and skipped: shared memory: no message in any run.</li>" in page
    assert "<li>Conflicts over time: none in any frame of a run.</li>" in page and "No colours over time" not in page
    fake_results.write_results(tmp_path, num_frames=5)
    assert "none in any run" not in page_of(tmp_path)


def test_tiles_tell_node_updates_of_all_workers_and_otherwise_whose_rate_they_tell(tmp_path):
    fake_results.write_results(tmp_path)  # two workers of 128 nodes each
    tiles = re.search(r'<ul class="tiles".*?</ul>', page_of(tmp_path))[0]
    rates = {0: 128 * (40000 + 41500), 3: 128 * (88000 + 89500)}
    for rate in rates.values():
        assert f"<b>{units.short(rate)}/s</b><span>node updates per second, all workers together" in tiles
    assert f"{rates[3] / rates[0]:.2f} x mode 0" in tiles and "updates per worker" not in tiles
    rows_of(tmp_path, num_nodes=None)
    page = page_of(tmp_path)
    assert "<b>40.75k/s</b><span>updates per second and worker, each of all its nodes" in page and "node updates" not in page


def test_captions_say_what_there_is_to_see(tmp_path):
    fake_results.write_results(tmp_path)
    page = page_of(tmp_path)
    captions = dict(re.findall(r"<figcaption><h3>(.*?)</h3><p>(.*?)</p>", page))
    assert captions["Rate: torus"].startswith("Least in mode 0 every update: 10.43M; most in mode 3 no barrier: 22.72M. ")
    assert captions["Refused and skipped: shared memory"].startswith("Skipped most often in mode ")
    for title, caption in captions.items():
        assert re.search(r"[Ll]east in mode \d|[Ss]kipped|All modes are alike", caption) or title.startswith("World"), title


def test_a_run_that_was_cut_short_crowded_or_wrong_is_said_to_be_so(tmp_path):
    fake_results.write_results(tmp_path)
    manifest = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    (tmp_path / "rows.json").write_text(
        json.dumps(manifest | {"complete": False, "stopped_by": "signal", "simulated": True})
    )
    fake_results.write_csv(tmp_path / "rows.csv", [fake.make_row(oversubscribed=1, balanced=0)])
    page = page_of(tmp_path)
    for words in ("cut short (signal)", "Simulated", "more workers than CPUs", "accounting of messages is wrong"):
        assert words in page


def test_a_mode_says_how_many_of_its_updates_are_effective(tmp_path):
    fake_results.write_results(tmp_path)
    assert "% of updates effective; values at most" in page_of(tmp_path)
    rows = [fake.make_row(effective_updates="", staleness_max=7)]
    fake_results.write_csv(tmp_path / "rows.csv", rows)
    page = page_of(tmp_path)
    assert "of updates effective" not in page and "effective updates unknown; values at most 7 updates old" in page
    for slack, words in ((6, "updates old, within the slack of 6"), (5, "updates old, more than the slack of 5"), (None, "updates old</span>")):
        fake_results.write_csv(tmp_path / "rows.csv", [fake.make_row(effective_updates="", staleness_max=7, slack=slack)])
        assert words in page_of(tmp_path)


def test_each_mode_has_a_color():
    style = (pathlib.Path(report.__file__).parent / "page.css").read_text()
    for mode in range(len(MODE_NAMES)):
        assert style.count(f"--m{mode}: #") == 3, mode  # by light, by dark, and by the system's wish
        assert f".tiles .m{mode} {{" in style and f"rect.m{mode}," in style and f".line.m{mode} {{" in style, mode


def test_names_are_text_and_no_markup(tmp_path):
    fake_results.write_results(tmp_path, name='<b>&"</script>@TAKES@')
    page = page_of(tmp_path)
    assert "<b>&" not in page and page.count("</script>") == 2 and "@TAKES@" in page


def test_the_launches_of_a_sweep_are_found_below_it(tmp_path):
    for key in ("one", "two", "three.unfinished"):
        fake_results.write_results(tmp_path / "runs" / key, num_frames=5)
    page = page_of(tmp_path)
    assert "<h3>Rate: torus</h3>" in page
    data = takes_of(page)
    assert (len(data["takes"]), len(data["stages"])) == (4, 1)


def test_of_a_sweep_that_has_gathered_its_rows_launches_with_colours_alone_are_read(tmp_path, monkeypatch):
    fake_results.write_results(tmp_path, num_frames=5)
    for name in ("frames.csv", "colors.csv"):
        (tmp_path / name).unlink()
    for key in "abcd":
        fake_results.write_results(tmp_path / "runs" / key, num_frames=5)
    for key in "abc":
        for name in ("frames.csv", "colors.csv"):
            (tmp_path / "runs" / key / name).unlink()
    (tmp_path / "manifest.json").write_text('{"sweep": "little"}')
    (tmp_path / "rows.json").unlink()
    read = []
    monkeypatch.setattr(inputs, "load", lambda path: read.append(path) or load(path))
    assert len(takes_of(page_of(tmp_path))["takes"]) == 2
    assert {path.parent.name for path in read} == {tmp_path.name, "a", "d"}  # of a, its hosts


def test_other_results_stand_below_with_what_is_of_their_own(tmp_path, evolved):
    fake_results.write_results(tmp_path / "first", num_frames=5)
    fake_results.write_results(tmp_path / "second", num_frames=5)
    page = tmp_path / "report.html"
    report.write_report([tmp_path / "first"], page, [evolved, tmp_path / "second"])
    first, world, second = re.split("<article>", page.read_text(encoding="utf-8").split("<script")[0])
    assert "<h3>Conflicts left: torus" in first and "The graph as it converged" in first and "Left out" not in first
    assert "<h3>Generations" in world and "<h3>World of" in world and "onflicts left" not in world
    assert "<h3>Conflicts left: torus" in second and "only those of the first results are shown" in second


def test_a_torus_needs_no_file_and_a_graph_is_laid_out(tmp_path):
    fake_results.write_results(tmp_path / "torus")
    stage = takes_of(page_of(tmp_path / "torus"))["stages"][0]
    assert (stage["kind"], stage["adjacency"], stage["rows"], stage["columns"]) == ("grid", "torus", 16, 16)
    graph = networkx.watts_strogatz_graph(60, 4, 0.1, seed=1)
    fake_results.write_results(tmp_path / "ring", graph, name="gone/ring.edgelist")
    networkx.write_edgelist(graph, tmp_path / "ring" / "ring.edgelist")
    stage = takes_of(page_of(tmp_path / "ring"))["stages"][0]
    assert (stage["kind"], stage["adjacency"], len(stage["places"]), len(stage["edges"])) == (
        "graph",
        "edges",
        120,
        240,
    )


def test_labels_that_are_pairs_make_a_grid(tmp_path):
    fake_results.write_results(tmp_path, name="grid.edgelist", labels=lambda node: str(divmod(node, 16)))
    stage = takes_of(page_of(tmp_path))["stages"][0]
    assert (stage["kind"], stage["adjacency"], stage["isGrid"]) == ("grid", "torus", True)


def test_a_graph_whose_file_is_gone_is_shown_without_marks(tmp_path):
    fake_results.write_results(tmp_path, networkx.cycle_graph(30), name="gone.edgelist")
    page = page_of(tmp_path)
    assert takes_of(page)["stages"][0]["adjacency"] == "unknown"
    assert "row by row" in page and "no conflicts are marked" in page


@pytest.mark.parametrize("file, change, reason", [
    ("rows.csv", lambda text: text.replace("88000.0", "inf", 1), "rows.csv:4: updates_per_second is not a finite number"),
    ("frames.csv", lambda text: text.replace("0,0,0.001,", "0,0,,", 1), "frames.csv:3: elapsed_s is not a finite number"),
    ("rows.csv", lambda text: text.replace("88000.0", "many", 1), "updates_per_second 'many' is not a number"),
    ("rows.csv", lambda text: text.replace("oversubscribed", "crowded", 1), "no column oversubscribed"),
    ("rows.csv", lambda text: text.splitlines()[0] + "\n", "no rows"),
    ("frames.csv", lambda text: re.sub("([012]{20})[012]+", r"\1", text, count=1), "has not a colour for each of 256"),
    ("frames.csv", lambda text: re.sub("[012]{20}", "-" * 20, text, count=1), "not a digit or letter"),
    ("colors.csv", lambda text: text.replace("0,0,0,", "0,0,5,", 1), "do not name each node once"),
    ("quality.csv", lambda text: text.replace("memory,0,0,", "memory,x,0,", 1), "process 'x' is not a number"),
    ("rows.json", lambda text: text[:-3], "rows.json:1: "),
    ("rows.json", lambda text: "[]", "expected an object"),
    ("rows.csv", lambda text: "\0\1\2", "rows.csv"),
    ("rows.csv", lambda text: text + "torus,256\n", "rows.csv"),
])  # fmt: skip
def test_malformed_results_end_with_one_line_and_nothing_written(tmp_path, capsys, file, change, reason):
    fake_results.write_results(tmp_path, num_frames=3)
    path = tmp_path / file
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    code, out, err = run(path, *(tmp_path / name for name in ("rows.csv", "frames.csv", "colors.csv") if name != file),
                         "-o", tmp_path / "page.html", capsys=capsys)  # fmt: skip
    assert (code, out) == (2, "")
    assert err.startswith("conduit: error: ") and err.count("\n") == 1 and reason in err
    assert not list(tmp_path.glob("page.html*"))


@pytest.mark.parametrize("words", [[], ["missing"], ["--what"], ["missing.csv", "-o"]])
def test_nonsense_ends_with_one_line_and_code_2(words, capsys):
    code, out, err = run(*words, capsys=capsys)
    assert (code, out) == (2, "")
    assert err.startswith("conduit: error: ") and err.count("\n") == 1


def test_a_folder_without_results_is_refused_and_so_is_a_file_of_another_kind(tmp_path, capsys):
    assert run(tmp_path, capsys=capsys)[0] == 2
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert run(tmp_path / "other.csv", capsys=capsys)[0] == 2
    fake_results.write_results(tmp_path, num_frames=2)
    assert run(tmp_path, capsys=capsys)[0] == 0  # in a folder it may be whatever it is


def test_a_page_that_cannot_be_written_ends_with_code_5(tmp_path, capsys):
    fake_results.write_results(tmp_path, num_frames=2)
    code, _, err = run(tmp_path, "-o", tmp_path / "missing" / "page.html", capsys=capsys)
    assert code == 5 and err.count("\n") == 1


def test_the_command_prints_its_help_without_anything_set_up():
    command = report.__file__.rsplit("/python/", 1)[0] + "/report"
    ended = subprocess.run([command, "--help"], capture_output=True, text=True, check=False, timeout=30)
    assert ended.returncode == 0 and "--output FILE" in ended.stdout


def test_ticks_are_few_and_within_the_scale():
    for low, high in ((1e-6, 2e-6), (3e-7, 5e-2), (1, 9000), (0.2, 0.21)):
        ticks = svg.logarithmic([low, high], 0, 100).ticks()
        assert 2 <= len(ticks) <= 10
        assert all(low / 1.16 <= value <= high * 1.16 for value, _ in ticks)
    assert [text for _, text in svg.from_zero([80000], 0, 100).ticks()] == ["0", "20k", "40k", "60k", "80k"]
    assert svg.logarithmic([0, 10, 100], 0, 100).ticks()[0][1] == "0"
    assert svg.from_zero([0, 0], 0, 100)(0) == 0


def test_spans_are_told_with_units():
    assert [units.seconds(value) for value in (0, 2.5e-7, 7.7e-6, 0.9996e-3, 0.0012, 3)] == [
        "0 s",
        "250 ns",
        "7.7 µs",
        "1 ms",
        "1.2 ms",
        "3 s",
    ]


def test_a_layout_keeps_neighbours_near_and_is_the_same_again():
    graph = networkx.cycle_graph(40)
    place = layout.place_nodes(40, list(graph.edges))
    assert (place == layout.place_nodes(40, list(graph.edges))).all()
    near = max(abs(place[a] - place[b]).sum() for a, b in graph.edges)
    far = abs(place[0] - place[20]).sum()
    assert far > 3 * near
    assert layout.place_nodes(0, []).shape == (0, 2) and layout.place_nodes(1, []).shape == (1, 2)
    assert 0 <= layout.place_nodes(5, [(0, 1)]).min() <= layout.place_nodes(5, [(0, 1)]).max() <= 1


@pytest.fixture
def evolved(tmp_path, monkeypatch):
    """What tools/evolve leaves, of a program that is a stand-in."""
    build = fake_evolution.make(tmp_path, monkeypatch)
    out = tmp_path / "evolved"
    assert evolve.main(["--build", str(build), "--output", str(out), "--seconds", "1"]) == 0
    return out


def images_of(page):
    """Name -> image, as the page shows it."""
    found = re.findall(r'<img class="world" alt="([^"]+)" src="data:image/png;base64,([^"]+)">', page)
    return {name: numpy.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")) for name, data in found}


def test_of_what_evolved_there_are_rates_quality_by_layer_and_the_world_over_time(evolved):
    page = page_of(evolved)
    for title in ("Rate: torus 64x64", "Generations: torus 64x64", "Refused and skipped by layer, mode 3 no barrier", "Latency by layer",
                  "Period by snapshot", "World of mode3, replicate0"):  # fmt: skip
        assert f"<h3>{title}</h3>" in page
    assert "left-out" not in page.split("<script")[0] and "onflicts left" not in page
    assert "generations per 1000 updates" in page
    assert all(f">{layer}</text>" in page for layer in evolution_records.LAYERS)
    assert set(re.findall(r'\bsrc="(.{11})', page)) == {"data:image/"} and not re.search(r"https?://|url\(|@import", page)


def test_the_world_is_shown_as_it_was(evolved):
    images = images_of(page_of(evolved))
    frames = list(evolution_records.read_frames(evolved / "mode3-replicate0" / "frames.csv"))
    assert len(frames) == 4 and len(images) == 12
    first, last = images["kin groups after 0 s"], images["kin groups after 3 s"]
    assert (first == evolution_plots.kin_image(frames[0].kin)).all() and (last == evolution_plots.kin_image(frames[-1].kin)).all()
    assert (first != last).any()
    held = images["resource held after 3 s"].astype(int).sum(axis=2)
    is_alive = frames[-1].kin != 0
    assert (held[~is_alive] == 0).all() and numpy.corrcoef(held[is_alive], frames[-1].stockpile[is_alive])[0, 1] > 0.95


def test_of_a_long_film_and_a_large_world_less_is_shown_and_the_page_says_so(evolved, monkeypatch):
    monkeypatch.setattr(worlds, "MOST_PICTURES", 2)
    monkeypatch.setattr(worlds, "MOST_PLACES", 6)
    page = page_of(evolved)
    images = images_of(page)
    assert sorted({name.split(" after ")[1] for name in images}) == ["0 s", "3 s"]  # the first and the last
    assert {image.shape for image in images.values()} == {(6, 6, 3)} and "one place in 2 along each side" in page


def test_rows_of_two_programs_are_not_put_together(evolved, tmp_path, capsys):
    fake_results.write_results(tmp_path / "colored", num_frames=2)
    code, out, err = run(evolved, tmp_path / "colored", capsys=capsys)
    assert code == 2 and out == "" and "rows of another program" in err and err.count("\n") == 1


def test_a_film_that_is_cut_short_ends_with_one_line(evolved, capsys):
    film = evolved / "mode3-replicate0" / "frames.csv"
    film.write_text(film.read_text()[:-9] + "\n")
    code, out, err = run(evolved, capsys=capsys)
    assert code == 2 and out == "" and "frames.csv: cells: " in err and err.count("\n") == 1


@pytest.fixture(scope="module")
def chromium():
    program = browser.find()
    if program is None:
        pytest.skip("NOT TESTED: no Chromium to render the page (apt-get install chromium, or UIT_CHROMIUM)")
    with browser.Browser(program) as page:
        yield page


def test_a_browser_draws_all_pictures_of_the_world_and_asks_for_nothing_else(chromium, evolved):
    report.write_report([evolved], evolved / "page.html")
    chromium.messages.clear()
    chromium.requests.clear()
    chromium.open(evolved / "page.html")
    images = "[...document.images]"
    chromium.wait_until(f"{images}.every((image) => image.complete)")
    assert chromium.evaluate(f"{images}.map((image) => image.naturalWidth)") == [12] * 12
    assert chromium.evaluate(f"{images}.every((image) => image.clientWidth > 60)")
    assert chromium.messages == []
    page = (evolved / "page.html").resolve().as_uri()
    assert chromium.requests[0] == page and all(request.startswith("data:") for request in chromium.requests[1:])


COLORS = """((side) => {
  const canvas = document.querySelectorAll(".stage canvas")[side];
  const context = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const counts = {};
  for (let i = 0; i < pixels.length; i += 4) {
    const color = [pixels[i], pixels[i + 1], pixels[i + 2]].join(" ");
    counts[color] = (counts[color] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 200));
})(%d)"""
CLOCK = 'Number(document.getElementById("scrub").value)'


@pytest.fixture
def shown(chromium, tmp_path):
    """The page of a coloured torus in a browser that remembers complaints and requests."""
    fake_results.write_results(tmp_path)
    report.write_report([tmp_path], tmp_path / "page.html")
    chromium.messages.clear()
    chromium.requests.clear()
    chromium.prefer("light")
    chromium.resize(1280, 900)
    chromium.open(tmp_path / "page.html")
    yield chromium
    assert chromium.messages == []
    assert chromium.requests == [(tmp_path / "page.html").resolve().as_uri()]


def test_both_sides_show_their_colours(shown):
    left, right = shown.evaluate(COLORS % 0), shown.evaluate(COLORS % 1)
    for colors in (left, right):
        assert {"246 227 161", "156 203 230", "112 118 173"} <= set(colors)
    assert left != right
    assert "adjacent pairs in conflict" in shown.evaluate('document.querySelector(".state").textContent')


def test_the_page_opens_where_the_sides_differ_most_and_plays_from_the_beginning(shown):
    left, right = shown.evaluate('[...document.querySelectorAll(".state")].map((each) => Number(each.textContent.split(" ")[0].replace(",", "")))')
    assert left > 2 * right
    assert shown.evaluate(CLOCK) > 0
    shown.evaluate('for (let i = 0; i < 2; ++i) document.getElementById("play").click()')  # plays and pauses at once
    assert shown.evaluate(CLOCK) == 0


def test_playing_moves_the_clock_and_both_pictures(shown):
    shown.evaluate('document.getElementById("play").click()')
    begun = shown.evaluate(COLORS % 1)
    shown.wait_until(f"{CLOCK} > 20 && {CLOCK} < 1000")
    early = shown.evaluate(CLOCK)
    shown.wait_until(f"{CLOCK} > {early} + 50")
    shown.evaluate('document.getElementById("play").click()')
    stopped = shown.evaluate(CLOCK)
    assert shown.evaluate(COLORS % 1) != begun
    time.sleep(0.3)
    assert shown.evaluate(CLOCK) == stopped


def test_the_clock_stops_at_the_end_and_begins_again(shown):
    shown.evaluate(
        'const speed = document.getElementById("speed"); speed.value = "4"; speed.dispatchEvent(new Event("change"))'
    )
    shown.evaluate('document.getElementById("play").click()')
    shown.wait_until('document.getElementById("play").textContent === "Play"')
    assert shown.evaluate(CLOCK) == 1000


def test_keys_do_what_buttons_do(shown):
    shown.press("Home")
    assert shown.evaluate(CLOCK) == 0
    shown.press("ArrowRight")
    assert shown.evaluate(CLOCK) == 17
    shown.press("ArrowLeft")
    assert shown.evaluate(CLOCK) == 0
    shown.press(" ", "Space")
    shown.wait_until(f"{CLOCK} > 20")
    shown.press(" ", "Space")
    assert shown.evaluate('document.getElementById("play").textContent') == "Play"
    shown.press("End")
    assert shown.evaluate(CLOCK) == 1000


def test_another_mode_can_be_picked(shown):
    before = shown.evaluate(COLORS % 1)
    shown.evaluate(
        'const pick = document.querySelectorAll(".pick")[1]; pick.value = "0"; pick.dispatchEvent(new Event("change"))'
    )
    assert shown.evaluate(COLORS % 1) != before
    assert shown.evaluate(COLORS % 1) == shown.evaluate(COLORS % 0)


def test_dark_is_dark_by_preference_and_by_button(shown):
    background = "getComputedStyle(document.body).backgroundColor"
    light, cells = shown.evaluate(background), shown.evaluate(COLORS % 0)
    same_cells = f"JSON.stringify({COLORS % 0}) === {json.dumps(json.dumps(cells, separators=(',', ':')))}"
    shown.prefer("dark")
    shown.wait_until(f"{background} !== '{light}'")
    shown.wait_until(f"!({same_cells})")  # cells are drawn anew a frame after the background
    shown.evaluate('document.getElementById("theme").click()')
    shown.wait_until(f"{background} === '{light}' && {same_cells}")


def test_a_phone_needs_no_scrolling_sideways(shown):
    shown.resize(360, 780, mobile=True, scale=2)
    shown.wait_until("innerWidth === 360")
    assert shown.evaluate("document.documentElement.scrollWidth") == 360


def test_every_control_and_picture_has_a_name(shown):
    assert (
        shown.evaluate(
            """[...document.querySelectorAll("button, select, input, svg, canvas:not([aria-hidden])")].filter((one) =>
        !(one.getAttribute("aria-label") || one.tagName === "BUTTON" && one.textContent.trim() || one.labels?.length)
      ).length"""
        )
        == 0
    )
    assert "mode 0 every update at 59.0 ms: " in shown.evaluate(
        'document.querySelector(".stage canvas").getAttribute("aria-label")'
    )


@pytest.fixture
def program():
    return folder_of("channel_selection") / "demos" / "channel_selection"


def test_what_the_program_writes_is_drawn(tmp_path, program):
    options = "--threads 2 --nodes-per-worker 72 --modes 0,3 --replicates 1 --duration 0.2 --frame-interval 20ms"
    options += " --snapshot-interval 100ms --snapshot-length 100ms --output rows.csv --quality quality.csv"
    options += " --frames frames.csv --colors-output colors.csv"
    subprocess.run([program, *options.split()], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    page = page_of(tmp_path)
    notes = re.findall(r"<li>(.*?)</li>", re.search(r'<section class="left-out">(.*?)</section>|$', page)[1] or "")
    assert all("none in any run" in note for note in notes)  # so small a graph may be solved in every run
    takes = takes_of(page)
    assert [take["mode"] for take in takes["takes"]] == [0, 3]
    stage = takes["stages"][0]
    assert (stage["adjacency"], stage["rows"] * stage["columns"]) == ("torus", 144)
    for take in takes["takes"]:
        colors = take["frames"][-1]
        rows, columns = stage["rows"], stage["columns"]
        ours = sum(
            colors[row * columns + column] == colors[near]
            for row in range(rows)
            for column in range(columns)
            for near in ((row + 1) % rows * columns + column, row * columns + (column + 1) % columns)
        )
        assert ours == take["conflicts"][-1]  # so the page and the program agree on who is adjacent to whom
