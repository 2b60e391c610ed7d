# SPDX-License-Identifier: Apache-2.0
"""culprit check on this machine, and recipes that the machine or this version cannot run."""

import os
import re
import subprocess

from harness import BUILD, culprit, home, source, tmpdir

RECIPES = ['code_hotspots', 'cpu_microarchitecture', 'memory_access', 'instruction_mix', 'off_cpu',
           'syscall_trace_summary', 'system_utilization', 'memory_hierarchy', 'cmn_analysis',
           'cache_sharing', 'branch_analysis']
NEEDS = {'timer', 'cycles', 'counters:1', 'counters:6', 'system-wide', 'kernel', 'spe',
         'branch-records', 'tracepoints', 'bpf', 'ptrace', 'cmn', 'proc'}

# What culprit-agent probe would print on a small Graviton4 guest.
GRAVITON = '''hostname box
arch aarch64
kernel 6.8.0-1021-aws
os Ubuntu 24.04 LTS
os_id ubuntu
os_version 24.04
dmi_vendor Amazon EC2
dmi_product c8g.4xlarge
is_acpi 1
virt guest
cpus_online 16
paranoid 2
euid 1000
cpu_clock_errno 0
cycles_errno 0
sampling_errno 0
spe_errno 2
core 0x410fd4f1 16 0-15
pmu 10 armv8_pmuv3_0 0-15
pmu_counters 2 2 1 0 0
end 1
'''


def check(*args, **how):
    result = culprit('check', *args, **how)
    assert result.status == 0, result
    return result


def recipe_of(report, name):
    return next(r for r in report['recipes'] if r['recipe'] == name)


def runs_left():
    return sorted(p.name for p in (home() / 'runs').glob('*')) if (home() / 'runs').exists() else []


def probe_text():
    done = subprocess.run([str(BUILD / f'culprit-agent-{os.uname().machine}'), 'probe'],
                          capture_output=True, check=True)
    return done.stdout.decode()


def test_check_json_of_this_machine():
    report = check('--json').json()
    target = report['target']
    assert report['format'] == 1 and target['name'] == 'local'
    assert target['hostname'] == os.uname().nodename
    assert target['kernel'] == os.uname().release and target['arch'] == os.uname().machine
    assert target['virtualisation'] in ('none', 'guest', 'emulated', 'unknown')
    assert target['cpus_online'] == os.sysconf('SC_NPROCESSORS_ONLN')
    assert set(report['abilities']) == NEEDS, report['abilities'].keys()
    assert report['abilities']['proc'] == {'ok': True}
    assert [r['recipe'] for r in report['recipes']] == RECIPES
    assert sum(core['count'] for core in report['cores']) == target['cpus_online']
    for name, ability in report['abilities'].items():
        assert ability['ok'] or (ability['id'].isupper() and ability['message']), (name, ability)
    for recipe in report['recipes']:
        assert recipe['built'] == (recipe['recipe'] == 'code_hotspots')
        assert recipe['built'] == (recipe['state'] != 'planned')
        # The ladder agrees with what works here.
        for missing in recipe['missing']:
            assert not report['abilities'][missing['need']]['ok']
            assert report['abilities'][missing['need']]['id'] == missing['id']
        assert (recipe['would_be'] == 'ready') == (not recipe['missing'])
        assert (recipe['would_be'] == 'blocked') == (recipe['rung'] is None)
    assert recipe_of(report, 'system_utilization')['would_be'] == 'ready'


def nulls_without_why(node, path=''):
    if isinstance(node, list):
        return [x for i, n in enumerate(node) for x in nulls_without_why(n, f'{path}[{i}]')]
    if not isinstance(node, dict):
        return []
    return [f'{path}.{k}' for k, v in node.items() if v is None and not node.get(f'{k}_why')] + \
        [x for k, v in node.items() for x in nulls_without_why(v, f'{path}.{k}')]


