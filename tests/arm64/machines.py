# SPDX-License-Identifier: Apache-2.0
"""The arm64 machines that tests run on: what they are, and how they are started and taken down."""

import fcntl
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOL = ROOT / 'tools' / 'arm64-target'
CACHE = Path(os.environ.get('ARM64_CACHE') or ROOT / 'build' / 'arm64-target')
NAME = 'tests'
USERS = ('root', 'user')
BUILD_LIMIT_S = 600
UP_LIMIT_S = 300
NEOVERSE_N1 = 0x414fd0c1
NEOVERSE_V2 = 0x410fd4f1


class Machine:
    """One configuration: settings for the tool, and what is true of the machine then."""

    def __init__(self, name, settings, counters=6, midr=NEOVERSE_N1, core='Neoverse N1',
                 page=4096, acpi=False, unit=()):
        self.name = name
        self.settings = settings
        self.counters = counters  # programmable ones; None: there is no PMU
        self.midr = midr
        self.core = core
        self.page = page
        self.acpi = acpi
        self.unit = unit  # folders whose unit tests run there


ALL_UNIT = ('base', 'wire', 'target', 'decode', 'agent', 'capture')
MACHINES = {machine.name: machine for machine in (
    Machine('plain', {}, unit=ALL_UNIT),
    # Time goes with instructions: counts are exact, and samples fall on the instruction they mean.
    Machine('exact', {'ARM64_ICOUNT': 'shift=1'}, unit=('capture',)),
    Machine('counters-2', {'ARM64_COUNTERS': '2', 'ARM64_CPU': 'neoverse-n1,midr=0x410fd4f1'},
            counters=2, midr=NEOVERSE_V2, core='Neoverse V2'),
    Machine('counters-1', {'ARM64_COUNTERS': '1'}, counters=1),
    Machine('counters-0', {'ARM64_COUNTERS': '0'}, counters=0),
    Machine('no-pmu', {'ARM64_PMU': 'off'}, counters=None),
    Machine('acpi', {'ARM64_BOOT': 'acpi', 'ARM64_CPU': 'neoverse-n1,midr=0x410fd4f1'},
            midr=NEOVERSE_V2, core='Neoverse V2', acpi=True),
    Machine('pages-16k', {'ARM64_KERNEL': 'linux-image-6.12-arm64-16k'}, page=16384,
            unit=('capture',)),
    # All that the emulator can do, SVE among it, under an identity that no table has.
    Machine('unknown-core', {'ARM64_CPU': 'max,midr=0x410ffe10'}, midr=0x410ffe10, core=None),
)}

# Unit tests that time things or count samples per second. An emulated core loses timer ticks and
# takes a hundred times as long for a system call, so they say something only where time goes with
# instructions.
TIMED = ('attach_until_it_ends', 'attach_threads_born_later', 'launch_by_period',
         'launch_compressed', 'launch_counts_', 'launch_dwarf_dumps_stacks',
         'launch_follows_children_and_threads', 'launch_is_quick', 'launch_wraps_rings',
         'overhead_', 'unprivileged_launch')

# perf itself takes a minute there for what these compare with it.
SLOW = ('oracle_chains_and_two_events', 'oracle_group_with_counts', 'oracle_one_event',
        'oracle_written_again')


class Trouble(Exception):
    """The machine cannot be had; the text is for people."""


def environment(machine, user='root'):
    """For the tool, and for the tests on the machine."""
    env = {key: value for key, value in os.environ.items() if not key.startswith('ARM64_')}
    return {**env, **machine.settings, 'ARM64_CACHE': str(CACHE), 'ARM64_NAME': NAME,
            'ARM64_USER': user, 'ARM64_MACHINE': machine.name}


def tool(machine, *words, user='root', limit=60, data=None):
    """Runs the tool; its output as text. Trouble when it fails."""
    try:
        done = subprocess.run([TOOL, *words], env=environment(machine, user), input=data,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limit,
                              check=False, stdin=None if data is not None else subprocess.DEVNULL)
    except subprocess.TimeoutExpired as e:
        raise Trouble(f'arm64-target {words[0]}: no end after {limit} s\n'
                      f'{(e.stdout or b"").decode(errors="replace")}') from None
    text = done.stdout.decode(errors='replace')
    if done.returncode:
        raise Trouble(f'arm64-target {" ".join(words)}: status {done.returncode}\n{text}')
    return text


def agent_folder(user):
    """Where culprit finds an agent of its own machine's name that is in truth the one there."""
    return CACHE / 'run' / NAME / f'agent-{user}'


def make_agent_folders():
    for user in USERS:
        folder = agent_folder(user)
        folder.mkdir(parents=True, exist_ok=True)
        script = folder / f'culprit-agent-{os.uname().machine}'
        # The descriptors that culprit offers to a local agent do not reach that far.
        script.write_text('#!/bin/sh\n'
                          f'ARM64_CACHE="{CACHE}" ARM64_NAME={NAME} ARM64_USER={user} \\\n'
                          f'\texec "{TOOL}" ssh /tmp/culprit-agent serve\n')
        script.chmod(0o755)


class Running:
    """A with block in which the machine runs. One at a time, whoever else starts tests."""

    def __init__(self, machine):
        self.machine = machine
        self.lock = None

    def __enter__(self):
        CACHE.mkdir(parents=True, exist_ok=True)
        self.lock = open(CACHE / 'lock', 'w', encoding='ascii')
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            # One that was left behind, by a run that was killed.
            tool(self.machine, 'down')
            tool(self.machine, 'build', limit=BUILD_LIMIT_S)
            for user in USERS:
                tool(self.machine, 'up', user=user, limit=UP_LIMIT_S)
            make_agent_folders()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            tool(self.machine, 'down')
        finally:
            self.lock.close()
