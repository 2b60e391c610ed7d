# SPDX-License-Identifier: Apache-2.0
"""culprit annotate: instructions, source lines, names, and what happens when something is missing."""

import csv
import io
import os
import re
import subprocess

import recording
from harness import alone, culprit, culprit_json, need, program, run, source, timeout, tmpdir, \
    workload
from reports import note_ids

ORDER = ('solid', 'weak', 'unusable')
CLOCK = ('-e', 'cpu-clock', '-F', '1997')


def record(*command, how=CLOCK):
    result = culprit('run', 'code_hotspots', '-q', *how, '--output', '/dev/null', '--', *command)
    assert result.status in (0, 3), result


def annotate(*args, status=(0, 3, 5), **how):
    """The object, whose sums must always be right."""
    report = culprit_json('annotate', *args, status=status, **how)
    insns = report['instructions']
    assert insns, report
    assert sum(n['samples'] for n in insns) == report['samples'], args
    assert abs(sum(n['function_pct'] for n in insns) - 100) < 0.01 * len(insns), args
    assert abs(sum(n['pct'] for n in insns) - report['pct']) < 0.01 * len(insns), args
    assert report['observed'] is True and report['caution'], report
    levels = {level['level']: level['verdict'] for level in report['evidence']['levels']}
    assert levels['instruction'] in ('weak', 'unusable'), levels
    # The verdict is of what is shown.
    best = 'solid' if report['samples'] >= 1000 else \
        'weak' if report['samples'] >= 100 else 'unusable'
    assert ORDER.index(report['evidence']['verdict']) >= ORDER.index(best), report['evidence']
    assert report['self_samples'] <= report['samples']
    return report


def note(report, name):
    return next((n['text'] for n in report['notes'] if n['id'] == name), '')


def line_with(path, mark):
    return next(number for number, text in enumerate(source(path).read_text().splitlines(), 1)
                if mark in text)


def build(name, text, *flags):
    """A program of this source in the test's folder."""
    need('cc')
    (tmpdir() / f'{name}.c').write_text(text)
    result = run('cc', '-g', '-O1', '-Wl,--build-id', '-o', tmpdir() / name, tmpdir() / f'{name}.c',
                 *flags)
    assert result.status == 0, result
    return tmpdir() / name


SPIN = '''
__attribute__((noinline)) unsigned long work(unsigned long x, long steps)
{
%s	for (long i = 0; i < steps; i++)
		x = x * 6364136223846793005u + 1;
%s	return x;
}
int main(int argc, char **argv)
{
	(void)argv;
	return (int)work((unsigned long)argc, %d000000) == 12345;
}
'''


@timeout(120)
@alone
def test_memlat_chase():
    record(workload('memlat'), 'chase', '2', how=('-e', 'cpu-clock'))
    report = annotate('chase')
    assert report['image'] == 'memlat' and report['source_event'] == 'cpu-clock'
    assert report['samples'] > 1000, report['samples']
    insns = report['instructions']
    place = line_with('workloads/memlat.c', 'at = at->next;')
    loop = [n for n in insns if n['line'] and place - 1 <= n['line'] <= place]
    assert sum(n['samples'] for n in loop) >= 0.9 * report['samples'], loop
    load = next(n for n in insns if n['line'] == place)
    assert load['file'].endswith('memlat.c') and load['source'].endswith(f'memlat.c:{place}'), load
    if os.uname().machine == 'x86_64':
        assert re.fullmatch(r'movq? \(%r\w+\), %r\w+', load['text']), load
        assert any(re.match(r'(sub|add|cmp|dec|inc)', n['text']) for n in loop), loop
    else:
        assert load['text'].startswith('ldr x'), load
    back = next(n for n in loop if n['target'])
    assert back['target'].startswith('chase'), back
    line = next(row for row in report['source'] if row['line'] == place)
    assert 'at = at->next' in line['text'], line
    # The same, by the run's name and as text.
    text = culprit('annotate', 'last', 'chase')
    assert text.status == 0, text
    assert f'{report["samples"]:,}, {report["pct"]:.2f} % of all time\n' in text.out, text
    assert f'{report["samples"]:,} samples in this code ' in text.out, text
    assert re.search(rf' {place} +at = at->next;', text.out), text
    assert 'call path' not in text.out, text
    assert 'instruction level weak' in text.out and 'as observed' in text.out, text
    assert re.search(r'^\* +\d+\.\d\d % ', text.out, re.M), text
    assert '\x1b' not in text.out


