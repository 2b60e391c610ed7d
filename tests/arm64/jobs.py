# SPDX-License-Identifier: Apache-2.0
"""One job for each arm64 machine: boot it, put the programs there, run what is for it, take it down.
"""

import io
import os
import subprocess
import tarfile

from suites import TESTS, Job, Result, list_python, read_tap, run_process, run_python

from . import machines

UNIT_LIMIT_S = 900
PROGRAMS = ('workloads/memlat', 'tests/programs/spin', 'tests/programs/threads',
            'tests/programs/forker', 'tests/programs/inline')
# No test there may be left out for want of perf_event_open: that is what the machine is for.
NO_EXCUSE = 'perf_event_open'


def wanted(args, name):
    return not args.filter or any(part in name for part in args.filter)


def pack(files):
    """A tar of path there: path here."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w:gz', compresslevel=1) as tar:
        for there, here in files.items():
            tar.add(here, there)
    return out.getvalue()


def strip(path, folder):
    """Without debug information the copy takes a third of the time."""
    out = folder / path.name
    subprocess.run(['aarch64-linux-gnu-strip', '-o', out, path], check=True)
    return out


def put_programs(machine, build):
    # On an arm64 machine what is native will do.
    cross = build if os.uname().machine == 'aarch64' else build / 'aarch64'
    files = {'culprit-agent': build / 'culprit-agent-aarch64'}
    for path in PROGRAMS:
        files[path.rsplit('/', 1)[1]] = cross / path
        files['unit/programs/' + path.rsplit('/', 1)[1]] = cross / path
    if machine.unit:
        folder = machines.CACHE / 'run' / machines.NAME / 'stripped'
        folder.mkdir(exist_ok=True)
        for name in machine.unit:
            files[f'unit/test-{name}'] = strip(cross / 'tests' / f'test-{name}', folder)
        files['source/tests/corpus'] = TESTS / 'corpus'
        files['source/tests/targets'] = TESTS / 'targets'
        files['source/recipes'] = TESTS.parent / 'recipes'
    missing = [str(path) for path in files.values() if not path.exists()]
    if missing:
        raise machines.Trouble(f'not built: {", ".join(missing)} (make all)')
    # Interrupts take long on an emulated core; the kernel would lower the highest rate, to 250 Hz
    # in the end.
    machines.tool(machine, 'ssh', 'sysctl -q -w kernel.perf_cpu_time_max_percent=0 && '
                  'tar -C /tmp -xzf - --no-same-owner', data=pack(files), limit=120)


def unit_names(machine, folder):
    """Those of a folder that mean something on this machine."""
    listed = machines.tool(machine, 'ssh', f'/tmp/unit/test-{folder} -l').split()
    return [name for name in listed if not name.startswith(machines.SLOW) and
            name.startswith(machines.TIMED) == (machine.name == 'exact')]


def unit_results(machine, folder, env):
    suite = f'arm64/{machine.name}/unit/{folder}'
    names = unit_names(machine, folder)
    # At 2, as most systems have it, the tests of an ordinary user's rights have something to test.
    line = ('sysctl -q -w kernel.perf_event_paranoid=2; '
            f'cd /tmp/unit && CULPRIT_SOURCE_ROOT=/tmp/source ./test-{folder} -t 240 '
            f'{" ".join(names)}; status=$?; sysctl -q -w kernel.perf_event_paranoid=3; '
            'exit $status')
    status, output = run_process([machines.TOOL, 'ssh', line], UNIT_LIMIT_S, env)
    if status is None:
        output += '\non its console:\n' + machines.tool(machine, 'log')[-2000:]
    results = read_tap(suite, status, output)
    for result in results:
        if result.outcome == 'skipped' and result.detail.startswith(NO_EXCUSE):
            result.outcome = 'failed'
    return results


def run_machine(args, env, machine, folders, tests):
    env = {**env, **machines.environment(machine)}
    with machines.Running(machine):
        put_programs(machine, args.build)
        results = []
        for name, command, function, limit in tests:
            results += run_python(name, command, function, limit, env)
        for folder in folders:
            results += unit_results(machine, folder, env)
        return results


def machine_jobs(args, env):
    tests = {name: [] for name in machines.MACHINES}
    for suite, command, known in list_python('arm64', env):
        if known is None:
            def broken(suite=suite, listing=command):
                return [Result(suite, 'failed', 'cannot be loaded\n' + listing)]
            yield Job(suite, broken, True)
            continue
        function, limit, _, *names = known
        for machine in names:
            name = f'arm64/{machine}/{suite.rsplit("/", 1)[1]}/{function[len("test_"):]}'
            if wanted(args, name):
                tests[machine].append((name, command, function, int(limit)))
    for name, machine in machines.MACHINES.items():
        folders = [f for f in machine.unit if wanted(args, f'arm64/{name}/unit/{f}')]
        if not folders and not tests[name]:
            continue

        def run(machine=machine, folders=folders, tests=tests[name]):
            try:
                return run_machine(args, env, machine, folders, tests)
            except machines.Trouble as e:
                return [Result(f'arm64/{machine.name}', 'failed', str(e))]
        yield Job(f'arm64/{name}', run, True)
