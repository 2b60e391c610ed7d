# SPDX-License-Identifier: Apache-2.0
"""Commands, streams, exit codes, signals and bad input."""

import json
import os
import pty
import signal
import subprocess
import time
from pathlib import Path

from harness import BUILD, culprit, culprit_json, home, need, program, run, skip, timeout, tmpdir
from reports import note_ids, share

CLOCK = ('-e', 'cpu-clock', '-F', '997')


def start(*args, **how):
    """culprit in the background with this test's home."""
    env = dict(os.environ, CULPRIT_HOME=str(home()), LC_ALL='C.UTF-8', NO_COLOR='1')
    return subprocess.Popen([str(BUILD / 'culprit'), *map(str, args)], env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)


def runs_left():
    return sorted(p.name for p in (home() / 'runs').glob('*')) if (home() / 'runs').exists() else []


def processes_named(text):
    found = []
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        try:
            if text in path.read_bytes().replace(b'\0', b' ').decode(errors='replace'):
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def test_overview_and_help():
    assert culprit('--help').status == 0
    assert culprit().status == 2
    assert culprit('--version').out.startswith('culprit ')
    text = culprit('run', '--help')
    assert text.status == 0 and 'Examples:' in text.out and '--for TIME' in text.out


def test_unknown_words():
    result = culprit('reprot')
    assert result.status == 2 and 'did you mean culprit report' in result.err, result
    result = culprit('run', 'code_hotspot', '--', 'true')
    assert result.status in (1, 2) and 'code_hotspots' in result.err, result
    result = culprit('run', 'code_hotspots', '--jason', '--', 'true')
    assert result.status == 2 and '--json' in result.err, result
    result = culprit('run', 'code_hotspots')
    assert result.status == 2 and 'nothing to record' in result.err, result
    assert not runs_left()


def test_command_not_found_leaves_nothing():
    result = culprit('run', 'code_hotspots', '--', 'no-such-command-here')
    assert result.status == 1, result
    assert 'no-such-command-here' in result.err and 'not found' in result.err, result
    assert not runs_left()
    report = culprit('run', 'code_hotspots', '--json', '--', './nowhere/prog')
    assert report.json()['error']['id'] == 'NOT_FOUND', report
    assert report.json()['error']['message']


def test_command_not_executable():
    path = tmpdir() / 'plain.txt'
    path.write_text('text')
    result = culprit('run', 'code_hotspots', '--', path)
    assert result.status == 1 and 'executable' in result.err, result
    result = culprit('run', 'code_hotspots', '--', tmpdir())
    assert result.status == 1 and 'director' in result.err, result


def test_pid_that_does_not_exist():
    result = culprit('run', 'code_hotspots', '--pid', 4194303)
    assert result.status in (1, 4), result
    assert '4194303' in result.err, result
    assert not runs_left()


def test_home_not_writable():
    path = tmpdir() / 'file'
    path.write_text('')
    result = culprit('run', 'code_hotspots', '--', 'true', env={'CULPRIT_HOME': path})
    assert result.status == 1 and 'CULPRIT_HOME' in result.err, result


def test_too_little_is_said():
    result = culprit('run', 'code_hotspots', *CLOCK, '--json', '--', 'true')
    assert result.status in (1, 5), result
    report = result.json()
    assert report.get('error', {}).get('id') == 'NO_SAMPLES' or \
        report['evidence']['verdict'] == 'unusable', report


@timeout(60)
def test_streams_of_the_workload():
    script = 'cat; echo out; echo err >&2; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'
    result = culprit('run', 'code_hotspots', *CLOCK, '-q', '--output', tmpdir() / 'r.json',
                     '--json', '--', 'sh', '-c', script, stdin='given\n')
    assert result.out == 'given\nout\n', result
    assert result.err == 'err\n', result
    assert json.loads((tmpdir() / 'r.json').read_text())['recipe'] == 'code_hotspots'
    result = culprit('run', 'code_hotspots', *CLOCK, '-q', '--json', '--', 'sh', '-c', script,
                     stdin='given\n')
    assert result.json()['recipe'] == 'code_hotspots'
    assert result.err == 'given\nout\nerr\n', result