@timeout(60)
def test_inlined_function():
    record(program('inline'), '1000')
    caller = annotate('first_caller')
    assert {n['inlined'] for n in caller['instructions']} == {'hot_inline', None}
    assert caller['self_samples'] < caller['samples'] / 2, caller
    text = culprit('annotate', 'first_caller').out
    assert re.search(r'(its own, \d+\.\d\d %|all of it) code inlined into it\n', text), text
    hot = max(caller['instructions'], key=lambda n: n['samples'])
    want = line_with('tests/programs/inline.c', '/* HOT LINE */')
    assert hot['inlined'] == 'hot_inline' and want - 1 <= hot['line'] <= want, hot
    inlined = annotate('hot_inline')
    assert inlined['function'] in ('first_caller', 'second_caller'), inlined
    other = {'first_caller', 'second_caller'} - {inlined['function']}
    text = note(inlined, 'INLINED_ONLY')
    assert inlined['function'] in text and other.pop() in text, inlined['notes']
    shown = culprit('annotate', 'hot_inline').out
    assert re.search(r'^ +hot_inline \(inlined\):$', shown, re.M), shown


@timeout(60)
def test_function_that_is_also_inlined():
    record(build('both', """
__attribute__((always_inline)) static inline unsigned long mix(unsigned long x)
{
	for (long i = 0; i < 50000000; i++)
		x = x * 5 + 1;
	return x;
}
unsigned long (*volatile called)(unsigned long) = mix;
__attribute__((noinline)) unsigned long host(unsigned long x)
{
	return mix(x) + 1;
}
int main(int argc, char **argv)
{
	unsigned long x = (unsigned long)argc;

	(void)argv;
	for (int i = 0; i < 6; i++)
		x = called(called(called(x)));
	return host(host(x)) == 12345;
}
"""))
    report = annotate('mix')
    assert report['function'] == 'mix', report
    assert 'inlined into host (100.00 %)' in note(report, 'ALSO_INLINED'), report['notes']
    assert all(n['inlined'] is None for n in report['instructions']), report
    assert annotate('host')['instructions'][-1]['target'] is None


@timeout(60)
def test_stripped_program():
    path = build('bare', SPIN % ('', '', 200), '-s')
    record(path)
    report = annotate('bare:[unknown]')
    assert report['size'] == 0 and report['address'] is None and report['address_why'], report
    hot = max(report['instructions'], key=lambda n: n['samples'])
    assert hot['text'] and hot['offset'] is None and hot['source'] is None, hot
    # By an address, and from the error on a name that was stripped.
    for words in f'bare:{hot["address"]}', hot['address']:
        around = annotate(words)
        assert 'AROUND_ADDRESS' in note_ids(around) and around['samples'] == report['samples']
        assert any(n['address'] == hot['address'] and n['text'] == hot['text']
                   for n in around['instructions']), around
    missed = culprit('annotate', 'work')
    assert missed.status == 1 and "annotate 'bare:[unknown]' shows its code" in missed.err, missed


@timeout(60)
def test_names_of_functions():
    record(program('cpp'), '900')
    whole = annotate('shop::mill<unsigned long>::grind<3>')
    assert whole['function'].startswith('unsigned long shop::mill<unsigned long>::grind<3>(')
    for words in whole['function'], whole['raw_name'], 'grind', 'cpp:grind', 'cpp.cc:grind', \
            whole['address']:
        assert annotate(words)['address'] == whole['address'], words
    result = culprit('annotate', 'shop::')
    assert result.status == 2 and '[AMBIGUOUS_FUNCTION]' in result.err, result
    offered = re.findall(r'(?:name: |%\), )(.+?) \(cpp, ', result.err)
    assert 'shop::(anonymous namespace)::sieve' in offered and len(offered) > 2, result
    for words in offered:
        report = annotate(words)
        # Or it is inlined wherever it has samples.
        assert report['function'].startswith(words) or \
            note(report, 'INLINED_ONLY').startswith(words), (words, report['function'])
    result = culprit('annotate', 'SIEVE')
    assert result.status == 1 and '[NO_SUCH_FUNCTION]' in result.err, result
    assert 'names like it: shop::(anonymous namespace)::sieve' in result.err, result
    error = culprit_json('annotate', 'nothing_like_it', status=1)
    assert error['error']['id'] == 'NO_SUCH_FUNCTION' and error['run'], error
    assert 'hottest ones' in error['error']['remedy'], error
    for words in (), ('',), ('last', 'a', 'b'), ('-i', 'perf.data', 'a', 'b'):
        assert culprit('annotate', *words).status == 2, words


