# SPDX-License-Identifier: Apache-2.0
"""What tests on an arm64 machine are written with, beside harness.py.

    from guest import guest, on, on_target

    @on('plain', 'acpi')
    def test_its_name():
        assert guest('uname', '-m').strip() == 'aarch64'

A test runs once on each machine that it names (machines.py).
"""

import os
import shlex

import harness
import machines

ANALYSIS_LIMIT_S = 180


def on(*names):
    """The machines a test is for; none: all."""
    def mark(function):
        function.machines = names or tuple(machines.MACHINES)
        function.limit_s = getattr(function, 'limit_s', ANALYSIS_LIMIT_S)
        return function
    return mark


def machine():
    """The one that runs now."""
    return machines.MACHINES[os.environ['ARM64_MACHINE']]


def guest(*command, user='root', shell=None):
    """The output of a command there: words, or a line for its shell."""
    line = shell or ' '.join(shlex.quote(str(word)) for word in command)
    return machines.tool(machine(), 'ssh', line, user=user, limit=ANALYSIS_LIMIT_S)


def paranoid(level):
    guest('sysctl', '-q', '-w', f'kernel.perf_event_paranoid={level}')


def on_target(*args, user='root', **how):
    """culprit here, its agent there."""
    return harness.culprit(*args, env={'CULPRIT_AGENT_DIR': machines.agent_folder(user)}, **how)


def json_on_target(*args, user='root', status=(0, 3)):
    return harness.culprit_json(*args, status=status,
                                env={'CULPRIT_AGENT_DIR': machines.agent_folder(user)})


def probe(user='root'):
    """What the agent says of the machine: its lines by their first word."""
    out = {}
    for line in guest('/tmp/culprit-agent', 'probe', user=user).splitlines():
        key, _, value = line.partition(' ')
        out.setdefault(key, []).append(value)
    return out


def check(user='root'):
    """culprit check of the machine, as JSON."""
    path = harness.tmpdir() / f'probe-{user}'
    path.write_text(guest('/tmp/culprit-agent', 'probe', user=user))
    return harness.culprit_json('check', '-i', path, status=0)


def share(report, function, without=()):
    """self_pct of a function among what is neither below the functions in without nor elsewhere."""
    rows = report['tables']['functions']
    rest = 100 - sum(row['total_pct'] for row in rows if row['function'] in without)
    return 100 * sum(row['self_pct'] for row in rows if row['function'] == function) / rest