@timeout(60)
def test_status_of_the_workload():
    burn = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; '
    result = culprit('run', 'code_hotspots', *CLOCK, '--', 'sh', '-c', burn + 'exit 7')
    assert result.status in (0, 3) and 'status 7' in result.err, result
    result = culprit('run', 'code_hotspots', *CLOCK, '--pass-status', '--', 'sh', '-c',
                     burn + 'exit 7')
    assert result.status == 7, result
    result = culprit('run', 'code_hotspots', *CLOCK, '--pass-status', '--json', '--', 'sh', '-c',
                     burn + 'kill -KILL $$')
    assert result.status == 128 + 9, result
    assert result.json()['workload']['signal'] == 9, result.json()['workload']


@timeout(60)
def test_kill_int_keeps_the_run():
    p = start('run', 'code_hotspots', *CLOCK, '--', program('spin'), 30000)
    time.sleep(1.5)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    assert p.returncode == 3, (p.returncode, err)
    assert b'hot_a' in out, out
    assert not processes_named('spin 30000')
    report = culprit_json('report', status=3)
    assert share(report, 'hot_a') > 45
    assert 'PARTIAL' in note_ids(report), report['notes']
    assert report['evidence']['partial'] is True and report['evidence']['verdict'] == 'weak'
    listed = culprit_json('runs')['runs']
    assert listed[0]['state'] == 'partial'


@timeout(60)
def test_kill_term_keeps_the_run():
    p = start('run', 'code_hotspots', *CLOCK, '--', program('spin'), 33000)
    time.sleep(1.2)
    p.terminate()
    p.communicate(timeout=20)
    assert p.returncode == 3
    assert not processes_named('spin 33000')


@timeout(60)
def test_killed_host_leaves_a_readable_run_and_no_process():
    p = start('run', 'code_hotspots', *CLOCK, '--', program('spin'), 31000)
    time.sleep(1.5)
    p.kill()
    p.communicate(timeout=10)
    for _ in range(60):
        if not processes_named('spin 31000') and not processes_named('culprit-agent'):
            break
        time.sleep(0.1)
    assert not processes_named('spin 31000')
    result = culprit('report', '--json')
    assert result.status == 3, result
    assert result.json()['evidence']['samples'] > 300
    assert result.json()['evidence']['verdict'] == 'weak'


@timeout(60)
def test_killed_agent_keeps_what_was_recorded():
    p = start('run', 'code_hotspots', *CLOCK, '--', program('spin'), 32000)
    time.sleep(1.5)
    children = Path(f'/proc/{p.pid}/task/{p.pid}/children').read_text().split()
    os.kill(int(children[0]), signal.SIGKILL)
    out, err = p.communicate(timeout=20)
    assert p.returncode == 3, (p.returncode, err)
    assert b'hot_a' in out, (out, err)
    for _ in range(50):
        if not processes_named('spin 32000'):
            break
        time.sleep(0.1)
    assert not processes_named('spin 32000')


@timeout(60)
def test_disk_full_keeps_what_was_recorded():
    disk = tmpdir() / 'disk'
    disk.mkdir()
    if run('mount', '-t', 'tmpfs', '-o', 'size=700k', 'none', disk).status:
        skip('no tmpfs can be mounted here')
    try:
        result = culprit('run', 'code_hotspots', '-e', 'cpu-clock', '-F', '5000', '--json', '--',
                         program('spin'), '20000', env={'CULPRIT_HOME': disk})
        assert result.status == 3, result
        assert 'space' in result.err, result
        report = result.json()
        assert 'PARTIAL' in note_ids(report), report['notes']
        assert report['evidence']['samples'] > 1000
        assert not processes_named('spin 20000')
    finally:
        run('umount', '-l', disk)


