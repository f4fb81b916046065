"""The program that runs pytest: what becomes the runner, what it loads, and what it reports."""

import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from amelia.judge.results import Unreadable
from amelia.model.evidence import TestStatus
from unit.judge.programs.running import Ran, run_program

pytestmark = pytest.mark.slow

PASSED, FAILED, ERROR, SKIPPED = TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR, TestStatus.SKIPPED
OPTIONS = ("-q", "--rootdir=.", "-p", "no:cacheprovider")
BAD = {"test_a.py": "def test_a(): assert False\n"}


INSTALLED = ("pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments", "xdist", "execnet")


def environment(folder: Path, first: str = "") -> str:
    """Makes an environment with pytest and xdist, and returns its interpreter; `first` is before them."""
    venv.create(folder, with_pip=False)
    (packages,) = folder.glob("lib/python*/site-packages")
    here = Path(pytest.__file__).parents[1]
    described = [path.name for path in here.glob("pytest_xdist-*.dist-info")]
    installed = folder / "installed"
    installed.mkdir()
    for name in (*INSTALLED, *described):
        (installed / name).symlink_to(here / name)
    (packages / "a.pth").write_text(f"{first}\n{installed}\n", encoding="utf-8")
    return str(folder / "bin" / "python")


@pytest.fixture(scope="module")
def lean(tmp_path_factory: pytest.TempPathFactory) -> str:
    return environment(tmp_path_factory.mktemp("lean") / "environment")


def run(tree: Path, files: Mapping[str, str], *options: str, python: str) -> Ran:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(dedent(text), encoding="utf-8")
    return run_program("run_pytest", tree, "--", *OPTIONS, *options, python=python)


@pytest.fixture
def knowing(tmp_path: Path) -> str:
    """Makes an environment that has the tree itself on its path, before pytest: it is installed in place."""
    (tmp_path / "tree").mkdir()
    return environment(tmp_path / "environment", first=str(tmp_path / "tree"))


def test_every_way_to_end_has_its_status(tmp_path: Path, lean: str) -> None:
    ran = run(
        tmp_path,
        {
            "tests/test_a.py": """
                import pytest
                def test_good(): pass
                def test_bad(): assert 1 == 2, "one is not two"
                @pytest.mark.skip
                def test_later(): pass
                @pytest.mark.xfail
                def test_known(): assert False
                @pytest.mark.xfail(strict=True)
                def test_surprise(): pass
                @pytest.fixture
                def breaks(): raise ValueError
                def test_setup(breaks): pass
                @pytest.fixture
                def leaves(): yield; raise ValueError
                class TestGroup:
                    @pytest.mark.parametrize("n", ["a::b"])
                    def test_n(self, n, leaves): pass
            """,
            "tests/test_b.py": "import not_there_yet\n",
            "tests/test_c.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
        },
        "--continue-on-collection-errors",
        python=lean,
    )
    start = "tests/test_a.py::"
    assert {name.removeprefix(start): status for name, status in ran.statuses.items()} == {
        "test_good": PASSED,
        "test_bad": FAILED,
        "test_later": SKIPPED,
        "test_known": SKIPPED,
        "test_surprise": FAILED,
        "test_setup": ERROR,
        "TestGroup::test_n[a::b]": ERROR,
        "tests/test_b.py": ERROR,
        "tests/test_c.py": SKIPPED,
    }
    assert ran.code == 1


PLANTED = {
    "pytest.py": "import os\nos._exit(0)\n",
    "_pytest/__init__.py": "import os\nos._exit(0)\n",
    "pluggy.py": "import os\nos._exit(0)\n",
    "iniconfig/__init__.py": "import os\nos._exit(0)\n",
    "xdist/plugin.py": "import os\nos._exit(0)\n",
    "xdist/__init__.py": "import os\nos._exit(0)\n",
    "sitecustomize.py": "import os\nos._exit(0)\n",
    "usercustomize.py": "import os\nos._exit(0)\n",
    "evil.pth": "import os; os._exit(0)\n",
    "evil.dist-info/entry_points.txt": "[pytest11]\nevil = evilplugin\n",
    "evil.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
    "evilplugin.py": "import os\nos._exit(0)\n",
    "amelia_report.py": "import os\nos._exit(0)\n",
    "amelia_startup.py": "import os\nos._exit(0)\n",
}


