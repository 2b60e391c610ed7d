# SPDX-License-Identifier: Apache-2.0
"""The workloads are what their headers say, as far as that shows without a profiler."""

import re

from harness import alone, need, program, run, timeout, workload

PACKED = r'v?mulps|v?addps|vfmadd\w+ps|(?:fmla|fmul|fadd)\s+v\d+\.4s'


def functions(path):
    listing = run('objdump', '-d', '--no-show-raw-insn', path).out
    return {name: body for name, body in
            re.findall(r'^[0-9a-f]+ <([^>]+)>:\n((?:.+\n)*)', listing, re.MULTILINE)}


def test_usage_errors():
    for command in (['memlat'], ['memlat', 'chase'], ['memlat', 'other', '1'],
                    ['memlat', 'chase', 'x'], ['memlat', 'chase', '-1'], ['memlat', 'seq', '1x'],
                    ['vecmix-scalar'], ['vecmix-vector', '0'], ['vecmix-vector', '1', '2']):
        done = run(workload(command[0]), *command[1:])
        assert done.status == 2 and done.out == '' and done.err.startswith('usage: '), done
    for name in ('spin', 'threads', 'forker', 'inline', 'cpp'):
        done = run(program(name))
        assert done.status == 2 and done.err.startswith(f'usage: {name} '), done


def test_only_one_vecmix_is_vectorised():
    need('objdump')
    scalar = functions(workload('vecmix-scalar'))['mix']
    vector = functions(workload('vecmix-vector'))['mix']
    assert not re.search(PACKED, scalar), scalar
    assert len(re.findall(PACKED, vector)) >= 2, vector


def test_functions_have_their_names():
    need('objdump')
    for path, names in ((workload('memlat'), ['chase', 'walk', 'main']),
                        (program('spin'), ['hot_a', 'hot_b', 'hot_c', 'middle', 'outer']),
                        (program('threads'), ['burn']), (program('forker'), ['burn_child']),
                        (program('inline'), ['first_caller', 'second_caller'])):
        found = functions(path)
        assert set(names) <= set(found), (path, sorted(found))
    assert 'hot_inline' not in functions(program('inline'))


@alone
@timeout(120)
def test_random_access_is_slower_and_vectors_are_faster():
    ns = {}
    for way in ('chase', 'seq'):
        done = run(workload('memlat'), way, '0.3')
        assert done.status == 0, done
        ns[way] = float(re.search(way + r' ([0-9.]+) ns per access', done.out)[1])
    assert ns['chase'] > 3 * ns['seq'], ns
    rate = {}
    for kind in ('scalar', 'vector'):
        done = run(workload('vecmix-' + kind), '0.5')
        assert done.status == 0, done
        rate[kind] = float(re.search(r'([0-9.]+) GFLOP/s', done.out)[1])
    assert rate['vector'] > 1.5 * rate['scalar'], rate
