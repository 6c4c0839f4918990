import re

import fake
import pandas
from fake_sweep import make_rows
from netuit import experiment_report


def make_threads(**rates):
    """Rows of cases, one thread and four, three replicates that are 1 % apart."""
    rows = []
    for case, by_layout in rates.items():
        for threads, rate in by_layout.items():
            for replicate in range(3):
                row = fake.make_row(threads=threads, mode=4, mode_name=fake.MODES[4], replicate=replicate, updates_per_second=rate * (1 + 0.01 * replicate))
                rows += [{**row, "thread": thread, "case": case, "cpus": 4} for thread in range(threads)]
    return pandas.DataFrame(rows)


def drawn(folder, rows):
    """The files of figures of rows in a folder."""
    folder.mkdir(exist_ok=True)
    paths = experiment_report.draw(folder, rows, None)
    assert all(path.with_suffix(suffix).is_file() for path in paths for suffix in (".png", ".svg"))
    return [path.name for path in paths]


def texts(path):
    return re.findall(r">([^<>]+)</text>", path.with_suffix(".svg").read_text(encoding="utf-8"))


def test_cases_without_a_conflict_have_no_panel_of_them_and_are_named(tmp_path):
    rows = make_rows(tmp_path)
    assert drawn(tmp_path / "all", rows) == ["rates.png", "conflicts.png"]
    threads = rows["case"] == "threads"
    assert drawn(tmp_path / "some", rows.assign(conflicts=rows["conflicts"].where(~threads, 0))) == ["rates.png", "conflicts.png"]
    words = texts(tmp_path / "some" / "conflicts.png")
    assert "none in any run: threads" in words and "threads" not in words and "processes" in words
    assert drawn(tmp_path / "all", rows.assign(conflicts=0)) == ["rates.png"]
    assert not (tmp_path / "all" / "conflicts.png").exists() and not (tmp_path / "all" / "conflicts.svg").exists()
    assert "conflicts: none in any run" in texts(tmp_path / "all" / "rates.png")


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