@timeout(60)
def test_rust_names():
    record(program('rust'), '600')
    report = annotate('grind')
    assert report['function'].endswith('::grind') and '_R' not in report['function'], report


@timeout(60)
def test_function_without_own_samples():
    record(program('spin'), '600')
    result = culprit('annotate', 'outer')
    if result.status == 1:
        assert '[NO_OWN_SAMPLES]' in result.err and 'outer has no samples of its own' in result.err
    else:
        # It has a few, by chance.
        assert result.status in (3, 5) and 'in this code' in result.out, result


@timeout(60)
def test_functions_of_one_name():
    need('cc')
    for name in 'one', 'two':
        (tmpdir() / f'{name}.c').write_text(
            '__attribute__((noinline)) static unsigned long step(unsigned long x)\n'
            '{ for (long i = 0; i < 60000000; i++) x = x * 5 + 1; return x; }\n'
            f'unsigned long {name}(unsigned long x) {{ return step(x) + 1; }}\n')
    build('twice', 'unsigned long one(unsigned long), two(unsigned long);\n'
          'int main(void) { unsigned long x = 1; for (int i = 0; i < 5; i++) x = two(one(x));\n'
          'return x == 1; }\n', tmpdir() / 'one.c', tmpdir() / 'two.c')
    record(tmpdir() / 'twice')
    result = culprit('annotate', 'step')
    assert result.status == 2 and '[AMBIGUOUS_FUNCTION]' in result.err, result
    spelled = re.findall(r'(?:one|two)\.c:step', result.err)
    assert sorted(spelled) == ['one.c:step', 'two.c:step'], result
    for words in spelled:
        report = annotate(words)
        assert report['source'][0]['file'].endswith(words.split(':')[0]), report
        assert annotate(f'twice:{report["address"]}')['address'] == report['address']
        assert annotate(f'{tmpdir().name}/{words}')['address'] == report['address']


@timeout(60)
def test_perf_data_file():
    need('perf')
    data = tmpdir() / 'perf.data'
    copy = tmpdir() / 'spin'
    copy.write_bytes(program('spin').read_bytes())
    copy.chmod(0o755)
    recorded = run('perf', 'record', '-q', '-e', 'cpu-clock', '-o', data, copy, '500')
    assert recorded.status == 0, recorded
    report = annotate('-i', data, 'hot_a')
    assert report['run'] is None and any(n['text'] for n in report['instructions']), report
    assert annotate('-i', data, '/'.join((str(copy.parent), 'spin:hot_a')))['image'] == 'spin'
    copy.unlink()
    gone = culprit('annotate', '-i', data, 'hot_a')
    assert gone.status == 1 and '[NO_SUCH_FUNCTION]' in gone.err, gone
    assert 'has no function name' in gone.err and f'is in {copy}' in gone.err, gone
    assert 'which is not here' in gone.err and f'culprit report -i {data} says' in gone.err, gone
    assert not (tmpdir().parent / 'runs').exists()


@timeout(60)
def test_program_deleted_while_it_ran():
    path = build('gone', SPIN % ('', '', 300))
    record('sh', '-c', f'{path} & sleep 0.2; rm {path}; wait')
    assert not path.exists()
    report = annotate('work')
    assert all(n['text'] for n in report['instructions']), report
    assert max(report['source'], key=lambda row: row['samples'])['text'].strip().startswith(
        ('for', 'x =')), report['source']