@timeout(60)
def test_unprivileged_user():
    need('setpriv')
    where = tmpdir() / 'nobody'
    where.mkdir()
    os.chmod(where, 0o777)
    for path in (home(), tmpdir()):
        os.chmod(path, 0o755)
    result = run('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--',
                 BUILD / 'culprit', 'run', 'code_hotspots', *CLOCK, '--json', '--',
                 program('spin'), '800', env={'CULPRIT_HOME': where / 'home'})
    paranoid = int(Path('/proc/sys/kernel/perf_event_paranoid').read_text())
    if 'ermission denied' in result.err and not result.out:
        skip('the build folder cannot be reached by another user')
    if paranoid > 2:
        assert result.status == 4, result
        assert result.json()['error']['id'] == 'PERF_EVENT_PARANOID'
        return
    report = result.json()
    assert share(report, 'hot_a') > 45, result
    if paranoid == 2:
        assert 'KERNEL_EXCLUDED' in note_ids(report), report['notes']
        assert 'perf_event_paranoid' in json.dumps(report['notes'])
    denied = run('setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--',
                 BUILD / 'culprit', 'run', 'code_hotspots', '-a', '--for', '1s', '--json',
                 env={'CULPRIT_HOME': where / 'home'})
    if paranoid >= 1:
        assert denied.status == 4, denied
        assert denied.json()['error']['id'] == 'PERF_EVENT_PARANOID', denied
        assert 'kernel.perf_event_paranoid' in denied.json()['error']['remedy']


@timeout(60)
def test_interactive_shell_on_a_terminal():
    need('bash')
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(CULPRIT_HOME=str(home()), TERM='xterm', PS1='$ ', LC_ALL='C.UTF-8')
        os.execv(BUILD / 'culprit', ['culprit', 'run', 'code_hotspots', *CLOCK, '--', 'bash',
                                     '--norc', '-i'])
    seen = b''

    def expect(text, limit=15):
        nonlocal seen
        end = time.time() + limit
        while text not in seen:
            assert time.time() < end, (text, seen)
            try:
                seen += os.read(fd, 65536)
            except OSError:
                break
        assert text in seen, (text, seen)

    def type_in(text):
        nonlocal seen
        seen = b''
        os.write(fd, text)

    expect(b'$ ')
    type_in(b'echo $((6*7)) is it\n')
    expect(b'42 is it')
    type_in(b'for i in $(seq 300000); do :; done\n')
    time.sleep(0.2)
    type_in(b'sleep 30\n')
    time.sleep(1.5)
    type_in(b'\x03')      # the job control of the inner shell takes it
    expect(b'$ ')
    type_in(b'tty && echo still-here\n')
    expect(b'still-here')
    type_in(b'exit 0\n')
    expect(b'evidence', 20)
    _, status = os.waitpid(pid, 0)
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) in (0, 3), (status, seen)
    assert b'bash' in seen


@timeout(60)
def test_json_whatever_the_command_prints():
    for text in '{"x": [', '\x00\x1b[2J\xff', '}\n{':
        result = culprit('run', 'code_hotspots', *CLOCK, '--json', '--', 'python3', '-c',
                         f'import sys; sys.stdout.write({text!r}); sum(range(20000000))')
        assert result.json()['recipe'] == 'code_hotspots'


@timeout(60)
def test_for_ends_a_launched_workload():
    begin = time.time()
    report = culprit_json('run', 'code_hotspots', *CLOCK, '--for', '1s', '--', program('spin'),
                          '34000', status=3)
    assert time.time() - begin < 6
    assert not processes_named('spin 34000')
    assert 200 < report['evidence']['samples'] < 1300