@pytest.mark.parametrize("start", [*dict.fromkeys(path.partition("/")[0] for path in PLANTED)])
def test_a_file_of_the_tree_does_not_become_the_runner(tmp_path: Path, lean: str, start: str) -> None:
    files = {path: text for path, text in PLANTED.items() if path.startswith(start)}
    assert run(tmp_path, {**BAD, **files}, python=lean).statuses == {"test_a.py::test_a": FAILED}


def test_nothing_of_a_tree_that_is_installed_in_place_becomes_the_runner(
    tmp_path: Path, knowing: str
) -> None:
    good = {"code.py": "ANSWER = 42\n", "test_b.py": "import code\ndef test_b(): assert code.ANSWER == 42\n"}
    ran = run(tmp_path / "tree", {**BAD, **good, **PLANTED}, python=knowing)
    assert ran.statuses == {"test_a.py::test_a": FAILED, "test_b.py::test_b": PASSED}


def test_a_plugin_that_is_developed_in_the_tree_is_loaded_where_it_is_installed(
    tmp_path: Path, knowing: str
) -> None:
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    for name, text in (
        ("METADATA", "Metadata-Version: 2.1\nName: own\nVersion: 1\n"),
        ("entry_points.txt", "[pytest11]\nown = own_plugin\n"),
    ):
        (packages / "own-1.dist-info").mkdir(exist_ok=True)
        (packages / "own-1.dist-info" / name).write_text(text, encoding="utf-8")
    plugin = "import pytest\n@pytest.fixture\ndef own(): return 42\n"
    files = {"own_plugin.py": plugin, "test_a.py": "def test_a(own): assert own == 42\n"}
    assert run(tmp_path / "tree", files, python=knowing).statuses == {"test_a.py::test_a": PASSED}


def test_a_plugin_of_old_is_loaded_where_a_link_leads_to_it(tmp_path: Path, knowing: str) -> None:
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    (packages / "own-thing.egg-link").write_text(f"{tmp_path / 'tree'}\n", encoding="utf-8")
    files = {
        "own_thing.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: own-thing\nVersion: 1\n",
        "own_thing.egg-info/entry_points.txt": "[pytest11]\nown = own_plugin\n",
        "own_plugin.py": "import pytest\n@pytest.fixture\ndef own(): return 42\n",
        "test_a.py": "def test_a(own): assert own == 42\n",
    }
    assert run(tmp_path / "tree", files, python=knowing).statuses == {"test_a.py::test_a": PASSED}


def test_the_environments_own_customization_runs(tmp_path: Path, knowing: str) -> None:
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    text = "import builtins\nbuiltins.customized = 42\n"
    (packages / "sitecustomize.py").write_text(text, encoding="utf-8")
    files = {
        "sitecustomize.py": "import os\nos._exit(0)\n",
        "test_a.py": "import sys\ndef test_a(): assert customized == 42 and 'sitecustomize' in sys.modules\n",
    }
    assert run(tmp_path / "tree", files, python=knowing).statuses == {"test_a.py::test_a": PASSED}


def test_tests_see_the_path_the_main_module_and_the_variables_that_pytest_gives_them(
    tmp_path: Path, lean: str
) -> None:
    ran = run(
        tmp_path,
        {
            "tests/plugin.py": "import pytest\n@pytest.fixture\ndef given(): return 42\n",
            "code.py": "ANSWER = 42\n",
            "tests/test_a.py": """
                import multiprocessing, os, subprocess, sys
                import code

                def square(n, results):
                    results.put(n * n)

                def test_path():
                    assert os.getcwd() in sys.path
                    assert not [place for place in sys.path if "programs" in place]

                def test_variables():
                    assert not {"PYTHONPATH", "AMELIA_REPORT"} & os.environ.keys()
                    assert sys.argv[0].endswith("__main__.py")
                    assert sys.flags.no_site == sys.flags.isolated == 0

                def test_plugin(given):
                    assert given == code.ANSWER

                def test_spawned_process():
                    context = multiprocessing.get_context("spawn")
                    results = context.Queue()
                    process = context.Process(target=square, args=(3, results))
                    process.start()
                    assert results.get(timeout=30) == 9
                    process.join()

                def test_program():
                    left = subprocess.run([sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd'))"],
                                          capture_output=True, text=True, check=True).stdout
                    assert "64" not in left
            """,
        },
        "-p",
        "tests.plugin",
        python=lean,
    )
    assert set(ran.statuses.values()) == {PASSED}, ran.text


