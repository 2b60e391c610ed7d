# SPDX-License-Identifier: Apache-2.0
"""What tests ask of a report in JSON."""


def share(report, function):
    """self_pct of a function (0 when it is not in the table)."""
    return sum(row['self_pct'] for row in report['tables']['functions']
               if row['function'] == function)


def total(report, function):
    return max([row['total_pct'] for row in report['tables']['functions']
                if row['function'] == function], default=0)


def row_of(report, table, **want):
    for row in report['tables'][table]:
        if all(row.get(key) == value for key, value in want.items()):
            return row
    raise AssertionError(f'no row {want} in {table}: {report["tables"][table]}')


def paths(report):
    """The call tree as a map from 'a;b;c' to the row."""
    stack, out = [], {}
    for row in report['tables']['calltree']:
        del stack[row['depth']:]
        stack.append(row['function'])
        out[';'.join(stack)] = row
    return out


def note_ids(report):
    return [note['id'] for note in report['notes']]
