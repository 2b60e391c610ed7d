# SPDX-License-Identifier: Apache-2.0
"""What the user names: pipes to read from, files to write to, and empty words."""

import os
import subprocess

from harness import BUILD, culprit, culprit_json, home, program, run, timeout, tmpdir
from reports import share
from test_check import GRAVITON, check
from test_commands import CLOCK, runs_left


@timeout(60)
def test_pipes_to_check_and_recipe():
    # Nobody writes yet when they are opened.
    slow = f'{{ sleep 0.3; printf "%s" "{GRAVITON}"; }}'
    for words in f'-i <({slow})', f'-i /dev/stdin < <({slow})', f'-i - < <({slow})':
        result = run('bash', '-c', f'{BUILD}/culprit check --json {words}')
        assert result.status == 0 and result.json()['target']['hostname'] == 'box', result
    fifo = tmpdir() / 'fifo'
    os.mkfifo(fifo)
    with subprocess.Popen(['sh', '-c', f'sleep 0.3; cat > {fifo}'], stdin=subprocess.PIPE) as writer:
        writer.stdin.write(GRAVITON.encode())
        writer.stdin.close()
        assert check('--json', '-i', fifo).json()['target']['hostname'] == 'box'
    recipe = tmpdir() / 'mine.recipe'
    recipe.write_text(culprit('recipe', 'show', 'memory_access').out)
    for words in 'check <(sleep 0.2; cat {})', 'show --json <(sleep 0.2; cat {})':
        result = run('bash', '-c', f'{BUILD}/culprit recipe {words.format(recipe)}')
        assert result.status == 0 and 'memory_access' in result.out, result
    assert result.json()['text'] == recipe.read_text()


@timeout(60)
def test_pipes_to_run_and_report():
    recipe = tmpdir() / 'mine.recipe'
    recipe.write_text(culprit('recipe', 'show', 'code_hotspots').out)
    command = f'{BUILD}/culprit run <(sleep 0.2; cat {recipe}) {" ".join(CLOCK)} --json'
    result = run('bash', '-c', f'{command} -- {program("spin")} 400')
    assert share(result.json(), 'hot_a') > 40, result
    # The run has the recipe, which cannot be read again.
    kept = culprit_json('report')
    assert kept['tables'] == result.json()['tables'], kept
    capture = next((home() / 'runs').glob('*/capture/perf.data'))
    fifo = tmpdir() / 'fifo'
    os.mkfifo(fifo)
    with subprocess.Popen(['sh', '-c', f'sleep 0.3; cat {capture} > {fifo}']):
        assert culprit_json('report', '-i', fifo)['tables'] == \
            culprit_json('report', '-i', capture)['tables']
    # What a run's folder has under the recipe's name may be anybody's, and is not waited for.
    own = next((home() / 'runs').glob('*/*.recipe'))
    own.unlink()
    os.mkfifo(own)
    assert culprit_json('report')['tables'] == kept['tables']


@timeout(60)
def test_output_to_what_is_no_regular_file():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '300')
    real = tmpdir() / 'real'
    link = tmpdir() / 'link'
    real.write_text('old')
    link.symlink_to(real)
    assert culprit('report', '--output', link).status in (0, 3)
    assert link.is_symlink() and 'hot_a' in real.read_text()
    fifo = tmpdir() / 'fifo'
    os.mkfifo(fifo)
    reader = subprocess.Popen(['cat', str(fifo)], stdout=subprocess.PIPE)
    assert culprit('report', '--output', fifo).status in (0, 3)
    assert b'hot_a' in reader.communicate(timeout=10)[0]
    result = culprit('run', 'code_hotspots', '--output', tmpdir() / 'none' / 'x', '--', 'true')
    assert result.status == 1 and '--output' in result.err, result
    assert len(runs_left()) == 1


def output_error(result, what):
    assert result.status == 1, result
    error = result.json()['error']
    assert error['id'] == 'OUTPUT_NOT_WRITTEN' and what in error['message'], result
    assert 'CULPRIT_HOME' not in error['remedy'] + result.err, result
    return error


def test_output_that_cannot_be_written():
    path, old = tmpdir() / 'r.json', tmpdir() / 'old.json'
    probe = tmpdir() / 'probe.txt'
    probe.write_text(GRAVITON)
    link = tmpdir() / 'link'
    link.symlink_to(old)
    old.write_text('old')
    # A file may have 1024 bytes: too few for the result, enough for the error.
    for name in path, old, link:
        result = run('sh', '-c', f'ulimit -f 1; {BUILD}/culprit check --json -i {probe} '
                     f'--output {name}')
        error = output_error(result, 'File too large')
        assert 'ulimit -f' in error['remedy'], error
    assert not path.exists() and old.read_text() == 'old' and link.is_symlink()
    assert sorted(p.name for p in tmpdir().iterdir()) == ['link', 'old.json', 'probe.txt']
    error = output_error(culprit('check', '--json', '-i', probe, '--output', '/dev/full'),
                         'No space left')
    assert 'disk of /dev/full' in error['remedy'] and '--output' in error['remedy'], error
    error = output_error(culprit('check', '--json', '-i', probe, '--output', tmpdir() / 'no' / 'x'),
                         'No such file')
    error = output_error(culprit('run', 'code_hotspots', '--json', '--output', tmpdir(), '--',
                                 'true'), 'Is a directory')
    assert not runs_left()
    # A link that stays, to a file that is replaced.
    assert culprit('check', '--json', '-i', probe, '--output', link).status == 0
    assert link.is_symlink() and old.read_text().startswith('{\n  "format": 1')
    # Another error than that of the file goes where the result would have gone.
    result = culprit('check', '--json', '-i', tmpdir() / 'missing', '--output', path)
    assert result.status == 1 and not result.out and '"NOT_FOUND"' in path.read_text(), result


def test_empty_names():
    for words, text in ((('check', '--output', ''), '--output is empty'),
                        (('check', '-i', ''), '-i is empty'),
                        (('check', '--root='), '--root is empty'),
                        (('recipe', 'check', ''), 'the name of the recipe is empty'),
                        (('recipe', 'show', ''), 'the name of the recipe is empty'),
                        (('run', '', '--', 'true'), 'the name of the recipe is empty')):
        result = culprit(*words)
        assert result.status == 2 and result.err.startswith(f'culprit: {text}\n'), result