def test_check_json_says_why_something_is_null():
    assert not nulls_without_why(check('--json').json())


def test_check_text_of_this_machine():
    report = check('--json').json()
    result = check(env={'COLUMNS': '80'})
    assert not [line for line in result.out.splitlines() if len(line) > 80], result
    assert result.out.isascii() and '\x1b' not in result.out, result
    for word in ['Machine', 'What works here', 'Recipes', 'Planned, not built yet',
                 os.uname().release]:
        assert word in result.out, word
    for recipe in report['recipes']:
        line = next(x for x in result.out.splitlines() if x.startswith(f"  {recipe['recipe']} "))
        assert line.split()[1] == recipe['would_be'], line
    if any(r['missing'] for r in report['recipes']):
        assert 'What would help' in result.out, result
    # Each remedy stands there once, whatever many wait for it.
    flat = ' '.join(result.out.split())
    for remedy in {m['remedy'] for r in report['recipes'] for m in r['missing'] if m['remedy']}:
        # Levels of one setting share a line, which the unit tests look at.
        if 'kernel.perf_event_paranoid=' not in remedy:
            assert flat.count(f'- {remedy} for ') == 1, remedy
    # What is built stands apart from what is not, and the last line is what to type.
    built, _, planned = flat.partition('For recipes that are planned: of no use before')
    if 'code_hotspots' in {r['recipe'] for r in report['recipes'] if r['would_be'] != 'ready'}:
        assert 'What would help' in built, result
    assert 'code_hotspots (' not in planned, result
    assert result.out.endswith('\n  culprit run code_hotspots -- COMMAND\n'), result


def test_check_writes_a_file():
    path = tmpdir() / 'check.json'
    result = check('--json', '--output', path)
    assert not result.out and path.read_text().startswith('{\n  "format": 1')


def test_check_of_what_an_agent_printed():
    path = tmpdir() / 'probe.txt'
    path.write_text(probe_text())
    here = check('--json').json()
    there = check('--json', '-i', path).json()
    assert there['target']['name'] == str(path)
    for key in ('cores', 'recipes'):
        assert there[key] == here[key], key
    from_stdin = check('--json', '-i', '-', stdin=path.read_text()).json()
    assert from_stdin['recipes'] == here['recipes']


def test_check_of_a_small_instance():
    path = tmpdir() / 'graviton.txt'
    path.write_text(GRAVITON)
    report = check('--json', '-i', path).json()
    assert report['target']['cloud']['key'] == 'aws'
    assert report['target']['cloud']['instance'] == 'c8g.4xlarge'
    assert report['cores'][0]['name'] == 'Neoverse V2' and report['cores'][0]['counters'] == 6
    assert report['pmus'][0]['counters'] == 2 and report['pmus'][0]['core'] == 'Neoverse V2'
    core = recipe_of(report, 'cpu_microarchitecture')
    assert (core['would_be'], core['rung']) == ('weaker', 'time-sliced'), core
    assert core['missing'][0]['id'] == 'INSUFFICIENT_PMU_COUNTERS'
    assert '24xlarge' in core['missing'][0]['remedy'], core
    assert 'metal' in report['abilities']['spe']['remedy']
    # What that agent did not try does not work.
    assert report['abilities']['system-wide']['id'] == 'NOT_TRIED', report['abilities']
    text = check('-i', path, env={'COLUMNS': '80'}).out
    assert "2 of the core's 6 programmable counters and one for cycles" in ' '.join(text.split())