@timeout(60)
def test_source_that_is_missing_and_found():
    path = build('lost', SPIN % ('', '', 200))
    record(path)
    (tmpdir() / 'elsewhere').mkdir()
    (tmpdir() / 'lost.c').rename(tmpdir() / 'elsewhere' / 'lost.c')
    report = annotate('work')
    assert str(tmpdir() / 'lost.c') in note(report, 'SOURCE_MISSING'), report['notes']
    assert '--source-dir' in note(report, 'SOURCE_MISSING')
    assert all(row['text'] is None and row['text_why'] for row in report['source'])
    text = culprit('annotate', 'work')
    # The file once, and the number of the line beside its first instruction.
    assert text.out.count('lost.c\n') == 1 and 'lost.c:' not in text.out, text
    assert re.search(r'^.{20} +5 +[0-9a-f]+ {6}\S', text.out, re.M), text
    for option in '--source-dir', '--debug-dir':
        for folder in tmpdir() / 'nowhere', path:
            wrong = culprit('annotate', 'work', option, folder)
            assert wrong.status == 2 and f'{option} {folder}: ' in wrong.err, wrong
    found = annotate('work', '--source-dir', tmpdir() / 'elsewhere')
    assert 'SOURCE_MISSING' not in note_ids(found) and 'SOURCE_NEWER' not in note_ids(found)
    assert any('6364136223846793005u' in row['text'] for row in found['source'])
    (tmpdir() / 'elsewhere' / 'lost.c').write_text('// changed\n')
    changed = annotate('work', '--source-dir', tmpdir() / 'elsewhere')
    assert 'lost.c' in note(changed, 'SOURCE_NEWER'), changed['notes']


@timeout(60)
def test_evil_source():
    path = build('evil', SPIN % ('', '', 200))
    record(path)
    text = (tmpdir() / 'evil.c').read_bytes()
    (tmpdir() / 'evil.c').write_bytes(
        text.replace(b'x = x *', b'x = \x1b[31m\xff\xe2\x80\xae/*\x00*/ x *'))
    result = culprit('annotate', 'work', binary=True)
    assert b'x = \\x1b[31m\\xff\\xe2\\x80\\xae/*\\x00*/ x *' in result.out, result.out
    assert not re.search(rb'[\x00-\x09\x0b-\x1f\x7f]', result.out), result.out
    result.out.decode()
    annotate('work')
    # A pipe in the place of the source does not keep us waiting.
    (tmpdir() / 'evil.c').unlink()
    os.mkfifo(tmpdir() / 'evil.c')
    assert 'cannot be read' in note(annotate('work'), 'SOURCE_MISSING')


@timeout(60)
def test_long_functions_are_folded():
    filler = ''.join(f'\tif (x == {n}) x = x / {n + 3} + x % {n + 5};\n' for n in range(60))
    path = build('long', SPIN % (filler, filler, 300))
    record(path)
    report = annotate('work')
    count = len(report['instructions'])
    assert count > 220, count
    folded = culprit('annotate', 'work')
    hidden = [int(n) for n in re.findall(r'^ +\.\.\. (\d+) instructions without samples$',
                                         folded.out, re.M)]
    address = re.compile(r'^[* ] (?=.{8} )(?: +\d+\.\d\d % +[\d,]+)? +[0-9a-f]+ {6}\S', re.M)
    assert sum(hidden) > 100 and len(address.findall(folded.out)) + sum(hidden) == count, folded
    whole = culprit('annotate', 'work', '--all')
    assert '...' not in whole.out and len(address.findall(whole.out)) == count, whole
    rows = culprit('annotate', 'work', '--csv')
    block = rows.out.split('# table instructions\r\n')[1].split('\r\n\r\n')[0]
    table = list(csv.DictReader(io.StringIO(block)))
    assert len(table) == count
    assert sum(int(row['samples']) for row in table) == report['samples']


