# SPDX-License-Identifier: Apache-2.0
"""The unit test runner does what its tests rely on: a failure fails, a crash and a hang too."""

import os
import re

from harness import BUILD, run, tmpdir


def tap(*args, **how):
    result = run(BUILD / 'tests/runner/self-runner', *args, **how)
    lines = [re.match(r'(not ok|ok) \d+ - (\S+)(.*)', line) for line in result.out.splitlines()]
    return result, {m[2]: (m[1], m[3]) for m in lines if m}


def block(result, name):
    """What was printed for one test."""
    lines = result.out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.split()[-1] == name)
    end = next((i for i in range(at + 1, len(lines)) if not lines[i].startswith('#')), len(lines))
    return '\n'.join(lines[at:end])


def test_each_ends_as_its_name_says():
    result, tests = tap()
    assert result.status == 1, result
    assert result.out.startswith(f'1..{len(tests)}\n'), result
    assert len(tests) >= 16, result
    for name, (word, rest) in tests.items():
        assert (word == 'not ok') == name.startswith('fail_'), (name, result)
        assert ('# SKIP' in rest) == name.startswith('skip_'), (name, result)


def test_order_is_that_of_the_source():
    result, tests = tap()
    names = list(tests)
    assert names.index('pass_all_checks') == 0, result
    assert names.index('fail_crash') < names.index('fail_timeout'), result


def test_reasons_are_shown():
    result, tests = tap()
    assert tests['skip_with_reason'][1].strip() == '# SKIP no unicorn here', result
    assert 'self-runner.c:' in block(result, 'fail_check'), result
    assert '1 + 1 == 3' in block(result, 'fail_check'), result
    assert '7 is 7, -7 is -7' in block(result, 'fail_eq_int'), result
    assert '0xff' in block(result, 'fail_eq_u64'), result
    assert '"left"' in block(result, 'fail_eq_str'), result
    assert 'byte 2 of 3' in block(result, 'fail_eq_mem'), result
    assert 'nan' in block(result, 'fail_near_nan'), result
    assert 'no end after 1 s' in block(result, 'fail_timeout'), result
    assert 'exited by itself with status 0' in block(result, 'fail_exit_zero'), result


def test_crash_is_a_failure():
    result, _ = tap()
    assert 'signal 6' in block(result, 'fail_crash') or 'Abort' in result.out, result


def test_filter_and_good_status():
    result, tests = tap('pass_')
    assert result.status == 0, result
    assert set(tests) == {'pass_all_checks', 'pass_guard', 'pass_tmpdir', 'pass_source'}, result


def test_tmpdir_is_removed():
    result, _ = tap('-v', 'pass_tmpdir', env={'TMPDIR': tmpdir()})
    path = re.search(r'tmpdir=(\S+)', result.out)[1]
    assert path.startswith(str(tmpdir())), result
    assert not os.path.exists(path), result
