"""Options of the whole test suite, and which of its tests run side by side."""

import os
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random, SystemRandom

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from raidplan.apply.journal import lock as journal_lock
from raidplan.facts import in_use

# The programs that tests start write as a user's do, who has not set it: what waits in a buffer is lost with its reader.
os.environ.pop("PYTHONUNBUFFERED", None)

# Machines that build are noisy: how long an example takes says nothing about it. Every run draws others.
NOISY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("raidplan", NOISY, max_examples=40)
settings.register_profile("long", NOISY, max_examples=150)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` rewrites what the examples are to give; `--long` and `--every-write` leave less out."""
    parser.addoption(
        "--every-write", action="store_true", help="cut the power at every write, for an hour or two"
    )
    parser.addoption("--server", help="with --every-write: the writes of one virtual server, as 3/8")
    parser.addoption("--long", action="store_true", help="the whole, which takes hours: `make test-all`")
    parser.addoption(
        "--in-turn", action="store_true", help="of some files, tests that are drawn: `make test`"
    )
    parser.addoption(
        "--of-each", type=int, default=0, help="so many tests of each file, drawn, at most: `make quick`"
    )
    parser.addoption("--seed", type=int, help="draw what is random as the run did that printed this seed")
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Every run draws anew what is random, and says by which seed; each process of `-n` draws by the seed of the run."""
    config.option.long = config.option.long or config.option.every_write
    config.option.loadscopereorder = False
    settings.load_profile("long" if config.option.long else "raidplan")
    if config.option.seed is None:
        handed_on = getattr(config, "workerinput", {})
        config.option.seed = handed_on.get("seed", SystemRandom().randrange(10**9))
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(config.option.seed)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """A process of `-n` parses the command line itself, and would draw a seed of its own."""
    node.workerinput["seed"] = node.config.option.seed


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> Random | None:
    """Draws a test's sample by the seed of the run; None with `--long`, where a test tries everything."""
    if request.config.getoption("long"):
        return None
    return Random(f"{request.config.getoption('seed')} {request.node.nodeid}")


@pytest.fixture(scope="session", autouse=True)
def lock_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests run side by side, and none of them is to find that another one's `apply` holds the lock of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_lock, "LOCK", str(tmp_path_factory.mktemp("lock") / "lock"))
        yield


@pytest.fixture(scope="session", autouse=True)
def without_a_hidden_first_process() -> Iterator[None]:
    """Some virtual machines hide their first process from root as well, so that every test of uses would find it; a server does not."""
    processes = in_use.processes
    hidden = [each for each in processes() if each.name == "1" and not os.access(each / "root/.", os.F_OK)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_use, "processes", lambda: [each for each in processes() if each not in hidden])
        yield


@pytest.fixture(autouse=True)
def signals_of_before() -> Iterator[None]:
    """Once it has its code, a command that writes heeds no ^C any more; the tests go on after it."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


COUNTED = "counted: "


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The seed, what was left out, and what tests counted of what they tried (`record_property` with a name that begins
    with `COUNTED`), added up.
    """
    counts: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        for name, count in report.user_properties:
            if name.startswith(COUNTED):
                counts[name.removeprefix(COUNTED)] += int(str(count))
    for name, count in counts.items():
        terminalreporter.write_line(f"{count:,} {name}")
    seed = config.getoption("seed")
    terminalreporter.write_line(f"seed {seed}: --seed={seed} draws the same again")
    if deselected := config.stash.get(DESELECTED, 0):
        options = {"-m": config.getoption("markexpr"), "-k": config.getoption("keyword")}
        why = (
            " and ".join(f"{option} '{words}'" for option, words in options.items() if words) or "--deselect"
        )
        terminalreporter.write_line(f"left out: {deselected} tests by {why}")
    if not config.getoption("long"):
        skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
        long, others = (sum(reason in each for each in skipped) for reason in (LONG, NOT_DRAWN))
        terminalreporter.write_line(
            f"left out: {long} long tests, {others} cases that were not drawn, and of each matrix of kills all but one point "
            "for each kind of effect: `make test-all` runs them"
        )


DESELECTED = pytest.StashKey[int]()
"""How many tests -m and -k left out."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Counts them; a process of `-n` hands the number on, for the terminal hears of none that it does not run."""
    if items:
        config = items[0].config
        config.stash[DESELECTED] = config.stash.get(DESELECTED, 0) + len(items)
        if isinstance(handed_on := getattr(config, "workeroutput", None), dict):
            handed_on["deselected"] = config.stash[DESELECTED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    """Every process of `-n` collects all tests, so each of them counted the same."""
    count = getattr(node, "workeroutput", {}).get("deselected", 0)
    node.config.stash[DESELECTED] = max(count, node.config.stash.get(DESELECTED, 0))


LONG = "long: `make test-all` runs it"
LEFT_OUT = pytest.mark.skip(reason=LONG)
NOT_DRAWN = "not drawn: `make test-all` runs it"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The virtual servers first, for they take longest, then the files with most tests; with `--long` rates are measured
    when the other tests have ended."""
    long = bool(config.getoption("long"))
    sizes = Counter(item.path for item in items)
    servers = {item.path for item in items if item.get_closest_marker("machine") and not _is_left_out(item)}
    items.sort(key=_turn if long else lambda item: (item.path not in servers, -sizes[item.path]))
    for item in items:
        if not long and _is_left_out(item):
            item.add_marker(LEFT_OUT)  # not deselected: a test that is skipped is counted, with its reason
    seed = config.getoption("seed")
    if not long:
        _draw(items, seed, "[", partial(_number_at, marker="drawn"))
    if config.getoption("in_turn"):
        _draw(items, seed, "::", partial(_number_at, marker="in_turn"))
    if of_each := config.getoption("of_each"):
        _draw(items, seed, "::", lambda item: of_each)


def _number_at(item: pytest.Item, marker: str) -> int:
    """The number that a marker gives a test; 0 where it has none."""
    mark = item.get_closest_marker(marker)
    return int(mark.args[0]) if mark else 0


def _draw(items: Sequence[pytest.Item], seed: int, end: str, count: Callable[[pytest.Item], int]) -> None:
    """Leaves out all but so many (the `count` of each) of the tests whose names are the same up to `end`, drawn by the seed of the run
    from those that are not left out; none where that is 0.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if count(item) and not _is_left_out(item):
            cases[item.nodeid.partition(end)[0]].append(item)
    for name, all_of_it in cases.items():
        chosen = Random(f"{seed} {name}").sample(all_of_it, min(count(all_of_it[0]), len(all_of_it)))
        for item in all_of_it:
            if item not in chosen:
                item.add_marker(pytest.mark.skip(reason=NOT_DRAWN))


def _is_left_out(item: pytest.Item) -> bool:
    """Long, or not drawn."""
    reasons = [mark.kwargs.get("reason") for mark in item.iter_markers("skip")]
    return item.get_closest_marker("long") is not None or NOT_DRAWN in reasons


def _turn(item: pytest.Item) -> int:
    """With `--long`."""
    if not item.get_closest_marker("machine"):
        return 3
    return 2 if "server" in getattr(item, "fixturenames", ()) else int(item.path.stem == "test_links")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """With `-n`: file by file, but for virtual servers and for loop devices, which one process has to itself."""
    return Together(config, log)


class Together(LoadScopeScheduling):
    """Tests of one scope run in one process, one after the other, and the scopes begin in the order of the tests.

    A scope is no single test: the scheduler goes through all scopes of a process after each test.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        marks = _marks(self.config.rootpath / file)
        if "mark.machine" in marks and self.config.getoption("long"):
            return (
                "virtual servers"  # one at a time: two machines of two emulated processors stall each other
            )
        return "loop devices" if "mark.root" in marks else file


@cache
def _marks(file: Path) -> str:
    return file.read_text()