@timeout(60)
def test_kernel_function_has_addresses_alone():
    need('dd')
    record('dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=1000000')
    report = culprit_json('report', '-o', 'cut=0', '-o', 'top=0')
    hot = next((row for row in report['tables']['functions']
                if row['image'] == '[kernel]' and row['samples'] > 20), None)
    if not hot or hot['function'].startswith('['):
        from harness import skip
        skip('no named kernel function has samples here')
    listing = annotate('[kernel]:' + hot['function'])
    assert listing['syntax'] is None and 'kernel' in listing['syntax_why'], listing
    assert all(n['text'] is None and n['text_why'] for n in listing['instructions'])
    assert all(0 <= n['offset'] < listing['size'] for n in listing['instructions'])
    assert 'NO_CODE' in note_ids(listing)
    assert re.search(r' \+0x[0-9a-f]+$', culprit('annotate', hot['function']).out, re.M)


@timeout(60)
def test_syntax_width_and_color():
    record(program('spin'), '600')
    if os.uname().machine == 'x86_64':
        att, intel = annotate('hot_a'), annotate('hot_a', '--intel')
        assert att['syntax'] == 'x86-64 AT&T' and intel['syntax'] == 'x86-64 Intel'
        assert any('%r' in n['text'] for n in att['instructions'])
        assert not any('%' in n['text'] for n in intel['instructions'])
        assert [n['address'] for n in att['instructions']] == \
            [n['address'] for n in intel['instructions']]
    for columns in 40, 60, 100:
        out = culprit('annotate', 'hot_a', env={'COLUMNS': columns}).out
        assert max(len(line) for line in out.splitlines()) <= columns, out
    plain = terminal('annotate', 'hot_a', NO_COLOR='1')
    assert '\x1b[' not in plain and re.search(r'^\* ', plain, re.M), plain
    assert '\x1b[31m* ' in terminal('annotate', 'hot_a', NO_COLOR=None)


def terminal(*args, **env):
    """What culprit writes to a terminal."""
    from harness import BUILD, home
    full = dict(os.environ, CULPRIT_HOME=str(home()), LC_ALL='C.UTF-8', TERM='xterm')
    for key, value in env.items():
        full.pop(key, None)
        if value is not None:
            full[key] = value
    main, side = os.openpty()
    with subprocess.Popen([str(BUILD / 'culprit'), *args], env=full, stdin=side, stdout=side,
                          stderr=side) as process:
        os.close(side)
        out = b''
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        process.wait()
    os.close(main)
    return out.decode().replace('\r\n', '\n')


@timeout(60)
def test_aarch64_recording_on_any_host():
    elf = recording.Elf(program('isa-aarch64'))
    start, size = elf.symbol('isa')
    data = tmpdir() / 'perf.data'
    places = list(range(start, start + size, 4)) * 3 + [start + 8] * 900
    recording.write(data, elf, places, 'aarch64')
    imported = culprit('import', data, '--output', '/dev/null')
    assert imported.status in (0, 3), imported
    for args in ('isa',), ('-i', data, 'isa'):
        report = annotate(*args)
        assert report['syntax'] == 'aarch64' and report['samples'] == len(places), report
        assert len(report['instructions']) == size // 4
        unknown = [n for n in report['instructions'] if n['text'].startswith('.')]
        assert not unknown, unknown[:5]
        assert 'UNKNOWN_INSTRUCTIONS' not in note_ids(report)
        hot = max(report['instructions'], key=lambda n: n['samples'])
        assert hot['offset'] == 8 and hot['samples'] == 903, hot
        line = next(row for row in report['source'] if row['line'] == hot['line'])
        assert line['text'].split('//')[1].split()[0] == hot['text'].split()[0], (line, hot)


@timeout(60)
def test_partial_name_and_few_samples():
    record(program('spin'), '600')
    part = culprit('annotate', 'ot_a')
    assert part.status in (0, 3), part
    words = 'no function is called ot_a; showing the only one that contains it: hot_a'
    assert words in ' '.join(part.out.split()), part
    # Whatever has few samples is shown, and is no result.
    report = culprit_json('report', '-o', 'cut=0', '-o', 'top=0')
    rare = next((row for row in report['tables']['functions']
                 if 0 < row['samples'] <= row['total_samples'] < 100 and not row['inlined']
                 and not row['function'].startswith('[')), None)
    if rare:
        result = culprit('annotate', f'{rare["image"]}:{rare["function"]}')
        assert result.status == 5 and 'in this code: unusable' in ' '.join(result.out.split()), \
            result
        assert re.search(r'^instruction level unusable: ', result.out.replace(' ' * 10, ''), re.M)