@timeout(60)
def test_store_commands():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '700')
    listed = culprit_json('runs')['runs']
    assert len(listed) == 1 and listed[0]['state'] == 'complete'
    name = listed[0]['id']
    assert 'spin 700' in listed[0]['command']
    assert name in culprit('runs').out
    shown = culprit_json('show', name)
    assert shown['run'] == name and shown['target']['kernel'] == os.uname().release
    assert 'settings' in culprit('show').out
    rows = culprit_json('query', name, 'SELECT name, self FROM v1_functions ORDER BY self DESC')
    assert rows['tables']['query'][0]['name'] == 'hot_a', rows
    for sql in ('DELETE FROM functions', 'SELECT 1; SELECT 2', 'ATTACH "x" AS y', 'SELEC 1',
                'PRAGMA user_version', 'SELECT * FROM sqlite_master'):
        result = culprit('query', name, sql)
        assert result.status in (1, 2, 4) and result.err, (sql, result)
    csv = culprit('report', name, '--csv')
    assert 'hot_a' in csv.out and csv.out.startswith('# ')
    copy = culprit('import', home() / 'runs' / name / 'capture' / 'perf.data', '--json')
    assert share(copy.json(), 'hot_a') > 45, copy
    assert len(culprit_json('runs')['runs']) == 2
    assert culprit('rm', name).status == 0
    assert name not in culprit('runs').out
    assert culprit('rm', 'nothing').status == 1
    assert culprit('runs', 'extra').status == 2
    assert culprit('report', '--json', '--csv').status == 2


@timeout(60)
def test_report_of_a_bare_file():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '700')
    path = next((home() / 'runs').glob('*/capture/perf.data'))
    report = culprit_json('report', '-i', path, status=None)
    assert share(report, 'hot_a') > 45
    assert len(runs_left()) == 1
    empty = tmpdir() / 'empty'
    empty.write_bytes(b'')
    noise = tmpdir() / 'noise'
    noise.write_bytes(bytes(range(256)) * 20)
    for bad in empty, noise, tmpdir(), tmpdir() / 'missing':
        result = culprit('report', '-i', bad)
        assert result.status == 1 and str(bad) in result.err, result
        result = culprit('import', bad)
        assert result.status == 1 and str(bad) in result.err, result
    assert len(runs_left()) == 1


@timeout(120)
def test_damaged_runs():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '700')
    folder = next((home() / 'runs').glob('*'))
    db = folder / 'run.db'
    before = culprit_json('report', status=None)
    whole = db.read_bytes()
    for text in b'', b'junk' * 1000, whole[:5000]:
        db.write_bytes(text)
        assert culprit_json('report', status=None)['tables'] == before['tables']
    capture = folder / 'capture' / 'perf.data'
    data = capture.read_bytes()
    for cut in len(data) // 2, 300, 50, 0:
        capture.write_bytes(data[:cut])
        db.unlink(missing_ok=True)
        result = culprit('report')
        assert result.status in (1, 3, 5), (cut, result)
        assert result.err or 'partial' in result.out.lower(), (cut, result)
    (folder / 'manifest.json').write_text('{')
    result = culprit('report')
    assert result.status == 1 and 'manifest.json' in result.err, result


@timeout(60)
def test_pipes_that_close():
    need('sh')
    result = run('sh', '-c', f'{BUILD}/culprit run code_hotspots {" ".join(CLOCK)} -q -- '
                             f'{program("spin")} 500 | head -1')
    assert result.status == 0 and 'code_hotspots' in result.out, result
    assert 'Broken pipe' not in result.err


def test_recipes_and_completion():
    assert 'code_hotspots' in culprit('recipe', 'list').out
    text = culprit('recipe', 'show', 'code_hotspots')
    mine = tmpdir() / 'mine.recipe'
    mine.write_text(text.out)
    result = culprit('recipe', 'check', mine)
    assert result.status == 0, result
    mine.write_text(text.out.replace('SELECT', 'SELEKT', 1))
    result = culprit('recipe', 'check', mine)
    assert result.status != 0 and 'mine.recipe' in result.err, result
    for shell in 'bash', 'zsh', 'fish':
        assert 'code_hotspots' in culprit('completion', shell).out
    need('bash')
    result = run('bash', '-n', '-c', culprit('completion', 'bash').out)
    assert result.status == 0, result
    assert culprit('completion', 'tcsh').status == 2