def test_check_refuses_a_text_that_is_cut_off():
    whole = probe_text()
    assert whole.endswith('\nend 1\n'), whole[-80:]
    path = tmpdir() / 'probe.txt'
    for text in whole[:len(whole) // 2], whole[:-len('1\n')], whole[:whole.index('\n') + 1]:
        path.write_text(text)
        result = culprit('check', '-i', path, '--json')
        assert result.status == 1, result
        error = result.json()['error']
        assert error['id'] == 'FORMAT', error
        assert error['message'] == f'{path} is cut off: the probe did not end', error
        assert error['remedy'].startswith('run it again'), error
    result = culprit('check', '-i', '-', stdin=whole[:200])
    assert result.status == 1 and 'standard input is cut off' in result.err, result


def test_names_that_turn_the_direction_of_text():
    path = tmpdir() / 'probe.txt'
    path.write_text(GRAVITON.replace('hostname box', 'hostname b\u202eo\u2066x\u009b'))
    result = check('-i', path)
    assert r'b\xe2\x80\xaeo\xe2\x81\xa6x\xc2\x9b' in result.out and result.out.isascii(), result
    result = check('-i', path, '--json')
    assert r'"b\u202eo\u2066x\u009b"' in result.out, result
    assert result.json()['target']['hostname'] == 'b\u202eo\u2066x\u009b'


def test_check_wrong_words():
    for words in (('everything',), ('--root', '.', '-i', 'x')):
        result = culprit('check', *words)
        assert result.status == 2 and not result.out, result
    nowhere = culprit('check', '--root', '/nowhere/at/all')
    assert nowhere.status == 1 and 'No such file' in nowhere.err, nowhere
    here = culprit('check', '--root', tmpdir(), '--json')
    assert here.status == 1 and 'perf_event_open' in here.err, here
    assert 'docs/check.md' in here.json()['error']['remedy']
    path = tmpdir() / 'plain.txt'
    path.write_text('that is not it\n')
    plain = culprit('check', '-i', path)
    assert plain.status == 1 and 'culprit-agent probe' in plain.err, plain
    file = culprit('check', '--root', path)
    assert file.status == 1 and 'no folder' in file.err, file
    missing = culprit('check', '-i', tmpdir() / 'missing')
    assert missing.status == 1 and 'missing' in missing.err, missing


def test_planned_recipes_are_refused():
    report = check('--json').json()
    for recipe in report['recipes']:
        if recipe['built']:
            continue
        blocked = recipe['would_be'] == 'blocked'
        result = culprit('run', recipe['recipe'], '--json', '--', 'true')
        assert result.status == (4 if blocked else 1), result
        error = result.json()['error']
        assert error['id'] == (recipe['missing'][-1]['id'] if blocked else 'NOT_BUILT_YET'), result
        assert 'not built yet' in error['message'], result
        if report['abilities']['timer']['ok']:
            assert 'code_hotspots' in error['remedy'], result
        assert error['message'].startswith(f'recipe {recipe["recipe"]} is not built yet'), result
        # What would help here, and that it is of no use today.
        if blocked and recipe['missing'][-1]['remedy']:
            later = f'once it is built: {recipe["missing"][-1]["remedy"]}'
            assert error['remedy'].startswith(later), result
    assert not runs_left()


def test_planned_recipes_say_wrong_usage_first():
    result = culprit('run', 'instruction_mix')
    assert result.status == 2 and 'nothing to record' in result.err, result


def test_recipes_are_listed():
    listed = culprit('recipe', 'list', '--json').json()['recipes']
    assert [r['name'] for r in listed] == RECIPES
    assert [r['name'] for r in listed if r['built']] == ['code_hotspots']
    text = culprit('recipe', 'list', env={'COLUMNS': '72'}).out.splitlines()
    assert max(map(len, text)) <= 72 and len(text) > len(RECIPES), text
    marked = {line.split()[0]: line[22:29] == 'planned' for line in text if line[0] != ' '}
    assert marked == {r['name']: not r['built'] for r in listed}, text
    assert ' '.join(' '.join(text).split()).endswith(listed[-1]['question']), text
    shown = culprit('recipe', 'show', 'memory_access')
    assert shown.status == 0 and 'rung spe needs spe\n' in shown.out, shown
    assert 'memory_access' in culprit('completion', 'bash').out
    planned = culprit('recipe', 'check', 'memory_access')
    assert planned.status == 0 and 'planned' in planned.out, planned


def test_recipe_as_json():
    shown = culprit('recipe', 'show', 'memory_access', '--json').json()
    assert shown['format'] == 1 and shown['recipe'] == 'memory_access', shown
    assert shown['question'].startswith('Where are loads and stores served') and shown['summary']
    assert shown['built'] is False and shown['source'] == 'built-in' and shown['options'] == []
    assert [(r['name'], r['needs']) for r in shown['rungs']] == [
        ('spe', ['spe']), ('refill-sampling', ['cycles', 'counters:1'])], shown
    assert shown['rungs'][0]['text'].startswith('sampled operations with their data source')
    assert shown['text'] == culprit('recipe', 'show', 'memory_access').out
    # One with options, from a file of the user's.
    path = tmpdir() / 'mine.recipe'
    path.write_text(culprit('recipe', 'show', 'code_hotspots').out)
    mine = culprit('recipe', 'show', path, '--json').json()
    assert mine['built'] is True and mine['source'] == str(path) and not nulls_without_why(mine)
    options = {o['name']: (o['type'], o['default']) for o in mine['options']}
    assert options['cut'] == ('pct', '0.5') and options['top'] == ('count', '25'), options
    assert options['function'] == ('text', None), options
    # A fault in it is told with its line; as text it is shown as it is.
    path.write_text('recipe x\nnonsense\n')
    assert culprit('recipe', 'show', path).out == 'recipe x\nnonsense\n'
    broken = culprit('recipe', 'show', path, '--json')
    assert broken.status == 1 and 'mine.recipe:2' in broken.json()['error']['message'], broken


def test_nearest_recipe():
    for words in (('run', 'code-hotspots', '--', 'true'), ('run', 'hotspots', '--', 'true'),
                  ('recipe', 'show', 'hotspot'), ('recipe', 'check', 'code_hotspot')):
        result = culprit(*words)
        assert result.status == 1 and 'did you mean code_hotspots?' in result.err, result
    assert 'did you mean' not in culprit('run', 'elephant', '--', 'true').err
    assert not runs_left()


def test_unknown_need():
    text = culprit('recipe', 'show', 'code_hotspots').out
    path = tmpdir() / 'mine.recipe'
    path.write_text(text.replace('needs timer', 'needs timer telepathy'))
    line = 1 + text.splitlines().index('rung cpu-clock needs timer')
    for words in (('recipe', 'check', path), ('run', path, '--', 'true')):
        result = culprit(*words)
        assert result.status == 1, result
        assert f'mine.recipe:{line}: rung cpu-clock needs "telepathy"' in result.err, result
    assert not runs_left()


def test_own_recipe_that_cannot_run_here():
    if check('--json').json()['abilities']['spe']['ok']:
        return
    path = tmpdir() / 'mine.recipe'
    text = culprit('recipe', 'show', 'code_hotspots').out
    path.write_text(text.replace('needs cycles', 'needs spe').replace('needs timer', 'needs spe'))
    result = culprit('run', path, '--', 'true')
    assert result.status == 4 and 'SPE_' in result.err and 'cannot run on this' in result.err, result
    assert not runs_left()
    # -e chooses the source, whatever the ladder says.
    assert culprit('run', path, '-e', 'cpu-clock', '--', 'sleep', '0.1').status != 4


def test_needs_and_refusals_are_documented():
    page = source('docs/check.md').read_text()
    for need in NEEDS:
        word = need.split(':')[0]
        assert re.search(rf'^\| `{word}(:N)?` \|', page, re.M), word
    errors = source('docs/errors.md').read_text()
    used = {i for path in source('src/target').glob('*.c')
            for i in re.findall(r'err_refuse\(\s*err,\s*"([A-Z_]+)"', path.read_text())}
    assert 'SPE_NOT_IN_FIRMWARE' in used
    named = set(re.findall(r'[A-Z]+_[A-Z_]+', errors))
    assert used <= named, used - named
