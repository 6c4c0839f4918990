"""kill -9 in every mode and phase: of a process in a run, in set-up or with checkpoints, and of the launcher."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import random
import re
import signal
import tempfile
import time
from collections.abc import Callable

from netuit import launch

from bounds import (
    CHECKPOINT_AGE,
    JOB_ENDED,
    NIGHT,
    OWN_PATIENCE,
    PATIENCE,
    RESULTS_WRITTEN_OWN,
    SET_UP_ENDED,
    SLACK,
    SURVIVORS_LATE,
    SURVIVORS_LATE_ULFM,
)
from coloring import NUM_MODES, RANKS, Puts, await_begin, await_run, check_going_on, has_begun, intact_puts, own_results, own_row, words, written_at
from jobs import Ends, Job, is_code_lost, running, wait_until

def goal(name: str, figure: str) -> None:
    """Prints a line for the table of goals."""
    print(f"goal {name}: {figure}", flush=True)


class Retries:
    """Counts kills that came too late and are repeated.

    Each needs a reason that was observed, and at most `limit` are allowed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._reasons: collections.Counter[str] = collections.Counter()

    def until_counted(self, attempt: Callable[[int], str], what: str) -> None:
        """Makes attempts, by number, until one returns no reason why it does not count."""
        for number in itertools.count():
            reason = attempt(number)
            if not reason:
                return
            self._reasons[reason] += 1
            num_retries = sum(self._reasons.values())
            assert num_retries <= self._limit, f"{what}: {num_retries} kills did not count, of {self._limit} that may: {self.words()}"

    def words(self) -> str:
        """Returns how many there were, and why."""
        return ", ".join(f"{number} made again: {reason}" for reason, number in self._reasons.items()) or "none made again"


def try_kill(processes: dict[int, int], victim: int, which: signal.Signals = signal.SIGKILL) -> bool:
    """Sends a signal to a rank, by default kill -9. Returns False if it has ended."""
    if victim not in processes:
        return False
    try:
        os.kill(processes[victim], which)
    except ProcessLookupError:
        return False
    return True


