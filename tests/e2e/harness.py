# SPDX-License-Identifier: Apache-2.0
"""What end-to-end tests are written with, and the process that runs one of them.

A test is a function test_* in a file test_*.py. It fails by an exception, such as a failed assert.

    from harness import culprit, program, skip, timeout

    @timeout(90)
    def test_spin():
        run = culprit('run', 'code_hotspots', '--', program('spin'), '500')
        assert run.status == 0, run

Decorators: @timeout(SECONDS) (60 s otherwise), @alone (not beside other tests: it measures time).
"""

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

ROOT = Path(os.environ.get('CULPRIT_SOURCE_ROOT') or Path(__file__).resolve().parent.parent.parent)
BUILD = Path(os.environ.get('CULPRIT_BUILD') or ROOT / 'build')
DEFAULT_LIMIT_S = 60

_home = None


class Skipped(Exception):
    pass


class Run:
    """A program that has ended: status (negative: a signal), out and err as text."""

    def __init__(self, command, status, out, err):
        self.command = command
        self.status = status
        self.out = out
        self.err = err

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as e:
            raise AssertionError(f'no JSON on stdout: {e}\n{self}') from None

    def __str__(self):
        return (f'{" ".join(self.command)}\nstatus {self.status}\n'
                f'--- stdout\n{self.out}\n--- stderr\n{self.err}')

    __repr__ = __str__


def skip(reason):
    """End this test as not run."""
    raise Skipped(reason)


def timeout(seconds):
    def mark(function):
        function.limit_s = seconds
        return function
    return mark


def alone(function):
    function.alone = True
    return function


def home():
    """This test's own CULPRIT_HOME; removed after the test."""
    global _home
    if _home is None:
        _home = Path(tempfile.mkdtemp(prefix='culprit-e2e-'))
    return _home


def tmpdir():
    """A directory for this test's files; removed after the test."""
    path = home() / 'tmp'
    path.mkdir(exist_ok=True)
    return path


def run(*command, env=None, stdin='', cwd=None, binary=False):
    """Run a program to its end. env is added to the environment; None as a value removes."""
    command = [str(c) for c in command]
    full = dict(os.environ, CULPRIT_HOME=str(home()), LC_ALL='C.UTF-8', NO_COLOR='1')
    for key, value in (env or {}).items():
        if value is None:
            full.pop(key, None)
        else:
            full[key] = str(value)
    done = subprocess.run(command, env=full, cwd=cwd or tmpdir(), input=stdin.encode(),
                          capture_output=True, check=False)
    if binary:
        return Run(command, done.returncode, done.stdout, done.stderr)
    return Run(command, done.returncode, done.stdout.decode(errors='replace'),
               done.stderr.decode(errors='replace'))


def culprit(*args, **how):
    """Run culprit with a CULPRIT_HOME of this test's own."""
    path = BUILD / 'culprit'
    if not path.exists():
        skip('culprit is not built')
    return run(path, *args, **how)


def culprit_json(*args, status=(0, 3), **how):
    """Run culprit with --json, insist on an exit status (None: any), return what it printed.

    0 and 3 pass by default: whether a short recording is solid is not what most tests ask.
    """
    args = list(args)
    at = args.index('--') if '--' in args else len(args)
    result = culprit(*args[:at], '--json', *args[at:], **how)
    wanted = status if isinstance(status, tuple) else (status,)
    assert status is None or result.status in wanted, result
    return result.json()


def program(name):
    """Path of a test program (tests/programs); skips when it could not be built here."""
    path = BUILD / 'tests' / 'programs' / name
    if not path.exists():
        skip(f'test program {name} is not built here')
    return path


def workload(name):
    return BUILD / 'workloads' / name


def source(path):
    """A file or folder of the source tree."""
    return ROOT / path


def sample(path):
    """A shared recording; skips when there are none on this machine."""
    top = os.environ.get('CULPRIT_SAMPLES')
    if not top:
        skip('no recordings: CULPRIT_SAMPLES is not set')
    full = Path(top) / path
    if not full.exists():
        skip(f'no recording {path} in CULPRIT_SAMPLES')
    return full


def need(*tools):
    """Skip unless all these programs are there."""
    for tool in tools:
        if not shutil.which(tool):
            skip(f'{tool} is not installed')


def _load(path):
    sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(path).resolve().parent)]
    # Tests import this file under its name; it must be this very module.
    sys.modules['harness'] = sys.modules['__main__']
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: f for name, f in vars(module).items()
            if name.startswith('test_') and inspect.isfunction(f)}


def _main(path, what):
    tests = _load(path)
    if what == '--list':
        if not tests:
            print(f'{path} has no test_* function')
            return 1
        for name, f in tests.items():
            print(name, getattr(f, 'limit_s', DEFAULT_LIMIT_S),
                  'alone' if getattr(f, 'alone', False) else 'any',
                  *getattr(f, 'machines', ()))
        return 0
    try:
        tests[what]()
    except Skipped as e:
        print(e)
        return 77
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        return 1
    finally:
        if _home is not None:
            shutil.rmtree(_home, ignore_errors=True)
    return 0


if __name__ == '__main__':
    sys.exit(_main(*sys.argv[1:]))
