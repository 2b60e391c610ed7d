# SPDX-License-Identifier: Apache-2.0
"""tests/run counts, shows and judges as it says, in a tree made for it."""

import shutil

from harness import run, source, tmpdir

UNIT = '''#!/bin/sh
echo 1..3
echo ok 1 - good
echo 'ok 2 - later # SKIP no machine'
echo not ok 3 - bad
echo '# reason of bad'
exit 1
'''
E2E = '''
import os, time
from harness import alone, skip, timeout, home

def test_good():
    assert os.path.isdir(home())

def test_bad():
    assert 1 == 2, 'reason of bad e2e'

def test_skipped():
    skip('reason of skip')

@timeout(1)
def test_hangs():
    time.sleep(30)

@alone
def test_alone():
    os._exit(3)
'''


def tests_run(files, *args):
    top = tmpdir() / 'tree'
    shutil.rmtree(top, ignore_errors=True)
    (top / 'tests/e2e').mkdir(parents=True)
    shutil.copy(source('tests/run'), top / 'tests/run')
    shutil.copy(source('tests/suites.py'), top / 'tests/suites.py')
    shutil.copytree(source('tests/arm64'), top / 'tests/arm64')
    shutil.copy(source('tests/e2e/harness.py'), top / 'tests/e2e/harness.py')
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return run(top / 'tests/run', '--build', top / 'build', *args)


def last(result):
    return result.out.splitlines()[-1]


def test_no_test_is_a_failure():
    result = tests_run({})
    assert result.status != 0 and last(result) == '0 passed, 0 failed', result


def test_only_skipped_is_a_failure():
    result = tests_run({'build/tests/test-x': '#!/bin/sh\necho 1..1\n'
                                                     'echo "ok 1 - a # SKIP b"\n'})
    assert result.status != 0 and last(result) == '0 passed, 0 failed, 1 skipped', result


def test_unit_results():
    result = tests_run({'build/tests/test-x': UNIT})
    assert result.status == 1 and last(result) == '1 passed, 1 failed, 1 skipped', result
    assert 'unit/x/later: no machine' in result.out, result
    assert 'FAILED unit/x/bad\n  reason of bad' in result.out, result


def test_broken_plan_is_a_failure():
    for text in ('echo 1..2; echo ok 1 - a', 'echo ok 1 - a', 'echo 1..1; echo ok 1 - a; exit 3',
                 'echo 1..1; echo not ok 1 - a', 'kill -9 $$'):
        result = tests_run({'build/tests/test-x': '#!/bin/sh\n' + text + '\n'})
        assert result.status == 1 and ', 0 failed' not in last(result), (text, result)


def test_e2e_results():
    result = tests_run({'tests/e2e/test_x.py': E2E})
    assert result.status == 1 and last(result) == '1 passed, 3 failed, 1 skipped', result
    assert 'e2e/x/skipped: reason of skip' in result.out, result
    assert 'reason of bad e2e' in result.out, result
    assert 'no end after 1 s' in result.out, result
    assert 'FAILED e2e/x/alone' in result.out, result


def test_e2e_that_cannot_be_loaded():
    for text in ('import nothing_of_this_name\n', 'x = 1\n'):
        result = tests_run({'tests/e2e/test_x.py': text})
        assert result.status == 1 and last(result) == '0 passed, 1 failed', result


def test_corpus():
    replay = '#!/bin/sh\ngrep -q bad "$@" && exit 1\nexit 0\n'
    result = tests_run({'build/tests/fuzz/replay-x': replay, 'tests/corpus/x/a': 'good'})
    assert result.status == 0 and last(result) == '1 passed, 0 failed', result
    result = tests_run({'build/tests/fuzz/replay-x': replay, 'tests/corpus/x/b': 'bad'})
    assert result.status == 1 and last(result) == '0 passed, 1 failed', result


def test_filter():
    result = tests_run({'tests/e2e/test_x.py': E2E}, '--filter', 'good')
    assert result.status == 0 and last(result) == '1 passed, 0 failed', result
