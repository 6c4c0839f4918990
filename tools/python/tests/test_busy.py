import subprocess
import sys
import time

from netuit import busy
from netuit.busy import Busy


def test_what_own_processes_take_is_not_of_others():
    assert busy.others_cpus(Busy(10, 100, 50), Busy(20, 118, 66)) == 0.2
    assert busy.others_cpus(Busy(10, 100, 50), Busy(20, 105, 60)) == 0  # as clocks that differ in their ticks may have it
    assert busy.others_cpus(Busy(10, None, 50), Busy(20, None, 60)) is None


def test_own_children_count_as_own_and_all_are_busy_while_they_run():
    before = busy.now()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.5: pass"], check=True)
    after = busy.now()
    assert after.own_s - before.own_s >= 0.5
    assert after.all_s - before.all_s >= 0.4


def test_others_are_seen():
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        before = busy.now()
        time.sleep(0.5)
        assert busy.others_cpus(before, busy.now()) > 0.1
    finally:
        other.kill()
        other.wait()


def test_where_proc_does_not_tell_nothing_is_said(tmp_path):
    assert busy.now(tmp_path / "none").all_s is None
    (tmp_path / "stat").write_text("cpu odd\n")
    assert busy.now(tmp_path / "stat").all_s is None