@timeout(60)
def test_perf_opens_our_captures():
    need('perf')
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '1000')
    path = next((home() / 'runs').glob('*/capture/perf.data'))
    report = culprit_json('report')
    result = run('perf', 'report', '-i', path, '--stdio', '-g', 'none', '--no-children')
    assert result.status == 0, result
    assert result.err.strip() == '', result.err
    assert 'hot_a' in result.out
    script = run('perf', 'script', '-i', path, '-F', 'comm,ip,sym')
    assert script.status == 0 and script.err.strip() == '', script.err
    header = run('perf', 'report', '-i', path, '--header-only')
    for word in (os.uname().nodename, os.uname().release, 'cpu-clock', 'spin 1000'):
        assert word in header.out, (word, header.out)
    samples = run('perf', 'script', '-i', path, '-F', 'time').out.split()
    assert len(samples) == report['evidence']['samples'], (len(samples), report['evidence'])


@timeout(60)
def test_nohup_survives_a_hangup():
    need('nohup')
    p = subprocess.Popen(['nohup', str(BUILD / 'culprit'), 'run', 'code_hotspots', *CLOCK, '--',
                          str(program('spin')), '2500'],
                         env=dict(os.environ, CULPRIT_HOME=str(home())),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    for pid in [str(p.pid), *processes_named('culprit-agent'), *processes_named('spin 2500')]:
        try:
            os.kill(int(pid), signal.SIGHUP)
        except ProcessLookupError:
            pass
    out, err = p.communicate(timeout=30)
    assert p.returncode == 0, (p.returncode, err)
    assert b'solid' in out


@timeout(60)
def test_background_job_of_a_script_is_interrupted():
    # A shell without job control starts it with SIGINT ignored.
    script = f'{BUILD}/culprit run code_hotspots {" ".join(CLOCK)} -- {program("spin")} 35000 & ' \
             'sleep 1.5; kill -INT $!; wait $!; echo status $?'
    result = run('sh', '-c', script)
    assert 'status 3' in result.out and 'hot_a' in result.out, result
    assert not processes_named('spin 35000')


def test_bad_interpreter_is_said_and_leaves_nothing():
    path = tmpdir() / 'script'
    path.write_text('#!/no/such/interpreter\n')
    path.chmod(0o755)
    result = culprit('run', 'code_hotspots', '--', path)
    assert result.status == 1, result
    assert 'bad interpreter: /no/such/interpreter' in result.err, result
    assert not runs_left()


@timeout(60)
def test_import_takes_no_kernel_but_the_recorded_one():
    need('dd')
    culprit('run', 'code_hotspots', *CLOCK, '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1',
            'count=900000')
    target = culprit_json('show')['target']
    path = next((home() / 'runs').glob('*/capture/perf.data'))
    data = path.read_bytes()
    same = culprit('import', path, '--json', '-o', 'top=0', '-o', 'cut=0').json()
    names = {row['function'] for row in same['tables']['functions'] if row['image'] == '[kernel]'}
    assert any('read' in name for name in names), names
    build_id = bytes.fromhex(target['kernel_build_id'])
    assert data.count(build_id) >= 1
    other = tmpdir() / 'other.data'
    other.write_bytes(data.replace(build_id, build_id[::-1]))
    foreign = culprit('import', other, '--json', '-o', 'top=0', '-o', 'cut=0').json()
    names = {row['function'] for row in foreign['tables']['functions']
             if row['image'] == '[kernel]'}
    assert names == {'[kernel]'}, names
    kernel = next(row for row in foreign['tables']['images'] if row['image'] == '[kernel]')
    assert kernel['symbols'] == 'missing' and 'another kernel' in kernel['why'], kernel
    # The same kernel after another boot: its text has moved.
    text = next(int(line.split()[0], 16) for line in open('/proc/kallsyms')
                if line.split()[2] == '_text')
    assert data.count(text.to_bytes(8, 'little')) >= 1
    other.write_bytes(data.replace(text.to_bytes(8, 'little'),
                                   (text + 0x200000).to_bytes(8, 'little')))
    moved = culprit('import', other, '--json', '-o', 'top=0', '-o', 'cut=0').json()
    names = {row['function'] for row in moved['tables']['functions'] if row['image'] == '[kernel]'}
    assert names == {'[kernel]'}, names
    kernel = next(row for row in moved['tables']['images'] if row['image'] == '[kernel]')
    assert kernel['symbols'] == 'missing' and 'elsewhere' in kernel['why'], kernel


@timeout(60)
def test_rm_takes_whole_names_only():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '300')
    assert len(runs_left()) == 1
    for name in '', '2', 'code', '.', '..':
        result = culprit('rm', name)
        assert result.status in (1, 2), (name, result)
    assert len(runs_left()) == 1
    result = culprit('rm', 'last')
    assert result.status == 0 and 'code_hotspots' in result.err, result
    assert not runs_left()
    assert not list((home() / 'cache' / 'images').glob('*'))