#: Modes whose survivors end at once, because no worker can go on without the others.
_IN_STEP = (0, 5)
#: Modes and phases, in the order in which they are tried. Those that a run per commit has time for come first.
_WHEN = (
    (3, "run"), (0, "run"), (2, "end"), (4, "begin"), (1, "run"), (5, "run"),
    (3, "end"), (0, "begin"), (2, "run"), (4, "end"), (1, "begin"), (5, "end"),
    (3, "begin"), (0, "end"), (2, "begin"), (4, "run"), (1, "end"), (5, "begin"),
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Plan:
    """A planned kill: which process, and when."""

    mode: int
    victim: int
    phase: str  #: "begin", "run" or "end"
    duration: float
    delay: float  #: since the begin
    addressing: str  #: "edge" or "multicast": whether puts are counted one by one or by the update

    def latest(self) -> float:
        """Returns when the kill comes too late, in seconds since the beginning. Survivors need some time afterwards."""
        return self.duration - 1 if self.phase == "run" else self.duration + SLACK


@dataclasses.dataclass
class Toll:
    """Kills of processes in a run, all started in the same way, and their results."""

    launcher: launch.Launcher
    program: str
    survives: bool = True  #: by tools/run
    shares_memory: bool = True
    patience: float | None = PATIENCE
    chance: random.Random = dataclasses.field(default_factory=lambda: random.Random(11))
    num_begin: int = 0  #: kills at the begin
    num_whole: int = 0  #: kills after which every survivor left its results
    losses: list[str] = dataclasses.field(default_factory=list)  #: of results, and why
    late: list[float] = dataclasses.field(default_factory=list)
    latest: str = ""  #: which kill the longest of them followed
    before: list[float] = dataclasses.field(default_factory=list)  #: from deaths in set-up to the last one's end
    written: list[float] = dataclasses.field(default_factory=list)  #: when results were, after the launcher's SIGTERM
    intact: dict[str, Puts] = dataclasses.field(default_factory=dict)  #: puts, by addressing

    def kill(self, number: int, attempt: int) -> str:
        """Starts a job, and kills one of its processes. Returns why that does not count, or nothing."""
        plan = self._plan(number, attempt)
        arguments = words(plan.mode, plan.duration, self.survives, plan.addressing)
        # Without tools/run, the shared memory of the dead process stays until the next job.
        with running(
            self.launcher, RANKS, self.program, arguments, self.survives, not self.survives, self.shares_memory, self.patience
        ) as job:
            begin = await_begin(job) if plan.phase == "begin" else await_run(job)
            processes = job.processes()
            ends = Ends(process for rank, process in processes.items() if rank != plan.victim)
            ends.watch_until(begin + plan.delay)
            if time.monotonic() > begin + plan.latest() or not try_kill(processes, plan.victim):
                assert job.wait(plan.duration + SLACK) == 0 and job.manifest()["complete"] is True, job.errors()
                return "the run had ended, or would have soon"
            dead, dead_at = time.monotonic(), time.time()
            last = ends.await_last(plan.duration + SLACK)
            code = job.wait(SLACK)
            about = f"mode {plan.mode}, rank {plan.victim}, {plan.phase} ({dead - begin:.3f} s), code {code}: {job.errors()}"
            if (job.folder / "rows.csv").exists() and job.manifest()["complete"] is True:
                assert dead - begin > plan.duration - 0.01, f"complete before its end: {about}"
                return "the run was complete"
            assert code != 0, about
            self.num_begin += plan.phase == "begin"
            if self.launcher.vendor != "Open MPI":
                self._count_late(time.monotonic() - dead, about)
                return ""
            assert not self.survives or (code == 3 and f"rank {plan.victim} " in job.errors()), about
            num_results = sum(own_results(job, rank, plan.victim, self.survives) for rank in self._survivors(plan))
            if plan.phase == "begin" and self._is_before(plan.victim, num_results, job.errors()):
                self.before.append(last - dead)
                return ""
            if self.survives:
                self._check_end(plan, last - begin, about)
                self._count_late(ends.latest(dead if plan.mode in _IN_STEP else max(dead, begin + plan.duration)), about)
            denied = {
                rank: ends.denied(processes[rank], dead + self._patience_of_launcher())
                for rank in self._survivors(plan)
                if rank in processes
            }
            if self._count_results(job, num_results, dead_at, denied, about):
                for rank in self._survivors(plan):
                    self._check_puts(own_row(job, rank), plan.addressing, about)
                    if self.survives and plan.mode not in _IN_STEP:
                        killed_after = None if plan.phase == "end" else dead - begin
                        check_going_on(job, rank, plan.victim, plan.mode, plan.duration, killed_after)
        return ""

    def _plan(self, number: int, attempt: int) -> Plan:
        (mode, phase), victim = _WHEN[number % len(_WHEN)], self.chance.randrange(RANKS)
        # Modes 0 and 5 do not wait for this, nor do processes that the launcher ends.
        duration = 20.0 if phase == "run" and (mode in _IN_STEP or not self.survives) else 2.0
        at_end = duration + self.chance.uniform(-0.05, 0.05) - 0.05 * attempt
        delay = {"begin": self.chance.uniform(0, 0.05), "run": 0.5, "end": at_end}[phase]
        return Plan(mode, victim, phase, duration, delay, ("edge", "multicast")[(number + number // len(_WHEN)) % 2])

    @staticmethod
    def _survivors(plan: Plan) -> list[int]:
        return [rank for rank in range(RANKS) if rank != plan.victim]

    def _is_before(self, victim: int, num_results: int, said: str) -> bool:
        """Returns whether the death came before the first update, according to all processes without results."""
        has_run = any(place in said for place in ("at a barrier", "between updates", "messages are awaited"))
        if self.patience is None and num_results == 0 and not has_run:  # they are ended before they can report it
            return re.search(rf"process rank {victim} .* exited on signal 9\b", said) is not None
        num_before = len(re.findall(rf"conduit: error: rank {victim} has ended \((MPI_\w+|in a collective call)\)", said))
        return 0 < num_before == RANKS - 1 - num_results

    @staticmethod
    def _check_end(plan: Plan, seconds: float, about: str) -> None:
        """Checks that all survivors ended by themselves, the last not before the planned time; at once, in modes 0 and 5."""
        assert f"no word from rank {plan.victim} at the end" in about, about
        if plan.phase == "run":
            is_in_time = seconds < plan.duration if plan.mode in _IN_STEP else seconds > plan.duration - 0.1
            assert is_in_time, f"{seconds:.2f} s; {about}"

    def _check_puts(self, row: dict[str, str], addressing: str, about: str) -> None:
        """Checks that a survivor counted as many puts in each update as a process of a run without a loss."""
        if addressing not in self.intact:
            self.intact[addressing] = intact_puts(self.launcher, self.program, addressing)
        wanted = [each * int(row["updates"]) for each in self.intact[addressing][row["mode"], row["process"]]]
        counted = [int(row["attempted"]), int(row["muted"])]
        assert counted == wanted, f"{counted} puts, not {[str(each) for each in wanted]}: {row}; {about}"

    def _count_late(self, seconds: float, about: str) -> None:
        if seconds > max(self.late, default=0.0):
            self.latest = about
        self.late.append(seconds)

    def _patience_of_launcher(self) -> float:
        """Returns the seconds from a death to Open MPI's SIGTERM, and from there to its SIGKILL."""
        return OWN_PATIENCE if self.patience is None else self.patience

    def _count_results(self, job: Job, num_results: int, dead_at: float, denied: dict[int, float], about: str) -> bool:
        """Returns whether all results exist. Fails if some are missing, unless the machine kept a process from working.

        `denied` says for how long each survivor has waited for a CPU or a disk since the launcher's SIGTERM.
        """
        files = sorted(os.listdir(job.folder))
        longest = max(denied.values(), default=0.0)
        if num_results == RANKS - 1:
            self.num_whole += 1
            seconds = written_at(job) - dead_at - self._patience_of_launcher()
            self.written.append(seconds - min(longest, max(seconds, 0.0)))
            return True
        drafts = [name for name in files if name.endswith(".tmp")]
        words_of_loss = f"{num_results} of {RANKS - 1} results, {len(drafts)} files begun when the launcher's SIGKILL came"
        self.losses.append(f"{words_of_loss}, {longest:.2f} s of which the machine denied a process")
        is_excused = self.patience is None and longest > OWN_PATIENCE - RESULTS_WRITTEN_OWN.goal
        assert is_excused, f"{self.losses[-1]}; {denied}; {about}; {files}"
        return False

    def report(self, retries: str) -> None:
        """Compares the results with the goals, and prints them, with the repeated kills."""
        if self.launcher.vendor != "Open MPI":
            goal("R8", f"{self.launcher.vendor}: {len(self.late)} kills, each ended the job with a code, {JOB_ENDED.check(self.late, 'after', self.latest)}; {retries}")
            return
        how = "tools/run" if self.survives else "mpirun alone" + (", with its own delay before SIGKILL" if self.patience is None else "")
        how += "" if self.shares_memory else " over MPI"
        figures = [f"3 of 3 results in {self.num_whole} of {self.num_whole + len(self.losses)} kills"]
        assert len(self.before) <= self.num_begin
        if self.before:
            which = f"{len(self.before)} of {self.num_begin} at the begin came before the first update"
            figures.append(f"{which}, and all ended {SET_UP_ENDED.check(self.before, 'after')}")
        if self.survives:
            bound = SURVIVORS_LATE if self.launcher.major < 5 else SURVIVORS_LATE_ULFM
            figures.append(f"survivors ended {bound.check(self.late, 'late, by their own time, by', self.latest)}")
        elif self.written:
            figures.append(RESULTS_WRITTEN_OWN.check(self.written, "written after SIGTERM, by the processes' own time,"))
        num_after = self.num_whole + len(self.losses)  # kills after the first update
        assert len(self.losses) <= num_after // 4, f"results were missing after {len(self.losses)} of {num_after} kills: {self.losses}"
        assert self.num_whole > 0, "no kill came after the first update"
        goal("R8", ", ".join([f"{how}: {figures[0]}", *figures[1:], *self.losses]) + f"; {retries}")


def killed(toll: Toll, per_commit: int, at_night: int) -> None:
    """kill -9 of one process at any time: the others finish and write their results, and name the dead process."""
    num_kills = at_night if NIGHT else per_commit
    retries = Retries(2 + num_kills // 4)
    for number in range(num_kills):
        retries.until_counted(lambda attempt: toll.kill(number, attempt), f"kill {number}")  # noqa: B023
    toll.report(retries.words())


def killed_in_set_up(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of one process in set-up: the job ends at once with a code.

    Nothing is left, except MPI's own files under plain mpirun.
    """
    chance = random.Random(12)
    num_kills = 20 if NIGHT else 2
    for survives in (True, False):
        late: list[float] = []
        num_segments = num_hung = 0

        def kill(attempt: int) -> str:
            nonlocal num_segments, num_hung
            mode, victim = chance.randrange(NUM_MODES), chance.randrange(RANKS)
            delay = chance.uniform(0, 0.3) / (1 + attempt)
            # MPI leaves a file of its own if a process dies after creating it and before mapping it or reporting it to the
            # launcher; tools/run removes it.
            with running(launcher, RANKS, program, words(mode, 1.0), survives, not survives, patience=None) as job:  # noqa: B023
                wait_until(lambda: victim in job.processes(), SLACK, f"rank {victim}", job.errors)
                time.sleep(delay)
                job.note_segments()
                processes = job.processes()
                if has_begun(job) or not try_kill(processes, victim):
                    assert job.wait(1.0 + SLACK) == 0 and job.manifest()["complete"] is True, job.errors()
                    return "set-up was over"
                dead = time.monotonic()
                if not survives and job.launcher_hangs(SET_UP_ENDED.limit() + SLACK):  # noqa: B023
                    num_hung += 1
                    print(f"EXCUSED: the launcher itself hung, its processes gone, after rank {victim} was killed in set-up")
                    assert num_hung <= 1 + num_kills // 10, f"the launcher hung {num_hung} times"  # noqa: B023
                    return "the launcher itself hung, its processes gone"
                code = job.wait(SET_UP_ENDED.limit() + SLACK)
                late.append(time.monotonic() - dead)  # noqa: B023
                said = job.errors()
                about = f"rank {victim} after {delay:.3f} s, code {code}: {said}"
                if is_code_lost(code, launcher, survives):  # if another process fails because of the death at once
                    return "the launcher lost the exit code"
                assert code != 0, about
                # The launcher may lose another process by it: "ranks 1, 3 ended before all had met".
                is_named = re.search(rf"\branks? (\d+, )*{victim}\b", said) is not None
                if launcher.vendor == "MPICH":
                    # The launcher ends them all. The message depends on the moment: the launcher reports a killed process or
                    # a broken pipe, or another process, about to map the dead one's memory, reports that MPI_Init fails.
                    is_told = is_named or "no word from any rank" in said
                    assert is_told or (not survives and said.strip()), about  # noqa: B023
                elif launcher.major < 5:  # version 5 ends such a job by itself, often without naming the dead process
                    assert is_named and (code == 3 or not survives), about  # noqa: B023
                for path in job.folder.glob("*.json"):
                    json.loads(path.read_text(encoding="utf-8"))  # whole files only
                assert not (job.folder / "rows.csv").exists(), about
                segments = [] if survives else job.segments_left()
                if launcher.vendor == "Open MPI":
                    assert all(launch.SEGMENT.match(os.path.basename(name)) for name in segments), f"{segments}; {about}"
                num_segments += len(segments)
            return ""

        retries = Retries(8 * num_kills)  # most of them before any process was killed
        for number in range(num_kills):
            retries.until_counted(kill, f"kill {number} in set-up")
        left = f", {num_segments} files of MPI's own left" if num_segments else ""
        left += f"; {retries.words()}"
        how = "tools/run" if survives else "mpirun alone"
        goal("R8", f"{launcher.vendor}, {how}: {len(late)} kills in set-up, each ended the job with a code, {SET_UP_ENDED.check(late, 'after')}{left}")


def checkpoint(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of one process of digital_evolution: the last checkpoint is whole, and a run continues from it."""
    evolve = ["--mode", "3", "--replicates", "1", "--output", "rows.csv"]
    ages = []
    for victim in range(4 if NIGHT else 1):
        with tempfile.TemporaryDirectory() as folder:
            kept = ["--cells-per-worker", "64", "--checkpoint", folder, "--checkpoint-every", "64", "--duration", "30s"]
            manifest = pathlib.Path(folder) / "checkpoint.json"
            with running(launcher, 2, program, [*evolve, *kept]) as job:
                wait_until(lambda: manifest.exists() and len(job.processes()) == 2, SLACK, "a checkpoint")  # noqa: B023
                time.sleep(0.5)
                process = job.processes()[victim % 2]
                ages.append(time.time() - manifest.stat().st_mtime)  # age of the last checkpoint that certainly exists
                os.kill(process, signal.SIGKILL)
                assert ages[-1] >= 0, f"a checkpoint of {-ages[-1]:.3f} s later"
                code = job.wait(SLACK)
                assert code != 0, job.errors()
            with running(launcher, 2, program, [*evolve, "--resume", folder, "--updates", "10"]) as job:
                assert job.wait(SLACK) == 0, job.errors()
    goal("R8", f"{launcher.vendor}: the world went on from its last checkpoint, {CHECKPOINT_AGE.check(ages, 'of an age of')}")


def launcher_killed(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of the launcher: no process outlives it, and what MPI leaves in shared memory can be removed."""
    with running(launcher, RANKS, program, words(3, 30.0), leaves_segments=True) as job:
        await_run(job)
        os.kill(job.child.pid, signal.SIGKILL)
        job.wait(SLACK)
        wait_until(lambda: not job.processes(), SLACK, "the end of the processes")
        num_segments = remove_segments(job)
        print(f"{launcher.vendor}: launcher killed: no process left, {num_segments} files in shared memory, removed")
    job_killed_in_set_up(launcher, program)


def remove_segments(job: Job) -> int:
    """Removes what a killed job has left in shared memory, as tools/demo and tools/run do. Returns the number of files."""
    num_segments = len(job.segments_left())
    time.sleep(1.1)
    launch.remove_leftovers(least_age=1)
    assert not job.segments_left(), f"not removed: {job.segments_left()}"
    return num_segments


def unused(names: set[str]) -> set[str]:
    """Returns the files of /dev/shm among these that no process has open or mapped."""
    used: set[str] = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            used.update(os.readlink(f"/proc/{process}/fd/{number}") for number in os.listdir(f"/proc/{process}/fd"))
            used.update(line.split(maxsplit=5)[-1] for line in pathlib.Path(f"/proc/{process}/maps").read_text().splitlines())
    return {name for name in names & set(os.listdir("/dev/shm")) if f"/dev/shm/{name}" not in used}


def job_killed_in_set_up(launcher: launch.Launcher, program: str) -> None:
    """kill -9 of the launcher and all processes in set-up: everything that MPI leaves in shared memory is removed.

    MPICH has files there only until all processes have mapped them. So the processes are stopped as soon as a new file appears,
    in several attempts at different moments.
    """
    num_removed = 0
    for number in range(40):
        if number >= 5 and num_removed > 0:
            break
        before = set(os.listdir("/dev/shm"))
        with running(launcher, RANKS, program, words(3, 0.2), leaves_segments=True) as job:
            wait_until(lambda: len(job.processes()) == RANKS, SLACK, "the processes", job.errors)  # noqa: B023
            processes = job.processes()
            while not set(os.listdir("/dev/shm")) - before and job.child.poll() is None:
                pass
            time.sleep(0.001 * (number % 5))
            for rank in processes:
                try_kill(processes, rank, signal.SIGSTOP)
            job.note_segments()
            new = set(os.listdir("/dev/shm")) - before
            while job.remains():
                for process in job.remains():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
            job.wait(SLACK)
            left = unused(new)
            remove_segments(job)
            assert not unused(left), f"not removed: {unused(left)}"
            num_removed += len(left)
    assert num_removed > 0, "no job was stopped while it had a file in shared memory"
    print(f"{launcher.vendor}: jobs killed in set-up: {num_removed} files in shared memory, removed")
