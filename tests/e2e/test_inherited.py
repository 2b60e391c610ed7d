# SPDX-License-Identifier: Apache-2.0
"""What the workload inherits through culprit: the same as without it."""

import json
import os
import subprocess

from harness import BUILD, home, timeout, tmpdir


def both(script, listing):
    """How a shell command ends that a script starts as "$@": by itself, and under culprit."""
    culprit_run = [str(BUILD / 'culprit'), 'run', 'code_hotspots', '-e', 'cpu-clock', '-F', '997',
                   '-q', '--json', '--output', str(tmpdir() / 'r.json'), '--']
    burn = '; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
    env = dict(os.environ, CULPRIT_HOME=str(home()))
    return (subprocess.run(['sh', '-c', script, 'sh', *words, 'sh', '-c', listing + burn], env=env,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=50)
            for words in ([], culprit_run))


@timeout(60)
def test_descriptors_of_the_user():
    """3 and up reach the workload, and none of culprit's own does."""
    given = tmpdir() / 'given'
    given.write_text('from three\n')
    want, got = both(f'exec 3<{given} 5>/dev/null 9</dev/null; "$@"', 'cat <&3; ls /proc/self/fd')
    assert want.stdout.startswith('from three\n0\n1\n2\n3\n'), want
    assert got.stdout == want.stdout, (got, want)
    assert json.loads((tmpdir() / 'r.json').read_text())['recipe'] == 'code_hotspots'


@timeout(60)
def test_signals_that_the_user_ignored():
    """By nohup, or by a shell for what it starts with &."""
    want, got = both("trap '' HUP; \"$@\" & wait", "sed -n 's/^SigIgn://p' /proc/self/status")
    assert int(want.stdout, 16) & 7 == 7, want
    assert got.stdout == want.stdout, (got, want)
