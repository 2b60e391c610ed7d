# SPDX-License-Identifier: Apache-2.0
"""Recorded there over a pipe that SSH carries, analysed here: the whole way of a remote target."""

import re

from guest import guest, json_on_target, machine, on, on_target, paranoid, share
from harness import culprit, home, run, source
from machines import environment, TOOL
from reports import note_ids, paths, row_of, total

ALL = ('-o', 'cut=0', '-o', 'top=0')


def functions_of(report, image):
    return {row['function']: row['samples'] for row in report['tables']['functions']
            if row['image'].rsplit('/', 1)[-1] == image}


def check_chase(report):
    # The set-up's share depends on how fast this machine is and is left out.
    assert share(report, 'chase', without=('link_nodes',)) >= 90, report['tables']['functions'][:6]
    place = next(row['place'] for row in report['tables']['lines'] if row['function'] == 'chase')
    file, number = re.fullmatch(r'.*/(memlat\.c):(\d+)', place).groups()
    text = source(f'workloads/{file}').read_text().splitlines()
    assert 'at = at->next' in ''.join(text[int(number) - 2:int(number) + 1]), place


@on('plain', 'counters-0', 'acpi', 'pages-16k', 'unknown-core')
def test_chase_on_cycles():
    report = json_on_target('run', 'code_hotspots', '-e', 'cycles', '-F', '997', *ALL, '--',
                            '/tmp/memlat', 'chase', '1')
    assert report['evidence']['source'] == 'cycles', report['evidence']
    assert report['evidence']['lost'] == 0 and report['evidence']['samples'] > 300
    check_chase(report)


@on('plain', 'no-pmu')
def test_chase_on_the_timer():
    report = json_on_target('run', 'code_hotspots', '-e', 'cpu-clock', '-F', '997', *ALL, '--',
                            '/tmp/memlat', 'chase', '1')
    assert report['evidence']['source'] == 'cpu-clock', report['evidence']
    check_chase(report)


@on()
def test_the_source_is_the_best_there_is():
    report = json_on_target('run', 'code_hotspots', '-F', '997', '--', '/tmp/spin', '300',
                            status=(0, 3, 5))
    want = 'cpu-clock' if machine().counters is None else 'cycles'
    assert report['evidence']['source'] == want, report['evidence']
    note = next(n['text'] for n in report['notes'] if n['id'] == 'EVENT_SOURCE')
    if want == 'cpu-clock':
        assert 'No such file' in note or 'no hardware' in note or 'cycles' in note, note
    result = on_target('run', 'code_hotspots', '-e', 'cycles', '--', '/tmp/spin', '50')
    if want == 'cpu-clock':
        assert result.status == 4 and '[NO_PMU]' in result.err, result