def test_workers_of_xdist_report_through_the_runner(tmp_path: Path, lean: str) -> None:
    spawning = """
        import multiprocessing
        def test_b():
            process = multiprocessing.get_context("spawn").Process(target=len, args=([],))
            process.start()
            process.join()
            assert process.exitcode == 0
    """
    ran = run(tmp_path, {**BAD, "test_b.py": spawning, **PLANTED}, "-n", "2", python=lean)
    assert ran.statuses == {"test_a.py::test_a": FAILED, "test_b.py::test_b": PASSED}, ran.text


def test_messages_that_are_no_text_or_too_long_are_still_told(tmp_path: Path, lean: str) -> None:
    text = """
        def test_bytes(): assert False, b"caf\\xe9".decode("utf-8", "surrogateescape")
        def test_long(): assert False, "x" * 200_000
    """
    ran = run(tmp_path, {"test_a.py": text}, python=lean)
    assert ran.statuses == {"test_a.py::test_bytes": FAILED, "test_a.py::test_long": FAILED}


def test_pytest_inside_of_a_test_works(tmp_path: Path) -> None:
    text = """
        pytest_plugins = ["pytester"]
        def test_inner(pytester):
            pytester.makepyfile("def test_a(): pass")
            pytester.runpytest_inprocess().assert_outcomes(passed=1)
    """
    assert run(tmp_path, {"test_a.py": text}, python=sys.executable).statuses == {
        "test_a.py::test_inner": PASSED
    }


FORGERIES = {
    "leaves without a word": "import os\nos._exit(0)\n",
    "leaves before anything ran": "import sys\nsys.exit(0)\n",
    "writes an end of its own": """
        import os, stat
        for number in range(3, 256):
            try:
                is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
            except OSError:
                continue
            if is_pipe:
                os.write(number, b'{"file": "test_a.py", "names": ["test_a"], "status": "passed"}\\n{"end": 1}\\n')
        os._exit(0)
    """,
    "lets another process write": """
        import os, subprocess, sys
        text = '{"file": "test_a.py", "names": ["test_a"], "status": "passed"}\\\\n{"end": 1}\\\\n'
        for number in range(64, 72):
            subprocess.run(["sh", "-c", f"printf '{text}' > /proc/{os.getpid()}/fd/{number}"],
                           stderr=subprocess.DEVNULL)
        os._exit(0)
    """,
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_report_is_not_believed_of_code_that(tmp_path: Path, lean: str, forgery: str) -> None:
    ran = run(tmp_path, {**BAD, "conftest.py": FORGERIES[forgery]}, python=lean)
    assert isinstance(ran.read, Unreadable)


def test_what_happens_at_the_exit_comes_too_late(tmp_path: Path, lean: str) -> None:
    text = "import atexit, os\natexit.register(os._exit, 0)\n"
    ran = run(tmp_path, {**BAD, "conftest.py": text}, python=lean)
    assert (ran.code, ran.statuses) == (0, {"test_a.py::test_a": FAILED})


def test_a_child_that_comes_back_to_the_runner_says_nothing(tmp_path: Path, lean: str) -> None:
    text = "import os\ndef test_fork(): os.fork()\ndef test_bad(): assert False\n"
    ran = run(tmp_path, {"test_a.py": text}, python=lean)
    assert [result.id for result in ran.results] == ["test_a.py::test_fork", "test_a.py::test_bad"]
