# SPDX-License-Identifier: Apache-2.0
"""The kinds of tests: each gives jobs, and a job gives results. tests/run puts them together."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / 'tests'
TAP_LINE = re.compile(r'^(not ok|ok) \d+(?: - (.*?))?(?: # SKIP ?(.*))?$')
UNIT_LIMIT_S = 600
REPLAY_LIMIT_S = 120


class Result:
    def __init__(self, name, outcome, detail=''):
        self.name = name
        self.outcome = outcome  # passed, failed, skipped
        self.detail = detail


def run_process(command, limit, env, cwd=None):
    """Its exit status (None after the limit) and its output."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env=env, cwd=cwd,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output.decode(errors='replace')
    except subprocess.TimeoutExpired:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        output, _ = process.communicate()
        return None, output.decode(errors='replace')


def read_tap(suite, status, output):
    """TAP as results; a plan that was not kept is a failure of its own."""
    results = []
    planned = None
    for line in output.splitlines():
        match = TAP_LINE.match(line)
        if line.startswith('1..'):
            planned = int(line[3:].split()[0])
        elif match:
            outcome = 'failed' if match[1] == 'not ok' else \
                'skipped' if match[3] is not None else 'passed'
            results.append(Result(f'{suite}/{match[2] or len(results) + 1}', outcome,
                                  match[3] or ''))
        elif line.startswith('#') and results and results[-1].outcome == 'failed':
            results[-1].detail += line[2:] + '\n'
    failed = any(r.outcome == 'failed' for r in results)
    if planned != len(results) or (status != 0) != failed:
        ended = 'did not end in time' if status is None else f'ended with status {status}'
        results.append(Result(suite, 'failed', f'{suite} {ended} after {len(results)} of '
                              f'{planned if planned is not None else "an unknown number of"} '
                              f'tests\n{output[-4000:]}'))
    return results


class Job:
    """One process that gives one or more results."""

    def __init__(self, name, run, alone=False):
        self.name = name
        self.run = run
        self.alone = alone


def unit_jobs(args, env):
    wrapper = [args.wrapper] if args.wrapper else []
    for program in sorted(args.build.glob('tests/test-*')):
        if not program.is_file() or not os.access(program, os.X_OK):
            continue
        suite = 'unit/' + program.name[len('test-'):]
        parts = []
        if args.filter and not any(f in suite for f in args.filter):
            parts = args.filter

        def run(program=program, suite=suite, parts=parts):
            status, output = run_process([*wrapper, str(program), *parts], UNIT_LIMIT_S, env)
            return read_tap(suite, status, output)
        yield Job(suite, run)


def replay_jobs(args, env):
    """Each harness reads its corpus: whatever the bytes are, it must come to an end."""
    wrapper = [args.wrapper] if args.wrapper else []
    for program in sorted(args.build.glob('tests/fuzz/replay-*')):
        if not program.is_file() or not os.access(program, os.X_OK):
            continue
        harness = program.name[len('replay-'):]
        name = 'corpus/' + harness
        files = sorted(p for p in (TESTS / 'corpus' / harness).glob('**/*') if p.is_file())
        if args.filter and not any(f in name for f in args.filter):
            continue

        def run(program=program, name=name, files=files):
            if not files:
                return [Result(name, 'skipped', f'no files in tests/{name}')]
            status, output = run_process([*wrapper, str(program), *map(str, files)],
                                         REPLAY_LIMIT_S, env)
            if status == 0:
                return [Result(name, 'passed')]
            ended = 'no end in time' if status is None else f'status {status}'
            return [Result(name, 'failed', f'{ended}\n{output[-4000:]}')]
        yield Job(name, run)


def list_python(folder, env):
    """The test_* functions of the test_*.py in a folder: suite, command, and what is known of the
    function: its name, limit, 'alone' or 'any', machines. Of a file that cannot be loaded: suite,
    what it said, None."""
    for module in sorted((TESTS / folder).glob('test_*.py')):
        suite = f'{folder}/{module.stem[len("test_"):]}'
        command = [sys.executable, str(TESTS / 'e2e' / 'harness.py'), str(module)]
        status, listing = run_process(command + ['--list'], 60, env)
        if status != 0:
            yield suite, listing, None
            continue
        for line in listing.splitlines():
            yield suite, command, line.split()


def run_python(name, command, function, limit, env):
    status, output = run_process(command + [function], limit, env)
    if status == 0:
        return [Result(name, 'passed')]
    if status == 77:
        return [Result(name, 'skipped', output.strip().splitlines()[-1])]
    if status is None:
        output = f'no end after {limit} s\n' + output
    return [Result(name, 'failed', output)]


def python_jobs(args, env, folder):
    """Each function in a process of its own."""
    for suite, command, known in list_python(folder, env):
        if known is None:
            def broken(suite=suite, listing=command):
                return [Result(suite, 'failed', 'cannot be loaded\n' + listing)]
            yield Job(suite, broken)
            continue
        function, limit, alone = known[:3]
        name = f'{suite}/{function[len("test_"):]}'
        if args.filter and not any(f in name for f in args.filter):
            continue

        def run(name=name, command=command, function=function, limit=int(limit)):
            return run_python(name, command, function, limit, env)
        yield Job(name, run, alone == 'alone')
