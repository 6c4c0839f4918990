import pathlib

import pytest
from netuit import InputError, sweep_files, sweeps
from netuit.arguments import Workers

SMALL = """
name = "small"
title = "a few runs"
seconds = 2
replicates = 2
modes = [0, "no_barrier"]
workers = ["1x1", "2x1"]
options = { work = 5 }
[[case]]
name = "one"
[[case]]
name = "two"
workers = ["1x4"]
replicates = 3
options = { padded = true, work = 7 }
[quick]
seconds = 0.5
max_workers = 2
options = { period-fixed = "100ms" }
"""


def write(folder, text):
    path = folder / "some.toml"
    path.write_text(text)
    return path


def test_a_case_has_the_sweeps_keys_and_its_own_before_them(tmp_path):
    one, two = sweep_files.load(write(tmp_path, SMALL)).cases
    assert (one.workers, one.modes, one.seconds, one.replicates) == ((Workers(1, 1), Workers(2, 1)), (0, 3), 2.0, 2)
    assert (two.workers, two.replicates, two.options) == ((Workers(1, 4),), 3, {"padded": True, "work": 7})


def test_quick_changes_all_cases_and_adds_to_their_options(tmp_path):
    one, two = sweep_files.load(write(tmp_path, SMALL), quick=True).cases
    assert one.seconds == 0.5 and one.options == {"work": 5, "period-fixed": "100ms"}
    assert two.workers == () and two.options["work"] == 7


def test_what_the_command_line_says_goes_before_all(tmp_path):
    path = write(tmp_path, SMALL)
    assert [case.replicates for case in sweep_files.load(path, overrides={"replicates": 9}).cases] == [9, 9]
    with pytest.raises(InputError, match="replicates 0"):
        sweep_files.load(path, overrides={"replicates": 0})


def test_replicates_are_outermost_so_that_drift_meets_all_cases_alike(tmp_path):
    planned = list(sweeps.launches(sweep_files.load(write(tmp_path, SMALL))))
    assert [(each.replicate, each.case.name, str(each.workers), each.seed) for each in planned] == [
        (0, "one", "1x1", 1), (0, "one", "2x1", 1), (0, "two", "1x4", 1),
        (1, "one", "1x1", 2), (1, "one", "2x1", 2), (1, "two", "1x4", 2), (2, "two", "1x4", 3),
    ]  # fmt: skip


def test_a_launch_makes_one_run_of_each_mode(tmp_path):
    launch = next(sweeps.launches(sweep_files.load(write(tmp_path, SMALL))))
    assert launch.words() == "--threads 1 --modes 0,3 --duration 2 --replicates 1 --seed 1 --work 5".split()
    assert launch.declared_s == 4


def test_a_simulated_launch_makes_a_run_of_one_mode_and_is_told_from_those_of_others(tmp_path):
    text = SMALL.replace('seconds = 2\n', 'seconds = 2\nlauncher = "simulated"\n')
    planned = list(sweeps.launches(sweep_files.load(write(tmp_path, text))))
    assert [(each.case.name, str(each.workers), each.modes, each.replicate) for each in planned[:6]] == [
        ("one", "1x1", (0,), 0), ("one", "1x1", (3,), 0), ("one", "2x1", (0,), 0), ("one", "2x1", (3,), 0),
        ("two", "1x4", (0,), 0), ("two", "1x4", (3,), 0),
    ]  # fmt: skip
    assert planned[1].words()[:4] == "--threads 1 --modes 3".split() and planned[1].declared_s == 2
    assert str(planned[1]) == "one 1x1, mode 3, replicate 0"
    identities = [str(each.identity()) for each in planned]
    assert len(set(identities)) == len(identities)


def test_the_simulated_sweep_has_what_the_notebook_and_the_table_read():
    cases = {case.name: case for case in sweep_files.load(sweep_files.find("simulated")).cases}
    assert set(cases) == {"paper", "paper_faulty", "fast", "commodity", "paper_256", "paper_spread", "paper_8us", "paper_2us",
                          "machine"}
    layouts = {name: [layout.processes for layout in case.workers] for name, case in cases.items()}
    assert layouts["paper"] == layouts["fast"] == layouts["commodity"] == [1, 4, 16, 64]
    assert layouts["paper_faulty"] == [64] and layouts["paper_256"] == [256] and layouts["machine"] == [1, 2]
    for case in cases.values():
        assert case.snapshot == (0 if case.name == "paper_spread" else pytest.approx(case.seconds / 2))  # two of one length


def test_calibration_runs_on_real_processes_what_the_case_machine_simulates():
    (real,) = sweep_files.load(sweep_files.find("calibration")).cases
    simulated = next(case for case in sweep_files.load(sweep_files.find("simulated")).cases if case.name == "machine")
    assert (real.launcher, real.shared_memory, simulated.launcher) == ("local", False, "simulated")
    for same in ("workers", "modes", "seconds", "snapshot", "replicates", "options"):
        assert getattr(real, same) == getattr(simulated, same), same


