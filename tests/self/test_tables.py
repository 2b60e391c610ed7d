# SPDX-License-Identifier: Apache-2.0
"""tools/gen-tables takes the tables of data/, and each fault in them stops it with file and line."""

import shutil

from harness import run, source, tmpdir

TABLES = ('clouds', 'cores', 'distributions', 'instances', 'x86')


def data():
    """A fresh copy of data/."""
    folder = tmpdir() / 'data'
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source('data'), folder)
    return folder


def generate(folder):
    out = tmpdir() / 'tables.c'
    out.unlink(missing_ok=True)
    done = run(source('tools/gen-tables'), out, *(folder / f'{t}.tsv' for t in TABLES))
    return done, out


def row_of(path, *cells):
    """Number of the line that begins with these cells, from 1, and its cells."""
    for number, line in enumerate(path.read_text().split('\n'), 1):
        have = line.split('\t')
        if have[:len(cells)] == list(cells):
            return number, have
    raise AssertionError(f'{path.name} has no row {cells}')


def put(path, number, cells, insert=False):
    """Put cells at a line, or instead of it."""
    lines = path.read_text().split('\n')
    lines[number - 1:number - 1 + (not insert)] = ['\t'.join(cells)]
    path.write_text('\n'.join(lines))


def stops(folder, table, number, *words):
    done, out = generate(folder)
    assert done.status == 1, done
    assert not out.exists(), 'tables were written all the same'
    where = f'{folder / table}.tsv:{number}: '
    assert any(line.startswith(where) and all(w in line for w in words)
               for line in done.err.splitlines()), (where, words, done)


def changed(table, begins, column, text, *words):
    """One cell of the row that begins so is other: that stops it, saying these words."""
    folder = data()
    path = folder / f'{table}.tsv'
    header = next(line for line in path.read_text().split('\n') if not line.startswith('#'))
    number, cells = row_of(path, *begins)
    cells[header.split('\t').index(column)] = text
    put(path, number, cells)
    stops(folder, table, number, *words)


V2 = ('0x41', '0xd4f', '')
GRAVITON4 = ('aws', '[cmrxi]8g*')
GRAVITON2 = ('aws', '[cmr]6g*')
SPR = ('GenuineIntel', '6', '0x8f')
UBUNTU = ('arm_spe_pmu', 'aws', 'ubuntu', '24.04', '')
ANY_SPE = ('arm_spe_pmu', '', '', '', '')


def test_real_tables_pass():
    done, out = generate(data())
    assert done.status == 0 and done.err == '', done
    text = out.read_text()
    assert '{0x41, 0xd4f, "Neoverse V2", "neoverse-v2", ' in text
    assert '"Neoverse V2 (AWS Graviton4)"' in text
    done, _ = generate(data())
    assert out.read_text() == text, 'two runs differ'


def test_words():
    changed('cores', V2, 'implementer', '41', 'implementer is not 0x and two')
    changed('cores', V2, 'part', '0xD4F', 'part is not 0x and three')
    changed('cores', V2, 'name', '', 'name is missing')
    changed('cores', V2, 'source', '', 'blanks at the end')
    changed('cores', V2, 'arch', 'armv9', 'arch is not like')
    changed('cores', V2, 'counters', 'six', 'counters is neither', '"six"')
    changed('cores', V2, 'counters', '', 'counters is missing')
    changed('cores', V2, 'spe', 'maybe', 'spe is not yes, no or unknown')
    changed('cores', V2, 'spe', 'no', 'a spe_version, but spe is not yes')
    changed('cores', V2, 'revisions', 'p1', 'revisions is not like')
    changed('cores', V2, 'note', ' x', 'note')
    changed('x86', SPR, 'lbr', 'LBR', 'lbr is not yes')
    changed('x86', SPR, 'model_last', '0x8e', 'a range that runs backwards')
    changed('x86', SPR, 'lbr', 'BRS', 'lbr is not yes, no, brs or unknown')
    changed('clouds', ('aws',), 'product_is_type', 'unknown', 'is neither yes nor no')
    changed('instances', GRAVITON4, 'full_pmu', '48xlarge.', 'no full stop')
    changed('instances', GRAVITON2, 'spe', '{size}.metal', 'no braces but {family}')
    changed('instances', GRAVITON2, 'spe', 'metal of {family', 'no braces but {family}')
    changed('distributions', UBUNTU, 'min_kernel', '6.17-rc1', 'min_kernel is neither a version')
    changed('distributions', ANY_SPE, 'boot', 'kpti off', 'boot is not a kernel parameter')
    changed('distributions', UBUNTU, 'driver', 'arm_spe', 'driver is not one of arm_cmn, ')


def test_names_in_other_tables():
    changed('instances', GRAVITON4, 'core', 'Neoverse V9', 'core "Neoverse V9" is in no row of')
    changed('instances', GRAVITON4, 'midr', '0x41:0xfff', 'midr "0x41:0xfff" is in no row of')
    changed('instances', GRAVITON4, 'midr', '0x41:0xd0c', '0x41:0xd0c is Neoverse N1, not')
    changed('instances', GRAVITON4, 'cloud', 'nowhere',
            'cloud "nowhere" is in no row of clouds.tsv')
    changed('distributions', UBUNTU, 'cloud', 'nowhere', 'cloud "nowhere" is in no row of clouds.tsv')
    changed('distributions', UBUNTU, 'core', 'neoverse-v9', 'core "neoverse-v9" is in no row of')