@timeout(60)
def test_function_with_all_samples_in_nested_inlines():
    record(build('nested', """
static inline unsigned long deep(unsigned long x)
{
	for (long i = 0; i < 400000000; i++)
		x = x * 5 + 1;
	return x;
}
static inline unsigned long middle(unsigned long x) { return deep(x); }
__attribute__((noinline)) unsigned long host(unsigned long x) { return middle(x) + 1; }
int main(int argc, char **argv) { (void)argv; return host((unsigned long)argc) == 12345; }
""", '-finline-functions', '-O2'))
    report = annotate('middle')
    assert report['function'] == 'host', report
    assert 'middle is inlined wherever' in note(report, 'INLINED_ONLY'), report['notes']
    assert 'host (100.00 %)' in note(report, 'INLINED_ONLY')


@timeout(60)
def test_source_that_changed_between_build_and_recording():
    path = build('stale', SPIN % ('', '', 200))
    os.utime(path, (1700000000, 1700000000))
    os.utime(tmpdir() / 'stale.c', (1700000060, 1700000060))
    record(path)
    assert 'stale.c' in note(annotate('work'), 'SOURCE_NEWER')
    os.utime(tmpdir() / 'stale.c', (1699999999, 1699999999))
    assert 'SOURCE_NEWER' not in note_ids(annotate('work'))


@timeout(60)
def test_alias():
    record(build('alias', SPIN % ('', '', 200) + """
unsigned long by_another_name(unsigned long x, long steps) __attribute__((alias("work")));
"""))
    report = annotate('work')
    other = {'work': 'by_another_name', 'by_another_name': 'work'}[report['function']]
    same = annotate(other)
    assert same['function'] == report['function'] and same['address'] == report['address'], same
    assert note(same, 'ALIAS') == f'{other} is another name of the code that reports call ' \
        f'{report["function"]}', same['notes']
    # It is no part of another name either.
    record(build('part', SPIN % ('', '', 200) + """
unsigned long wor(unsigned long x, long steps) __attribute__((weak, alias("work")));
"""))
    same = annotate('wor')
    assert 'ALIAS' in note_ids(same) and 'PARTIAL_NAME' not in note_ids(same), same['notes']


@timeout(60)
def test_another_inlined_function_of_the_name():
    (tmpdir() / 'other.c').write_text("""
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
	for (long i = 0; i < 200000000; i++) x = x * 5 + 1;
	return x;
}
__attribute__((noinline)) unsigned long other(unsigned long x) { return mix(x) + 1; }
""")
    record(build('names', """
unsigned long other(unsigned long);
__attribute__((noinline)) static unsigned long mix(unsigned long x)
{
	for (long i = 0; i < 200000000; i++) x = x * 3 + 1;
	return x;
}
int main(int argc, char **argv) { (void)argv; return other(mix((unsigned long)argc)) == 12345; }
""", tmpdir() / 'other.c'))
    report = annotate('names.c:mix')
    assert report['function'] == 'mix' and 'ALSO_INLINED' not in note_ids(report), report['notes']


@timeout(60)
def test_symbol_that_is_longer_than_its_image():
    need('cc')
    (tmpdir() / 'long.c').write_text(SPIN % ('', '', 200))
    assembler = tmpdir() / 'long.s'
    assert run('cc', '-g', '-O1', '-S', '-o', assembler, tmpdir() / 'long.c').status == 0
    text, count = re.subn(r'(?m)^\t\.size\twork, .*', '\t.size\twork, 0x100000',
                          assembler.read_text())
    assert count == 1, count
    assembler.write_text(text)
    assert run('cc', '-Wl,--build-id', '-o', tmpdir() / 'long', assembler).status == 0
    record(tmpdir() / 'long')
    report = annotate('work')
    assert report['size'] == 0x100000 and '0x100000 bytes' in note(report, 'SIZE_CUT'), \
        report['notes']
    assert max(report['instructions'], key=lambda n: n['samples'])['text'], report
