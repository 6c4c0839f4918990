import json

from netuit import bench_charts

PNG = b"\x89PNG\r\n\x1a\n"


def make_point(**changes):
    return {"chart": "message sizes", "x_label": "message, bytes", "y_label": "GB/s", "line": "ours", "x": 4, "y": 0.02,
            "class": "FAR"} | changes


def make_record(points):
    return {"cpu": "A CPU", "num_cpus": 2, "compiler": "GNU 12", "mpi": "MPICH 4", "date": "2026-01-02T03:04:05Z",
            "points": points}


def test_a_chart_has_its_name_and_tells_the_other_mpi_apart(tmp_path):
    points = [make_point(x=x, y=x / 200, y_label=label) for x in (4, 64, 1024) for label in ("GB/s", "M/s")]
    result = tmp_path / "size_benchmark.mpich.json"
    result.write_text(json.dumps(make_record(points)), encoding="utf-8")
    assert bench_charts.draw_all(result) == [tmp_path / "message-sizes.mpich.png"]
    assert (tmp_path / "message-sizes.mpich.png").read_bytes().startswith(PNG)


def test_a_flat_curve_over_counts_and_a_single_point_are_drawn(tmp_path):
    points = [make_point(x_label="nodes", x=10**power, y=100 + power, **{"class": "-"}) for power in range(3, 7)]
    bench_charts.draw(make_record(points), "message sizes", tmp_path / "flat.png")
    bench_charts.draw(make_record([make_point(y=0)]), "message sizes", tmp_path / "single.png")
    assert all((tmp_path / name).read_bytes().startswith(PNG) for name in ("flat.png", "single.png"))


def test_a_result_without_points_has_no_chart(tmp_path):
    result = tmp_path / "rate_benchmark.json"
    result.write_text(json.dumps(make_record([])), encoding="utf-8")
    assert bench_charts.draw_all(result) == []


def test_ticks_have_units_that_one_reads_at_a_glance():
    assert [bench_charts.bytes_text(value) for value in (4, 1024, 65536, 1 << 20)] == ["4 B", "1 KiB", "64 KiB", "1 MiB"]
    assert [bench_charts.count_text(value) for value in (0.05, 1, 1000)] == ["0.05", "1", "1,000"]
    assert bench_charts.power_text(1e4) == "$10^{4}$"


def test_notes_say_where_and_how_far_apart_the_cores_were():
    text = bench_charts.notes(make_record([]), [make_point(), make_point(**{"class": "-"})])
    assert text == "A CPU, 2 CPUs; GNU 12; MPICH 4; cores that share no cache; 2026-01-02"