def test_what_a_row_of_drivers_may_say():
    changed('distributions', UBUNTU, 'instead', 'another', 'an instead, but min_kernel is not none')
    changed('distributions', UBUNTU, 'boot', 'kpti=off', 'boot is of no system')
    changed('distributions', ANY_SPE, 'install', 'sudo x', 'install is of a system')
    changed('distributions', ANY_SPE, 'update', 'sudo x', 'update is of a system')


def test_double_and_disordered():
    for table, begins in (('cores', V2), ('x86', SPR), ('distributions', UBUNTU)):
        folder = data()
        path = folder / f'{table}.tsv'
        number, cells = row_of(path, *begins)
        put(path, number, cells, insert=True)
        stops(folder, table, number + 1, 'a second time', f'.tsv:{number}')
        folder = data()
        last = len(path.read_text().split('\n'))
        put(path, last, cells, insert=True)
        stops(folder, table, last, 'out of order')
    for table, begins in (('clouds', ('aws',)), ('instances', ('aws',))):
        folder = data()
        path = folder / f'{table}.tsv'
        last = len(path.read_text().split('\n'))
        put(path, last, row_of(path, *begins)[1], insert=True)
        stops(folder, table, last, 'aws is out of order')


def test_overlaps():
    folder = data()
    path = folder / 'cores.tsv'
    number, cells = row_of(path, '0x41', '0xd49', 'r0p0-r0p2')
    cells[2] = 'r0p2-r0p3'
    put(path, number + 1, cells, insert=True)
    stops(folder, 'cores', number + 1, 'revisions overlap')
    changed('cores', ('0x41', '0xd49', 'r0p0-r0p2'), 'revisions', 'r0p2-r0p0', 'run backwards')
    folder = data()
    number, cells = row_of(folder / 'x86.tsv', 'AuthenticAMD', '25', '0x00')
    cells[3] = '0x10'
    put(folder / 'x86.tsv', number, cells)
    stops(folder, 'x86', number + 1, 'models overlap')


def test_rows_that_never_match():
    for pattern in ('[cmrxi]8g*', 'm8g.large', 'm8g*.metal*', '[cm]8g?.*', 'x8g.*[0-9]xlarge'):
        folder = data()
        path = folder / 'instances.tsv'
        number, cells = row_of(path, *GRAVITON4)
        cells[1] = pattern
        put(path, number + 1, cells, insert=True)
        stops(folder, 'instances', number + 1, 'can never match', f'.tsv:{number} takes all')
    for pattern in ('[cmz]8g*', '?8g.*', '8g', 'm8[gi].large'):
        folder = data()
        path = folder / 'instances.tsv'
        number, cells = row_of(path, *GRAVITON4)
        cells[1] = pattern
        put(path, number + 1, cells, insert=True)
        done, _ = generate(folder)
        assert done.status == 0, (pattern, done)
    # The same pattern for one core alone is hidden by the one for all, not by one for another.
    folder = data()
    path = folder / 'instances.tsv'
    number, cells = row_of(path, 'gcp', '*', '0x41:0xd4f')
    cells[2] = ''
    put(path, number, cells)
    stops(folder, 'instances', number + 1, 'can never match')
    folder = data()
    path = folder / 'clouds.tsv'
    number, cells = row_of(path, 'azure')
    cells[3] += 'x'
    put(path, number + 1, cells, insert=True)
    stops(folder, 'clouds', number + 1, 'can never match')
    changed('clouds', ('vultr',), 'vendor_match', '', 'matches every machine')


def test_bytes_and_lines():
    for text, words in (('caf\u00e9', ('neither ASCII',)), ('a\r', ('neither ASCII',))):
        changed('cores', V2, 'note', text, *words)
    folder = data()
    path = folder / 'cores.tsv'
    number, cells = row_of(path, *V2)
    put(path, number, cells[:-1] + [cells[-1] + ' '])
    stops(folder, 'cores', number, 'blanks at the end')
    put(path, number, cells[:-1])
    stops(folder, 'cores', number, '14 columns, not 15')
    path.write_text(path.read_text().replace('SPDX', 'XPDS', 1))
    stops(folder, 'cores', 1, 'the first line is not')
    folder = data()
    path = folder / 'clouds.tsv'
    path.write_text(path.read_text().replace('key\tname', 'name\tkey', 1))
    stops(folder, 'clouds', 3, 'the columns are not key name')
    done = run(source('tools/gen-tables'), tmpdir() / 'x.c', source('README.md'))
    assert done.status == 1 and 'is no table that is known' in done.err, done


def test_empty_table():
    folder = data()
    path = folder / 'clouds.tsv'
    path.write_text('\n'.join(path.read_text().split('\n')[:3]) + '\n')
    done, out = generate(folder)
    assert done.status == 1 and not out.exists(), done
    assert 'is in no row of clouds.tsv' in done.err, done