def test_results_with_and_without_shared_memory_are_told_apart_and_older_ones_are_still_known(tmp_path):
    text = 'name = "x"\n[[case]]\nname = "one"\n'
    plain, shared, apart = (
        next(sweeps.launches(sweep_files.load(write(tmp_path, text + line)))).identity()
        for line in ("", "shared_memory = true\n", "shared_memory = false\n")
    )
    assert plain == shared != apart and "shared_memory" not in plain


def test_files_count_by_what_they_hold_not_by_their_names(tmp_path):
    text = 'name = "g"\n[[case]]\nname = "one"\noptions = { graph = "%s" }\n'
    for name, content in (("a", "1 2\n"), ("b", "1 2\n"), ("c", "1 3\n")):
        (tmp_path / f"{name}.edgelist").write_text(content)
    a, b, c = (
        next(sweeps.launches(sweep_files.load(write(tmp_path, text % f"{name}.edgelist")))).identity() for name in "abc"
    )
    assert a == b != c


def test_a_straggler_has_so_many_times_the_nodes_of_each_other_worker(tmp_path):
    text = 'name = "s"\n[[case]]\nname = "one"\nstraggler = 4\nworkers = ["1x3"]\noptions = { nodes-per-worker = 200 }\n'
    launch = next(sweeps.launches(sweep_files.load(write(tmp_path, text))))
    placement = launch.placement()
    assert [placement.count(worker) for worker in range(3)] == [100, 100, 400]
    even = next(sweeps.launches(sweep_files.load(write(tmp_path, text.replace("straggler = 4", "straggler = 1")))))
    assert even.placement() is None and even.identity() != launch.identity()


@pytest.mark.parametrize("path", sweep_files.ready_made(), ids=lambda path: path.stem)
@pytest.mark.parametrize("quick", [False, True])
def test_ready_made_sweeps_are_whole_and_quick_ones_are_short(path, quick):
    sweep = sweep_files.load(path, quick=quick)
    assert sweep.name == path.stem and sweep.title
    assert sweep_files.find(sweep.name) == path
    declared = sum(each.declared_s for each in sweeps.launches(sweep))
    assert declared > 0 and (not quick or declared < 480)


def test_all_that_the_issue_names_is_there():
    assert {path.stem for path in sweep_files.ready_made()} >= {
        "paper", "thread_cost", "compute_work", "two_hosts", "threads_processes", "weak_scaling", "straggler",
    }  # fmt: skip


CASE = '[[case]]\nname = "one"\n'