@timeout(60)
def test_closed_standard_descriptors():
    base = f'{BUILD}/culprit run code_hotspots {" ".join(CLOCK)}'
    spin = f'{program("spin")} 400'
    result = run('sh', '-c', f'{base} --json -- {spin} 2>&-')
    assert share(result.json(), 'hot_a') > 40, result
    result = run('sh', '-c', f'{base} -- {spin} 1>&-')
    assert result.status == 1 and 'standard output' in result.err, result
    for path in (home() / 'runs').glob('*/capture/perf.data'):
        assert b'code_hotspots  Where' not in path.read_bytes()
    assert share(culprit_json('report'), 'hot_a') > 40


@timeout(60)
def test_file_size_limit_is_a_full_disk():
    script = f'ulimit -f 40; {BUILD}/culprit run code_hotspots -e cpu-clock -F 4000 --json -- ' \
             f'{program("spin")} 15000'
    result = run('bash', '-c', script)
    assert result.status == 3, result
    assert result.json()['evidence']['partial'] is True
    assert not processes_named('spin 15000')


@timeout(60)
def test_quit_key_keeps_the_run():
    p = start('run', 'code_hotspots', *CLOCK, '--', program('spin'), 36000)
    time.sleep(1.2)
    p.send_signal(signal.SIGQUIT)
    out, _ = p.communicate(timeout=20)
    assert p.returncode == 3 and b'hot_a' in out, out


@timeout(60)
def test_own_recipe_stays_with_its_run():
    mine = tmpdir() / 'mine.recipe'
    text = culprit('recipe', 'show', 'code_hotspots').out
    mine.write_text(text.replace('recipe code_hotspots', 'recipe my_spots', 1))
    culprit('run', mine, *CLOCK, '--', program('spin'), '300')
    mine.unlink()
    assert culprit_json('report')['recipe'] == 'my_spots'
    broken = tmpdir() / 'broken.recipe'
    broken.write_text(text.replace('v1_functions', 'v1_no_such_view'))
    result = culprit('run', broken, *CLOCK, '--', program('spin'), '9000')
    assert result.status in (1, 2) and 'v1_no_such_view' in result.err, result


def test_run_db_that_is_a_pipe():
    culprit('run', 'code_hotspots', *CLOCK, '--', program('spin'), '300')
    folder = next((home() / 'runs').glob('*'))
    (folder / 'run.db').unlink()
    os.mkfifo(folder / 'run.db')
    assert share(culprit_json('report'), 'hot_a') > 40
    (folder / 'manifest.json').write_text('{}')
    result = culprit('show', folder.name, '--json')
    assert result.status == 1 and 'damaged' in result.json()['error']['message'], result