@on('plain', 'pages-16k')
def test_names_of_the_kernel_and_of_libraries():
    report = json_on_target('run', 'code_hotspots', '-F', '1997', '--max-overhead', '100', *ALL,
                            '--', 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=64', 'count=30000')
    kernel = functions_of(report, '[kernel]')
    named = sum(n for name, n in kernel.items() if not name.startswith('['))
    assert named > 100 and named >= 0.98 * sum(kernel.values()), kernel
    assert {'ksys_read', 'vfs_write', 'el0_svc', 'read_zero'} & set(kernel), kernel
    libc = functions_of(report, 'libc.so.6')
    assert {'read', 'write', '__read', '__write'} & set(libc), libc
    tree = paths(report)
    assert any(re.search(r'read;el0t_64_sync;.*;(__arm64_sys_read|ksys_read)', p) for p in tree), \
        list(tree)[:40]


@on('plain', 'pages-16k')
def test_call_chains_and_the_vdso():
    report = json_on_target('run', 'code_hotspots', '-F', '1997', '--max-overhead', '100', *ALL,
                            '--', '/tmp/spin', '1500')
    for name in 'main', 'outer':
        assert total(report, name) > 85, (name, total(report, name))
    tree = paths(report)
    for leaf in 'hot_a', 'hot_b', 'hot_c':
        assert any(p.endswith(f'main;outer;middle;{leaf}') for p in tree), (leaf, list(tree)[:40])
    assert functions_of(report, 'spin')['hot_a'] > functions_of(report, 'spin')['hot_b'] > \
        functions_of(report, 'spin')['hot_c']
    assert '__kernel_clock_gettime' in functions_of(report, '[vdso]')


@on('plain')
def test_threads_and_forks():
    report = json_on_target('run', 'code_hotspots', '-F', '997', '--', '/tmp/threads', '3', '500')
    rows = {row['thread']: row for row in report['tables']['threads']}
    for n in 1, 2, 3:
        assert abs(rows[f'worker-{n}']['pct'] - 33) < 15, rows
    report = json_on_target('run', 'code_hotspots', '-F', '997', '--', '/tmp/forker', '3', '400')
    assert len({row['pid'] for row in report['tables']['threads'] if row['pct'] > 15}) == 3, \
        report['tables']['threads']


@on('plain')
def test_the_whole_machine():
    guest(shell='/tmp/spin 6000 >/dev/null 2>&1 &')
    report = json_on_target('run', 'code_hotspots', '-F', '997', '--system', '--for', '2s', *ALL)
    assert row_of(report, 'threads', process='spin')['pct'] > 50, report['tables']['threads']
    assert functions_of(report, 'spin')['hot_a'] > 50
    assert row_of(report, 'threads', process='culprit-agent')['pct'] < 30


@on('plain')
def test_a_process_that_runs():
    pid = guest(shell='/tmp/spin 8000 >/dev/null 2>&1 & echo $!').strip()
    report = json_on_target('run', 'code_hotspots', '-F', '997', '--pid', pid, '--for', '1s')
    assert [row['pid'] for row in report['tables']['threads']] == [int(pid)]
    assert functions_of(report, 'spin')['hot_a'] > 50
    assert guest(shell=f'kill -0 {pid} && echo there') == 'there\n'
    other = on_target('run', 'code_hotspots', '--pid', '999999', '--for', '1s')
    assert other.status == 1 and '[PID_NOT_FOUND]' in other.err, other


@on('plain')
def test_an_ordinary_user():
    words = ('run', 'code_hotspots', '-F', '997', *ALL, '--', '/tmp/spin', '800')
    paranoid(3)
    refused = on_target(*words, user='user')
    assert refused.status == 4 and '[PERF_EVENT_PARANOID]' in refused.err, refused
    assert 'perf_event_paranoid=2' in refused.err, refused
    paranoid(2)
    try:
        report = json_on_target(*words, user='user')
        system = on_target('run', 'code_hotspots', '--system', '--for', '1s', user='user')
        foreign = on_target('run', 'code_hotspots', '--pid', '1', '--for', '1s', user='user')
    finally:
        paranoid(3)
    assert report['evidence']['source'] == 'cycles:u', report['evidence']
    assert 'KERNEL_EXCLUDED' in note_ids(report)
    assert functions_of(report, 'spin')['hot_a'] > 100
    assert any(p.endswith('main;outer;middle;hot_a') for p in paths(report)), list(paths(report))
    assert system.status == 4 and '[PERF_EVENT_PARANOID]' in system.err, system
    assert foreign.status == 4 and '[PID_NOT_OURS]' in foreign.err, foreign


@on('plain', 'pages-16k')
def test_perf_there_reads_the_capture():
    result = on_target('run', 'code_hotspots', '-e', 'cycles', '-F', '997', '--json', '--',
                       '/tmp/spin', '500')
    assert result.status in (0, 3), result
    capture = next((home() / 'runs').glob('*/capture/perf.data'))
    copied = run(TOOL, 'scp', '-q', capture, 'target:/tmp/perf.data', env=environment(machine()))
    assert copied.status == 0, copied
    text = guest(shell='perf report -i /tmp/perf.data --stdio --no-children -g none --no-inline '
                 '-F overhead,sample,sym 2>&1')
    assert 'corrupted' not in text, text
    seen = dict(re.findall(r'^\s+[\d.]+%\s+(\d+)\s+\[.\] (hot_[abc])', text, re.MULTILINE))
    counted = {name: int(n) for n, name in
               re.findall(r'^\s+[\d.]+%\s+(\d+)\s+\[.\] (hot_[abc])', text, re.MULTILINE)}
    ours = functions_of(culprit('report', '--json', *ALL).json(), 'spin')
    assert seen and counted == {name: ours[name] for name in counted}, (counted, ours, text)


@on('plain', 'pages-16k')
def test_the_agents_own_cost_is_told():
    report = json_on_target('run', 'code_hotspots', '-F', '97', '--', '/tmp/spin', '2000')
    cost = report['cost']
    assert 0 < cost['machine_pct'] < 50, cost
    assert 0 < cost['agent_cpu_ms'] < 3000, cost


@on('exact')
def test_samples_add_up_to_the_count():
    perf = guest('perf', 'stat', '-x', ',', '-e', 'cycles:u', '/tmp/memlat', 'chase', '0.05')
    counted = int(re.search(r'^(\d+),,cycles:u', perf, re.MULTILINE)[1])
    report = json_on_target('run', 'code_hotspots', '-e', 'cycles:u', '-c', '200000',
                            '--max-overhead', '100', '--', '/tmp/memlat', 'chase', '0.05')
    evidence = report['evidence']
    assert evidence['lost'] == 0, evidence
    # The run's length goes by the clock, so two of them differ by a call of chase at most.
    assert abs(evidence['samples'] * 200000 - counted) < 0.01 * counted + 7e6, (evidence, counted)