@pytest.mark.parametrize(
    "text, reason",
    [
        ("name = \n", r"some.toml:1: \w.*"),
        ('name = "x"\n[[case]\n', "some.toml:2: "),
        ("\x00", "some.toml:1: "),
        ("", "some.toml: no case: expected"),
        ('name = "x"\n', "no case: expected"),
        (CASE, "no name: expected a name"),
        ('name = "a b"\n' + CASE, "name 'a b': expected a name"),
        ('name = "x"\ncolour = 1\n' + CASE, "unknown key colour .*workers"),
        ('name = "x"\n' + CASE + "colour = 1\n", "case one: unknown key colour"),
        ('name = "x"\n' + CASE + CASE, "two cases are named one"),
        ('name = "x"\nmodes = [6]\n' + CASE, "case one: unknown mode 6"),
        ('name = "x"\nmodes = []\n' + CASE, "modes .*: expected a list"),
        ('name = "x"\nmodes = "0"\n' + CASE, "modes '0': expected a list"),
        ('name = "x"\nseconds = 0\n' + CASE, "seconds 0: expected more than 0"),
        ('name = "x"\nseconds = nan\n' + CASE, "seconds nan: expected more than 0"),
        ('name = "x"\nreplicates = 1.5\n' + CASE, "replicates 1.5: expected 1 to 1000"),
        ('name = "x"\nreplicates = true\n' + CASE, "replicates True: expected"),
        ('name = "x"\nworkers = ["2"]\n' + CASE, "workers 2: expected PROCESSESxTHREADS"),
        ('name = "x"\nworkers = "1x1"\n' + CASE, "workers '1x1': expected layouts"),
        ('name = "x"\nlauncher = "ssh"\n' + CASE, "unknown launcher ssh"),
        ('name = "x"\nprogram = "rm"\n' + CASE, "unknown program rm"),
        ('name = "x"\nreport = ["all"]\n' + CASE, "unknown report all"),
        ('name = "x"\noptions = { output = "x" }\n' + CASE, "option output is set by tools/experiment"),
        ('name = "x"\noptions = { work = [1] }\n' + CASE, r"option work: \[1\] is no"),
        ('name = "x"\noptions = { "--work" = 1 }\n' + CASE, "option '--work': expected a name"),
        ('name = "x"\noptions = { graph = "none.edgelist" }\n' + CASE, "none.edgelist: No such file"),
        ('name = "x"\nstraggler = 0.5\n' + CASE, "straggler 0.5: expected 1 to 1000"),
        ('name = "x"\nstraggler = 2\noptions = { placement = "metis" }\n' + CASE, "straggler 2: not together with option placement"),
        ('name = "x"\nshared_memory = 0\n' + CASE, "shared_memory 0: expected true or false"),
        ('name = "x"\nlauncher = "simulated"\nshared_memory = false\n' + CASE, "shared_memory false: of launcher local only, not simulated"),
        ('name = "x"\nlauncher = "hosts"\nshared_memory = false\n' + CASE, "shared_memory false: of launcher local only, not hosts"),
        ('name = "x"\nprogramm = "x"\n' + CASE, "unknown key programm"),
        ('name = "x"\ncluster = { hosts = 4 }\n' + CASE, "cluster: unknown key hosts"),
        ('name = "x"\n' + CASE + '[[case]]\nname = "two"\nlauncher = "simulated"\n', "a sweep of their own"),
        ('name = "x"\n[quick]\nname = "y"\n' + CASE, "quick: unknown key name"),
        ('name = "x"\n' + CASE + "quick = 3\n", "case one: quick 3: expected a table"),
        ('name = "x"\n' + CASE + 'quick = { without = ["one"] }\n', "case one: quick: unknown key without"),
        ('name = "x"\n[quick]\nwithout = ["z"]\n' + CASE, "quick: without z: no case has this name"),
        ('name = "x"\ncase = 3\n', "case 3: expected one"),
        ('name = "x"\nalso = "evolution"\n' + CASE, "also 'evolution': expected names of ready-made sweeps"),
        ('name = "x"\nalso = ["x.toml"]\n' + CASE, r"also \['x.toml'\]: expected names"),
        ('name = "x"\nalso = ["evolutoin"]\n' + CASE, r"also evolutoin: no ready-made sweep \(.*evolution"),
        ('name = "x"\nalso = ["evolution", "evolution"]\n' + CASE, "also evolution: named twice"),
    ],
)
def test_bad_sweeps_are_refused_in_one_line_that_names_the_file(text, reason, tmp_path):
    with pytest.raises(InputError, match=f"some.toml.*{reason}|{reason}") as caught:
        sweep_files.load(write(tmp_path, text), quick=True)
    assert "some.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_case_may_say_what_quick_changes_in_it(tmp_path):
    file = write(tmp_path, 'name = "x"\nseconds = 5\n[quick]\nseconds = 1\nmodes = [3]\n' + CASE + "quick = { modes = [0, 3] }\n")
    (quick,), (full,) = (sweep_files.load(file, quick=each).cases for each in (True, False))
    assert (quick.seconds, quick.modes) == (1, (0, 3)) and (full.seconds, full.modes) == (5, (0, 1, 2, 3, 4))
    (named,) = sweep_files.load(file, quick=True, overrides={"seconds": 2}).cases
    assert (named.seconds, named.modes) == (2, (0, 3))


def test_the_paper_has_both_benchmarks():
    assert sweep_files.load(sweep_files.find("paper")).also == ("evolution",)
    for quick in (False, True):
        loaded = sweep_files.load_all(sweep_files.find("paper"), quick=quick, overrides={"replicates": 7, "seconds": 0.5})
        assert [(sweep.name, sweep.program) for sweep in loaded] == [
            ("paper", "channel_selection"), ("evolution", "digital_evolution"),
        ]  # fmt: skip
        assert {(case.replicates, case.seconds) for sweep in loaded for case in sweep.cases} == {(7, 0.5)}
        assert all("headline" in sweep.reports for sweep in loaded)


@pytest.mark.parametrize(
    "name, reason", [("paper", "also paper: it names others itself"), ("evolution_simulated", "either all are simulated or none")]
)
def test_sweeps_that_cannot_follow_another_are_refused(name, reason, tmp_path):
    with pytest.raises(InputError, match=f"some.toml: also {name}.*{reason}|some.toml: {reason}"):
        sweep_files.load_all(write(tmp_path, f'name = "x"\nalso = ["{name}"]\n' + CASE))


def test_a_sweep_that_is_not_there_is_told_with_those_that_are(tmp_path):
    with pytest.raises(InputError, match="unknown sweep papr .*paper"):
        sweep_files.find("papr")
    with pytest.raises(InputError, match="none.toml: No such file"):
        sweep_files.load(sweep_files.find(str(tmp_path / "none.toml")))
    with pytest.raises(InputError, match="Is a directory"):
        sweep_files.load(pathlib.Path(tmp_path))
