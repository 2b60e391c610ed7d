# SPDX-License-Identifier: Apache-2.0
"""Each gate passes a clean tree and catches what it is there for, in a tree made for it."""

import shutil

from harness import need, run, source, tmpdir

C_HEAD = '/* SPDX-License-Identifier: Apache-2.0 */\n'


def tree(files):
    """A source tree with the real tools and these files; its path."""
    top = tmpdir() / 'tree'
    if not top.exists():
        shutil.copytree(source('tools'), top / 'tools',
                        ignore=shutil.ignore_patterns('__pycache__'))
        (top / 'tools/size-exceptions').write_text('')
        shutil.copy(source('.clang-format'), top)
        for folder in ('tests', 'workloads', 'src'):
            (top / folder).mkdir()
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def gate(name, files):
    return run(tree(files) / 'tools' / name, env={'PYTHONDONTWRITEBYTECODE': '1'})


def passes(name, files):
    result = gate(name, files)
    assert result.status == 0 and result.out == '', result


def catches(name, files, *words):
    result = gate(name, files)
    assert result.status != 0, result
    for word in words:
        assert word in result.out, result


def test_layers():
    headers = {f'src/{p}.h': C_HEAD for p in
               ('base/err', 'decode/decode', 'decode/spe', 'model/model', 'store/store',
                'store/findings', 'capture/capture', 'front/cli/options')}
    passes('check-layers', {**headers,
                            'src/model/a.c': '#include "base/err.h"\n#include "decode/decode.h"\n',
                            'src/render/a.c': '#include "store/findings.h"\n',
                            'src/front/mcp/a.c': '#include "front/cli/options.h"\n',
                            'src/decode/a.c': '#include "decode/spe.h"\n#include <sqlite3.h>\n'})
    for path, include, word in [
            ('base/b.c', '"decode/decode.h"', 'base may not use decode'),
            ('decode/b.c', '"model/model.h"', 'decode may not use model'),
            ('model/b.c', '"decode/spe.h"', 'private to decode'),
            ('render/b.c', '"store/store.h"', 'render may not use store'),
            ('front/agent/b.c', '"model/model.h"', 'front/agent may not use model'),
            ('front/cli/b.c', '"decode/spe.h"', 'private to decode'),
            ('decode/b.c', '"spe.h"', 'no file of src/'),
            ('store/b.c', '<sqlite3.h>', 'behind decode/a.c already')]:
        catches('check-layers', {f'src/{path}': f'#include {include}\n'}, f'src/{path}', word)
        (tree({}) / 'src' / path).unlink()


def test_prints():
    passes('check-prints', {
        'src/base/log.c': 'void f(void) { fputs("", stderr); }\n',
        'src/front/cli/a.c': 'int main(void) { printf("x"); exit(1); }\n',
        'src/base/a.c': '/* printf( */ const char *s = "exit(1) stdout";\n'
                        'int g(struct job *j) { return j->stdout + snprintf(0, 0, "") + _exit(1); }'})
    for text in ('printf("x");', 'exit (1);', 'abort();', 'puts("");', 'fprintf(stderr, "x");',
                 'fflush(stdout);'):
        catches('check-prints', {'src/base/b.c': f'\nvoid f(void) {{ {text} }}\n'},
                'src/base/b.c:2')


def test_banned():
    passes('check-banned', {'src/base/a.c': 'int f(void) { return snprintf(0, 0, "atoi(") + '
                                            'p->gets(1) + my_strcpy(2); }\n'})
    for call in ('strcpy', 'strcat', 'sprintf', 'strtok', 'atoi', 'gets', 'localtime'):
        catches('check-banned', {'tests/unit/a.c': f'int x = {call}(1);\n'}, f':1: {call}()')


def test_names():
    passes('check-names', {
        'src/base/a.c': '/* On a Neoverse V2 of AWS */ const char *s = "nvidia_scf_pmu", '
                        '*t = "haswell_x", *u = "Cortexes"; // Graviton\n',
        'tests/a.c': 'const char *s = "Neoverse V2";\n'})
    for text in ('"Neoverse V2"', '"on Graviton4: metal"', '"Zen 4"', '"Sapphire Rapids"',
                 '"Amazon EC2"', '"Microsoft Azure"', '"AmpereOne"', '"Broadwell-EP"'):
        catches('check-names', {'src/base/b.c': f'\nconst char *s = {text};\n'},
                'src/base/b.c:2', 'data/')


def test_size():
    need('pmccabe')
    body = '\tx++;\n' * 70
    branches = ''.join(f'\tif (x == {i})\n\t\tx++;\n' for i in range(16))
    passes('check-size', {'src/base/a.c': f'int f(int x)\n{{\n{body}\treturn x;\n}}\n'})
    catches('check-size', {'src/base/b.c': f'int big(int x)\n{{\n{body}{body}\treturn x;\n}}\n'},
            'src/base/b.c:big: ', 'lines, at most 80')
    catches('check-size', {'src/base/b.c': f'int deep(int x)\n{{\n{branches}\treturn x;\n}}\n'},
            'src/base/b.c:deep: complexity 17')
    passes('check-size', {'tools/size-exceptions': 'src/base/b.c:deep it is a table\n'})
    catches('check-size', {'src/base/b.c': 'int f;\n'}, 'src/base/b.c:deep needs no exception')
    catches('check-size', {'tools/size-exceptions': '', 'src/base/b.c': 'int f;\n' * 601},
            '601 lines, at most 600')


def test_format():
    need('clang-format-14')
    passes('check-format', {'src/base/a.c': C_HEAD + 'int f(void)\n{\n\treturn 1;\n}\n'})
    catches('check-format', {'src/base/b.c': C_HEAD + 'int f(void) {\n  return 1;\n}\n'},
            'src/base/b.c')


def test_tree():
    meson = '# SPDX-License-Identifier: Apache-2.0\nbase_src = files(\n\t\'a.c\',\n)\n'
    passes('check-tree', {'meson.build': meson, 'src/base/meson.build': meson,
                          'src/base/a.c': C_HEAD, 'src/base/a.h': C_HEAD + 'int f(void);\n'})
    catches('check-tree', {'src/base/b.c': C_HEAD}, 'src/base/b.c: is in no meson.build')
    catches('check-tree', {'src/base/b.c': 'int x;\n'}, 'src/base/b.c: the first line')
    catches('check-tree', {'src/base/b.h': C_HEAD + 'uint8_t f(void);\n'},
            'src/base/b.h: does not compile alone')


def test_globals():
    need('gcc', 'objdump')
    top = tree({'a.c': 'static const char *const table[] = {"a", "b"};\n'
                       'const char *f(int i) { return table[i]; }\n'
                       'extern int elsewhere; int h(void) { return elsewhere; }\n'})
    build = top / 'build'
    objects = build / 'src/libbase.a.p'
    objects.mkdir(parents=True)
    done = run('gcc', '-fPIC', '-c', top / 'a.c', '-o', objects / 'a.c.o')
    assert done.status == 0, done
    done = run(top / 'tools/check-globals', build)
    assert done.status == 0 and done.out == '', done
    for text, word in [('int g;', 'g can change'), ('static int s = 1; int *p(void) { return &s; }',
                                                    's can change'),
                       ('int f(void) { static int n; return n++; }', 'n.'),
                       ('__thread int t;', 't can change')]:
        (top / 'b.c').write_text(text)
        done = run('gcc', '-fPIC', '-c', top / 'b.c', '-o', objects / 'b.c.o')
        assert done.status == 0, done
        done = run(top / 'tools/check-globals', build)
        assert done.status == 1 and word in done.out, done


def test_agent_limit():
    need('strip')
    done = run(source('tools/finish-agent'), 'strip', '100', '/bin/true', tmpdir() / 'out')
    assert done.status == 1 and 'the limit is 100' in done.err, done
    assert not (tmpdir() / 'out').exists()
    done = run(source('tools/finish-agent'), 'strip', '10000000', '/bin/true', tmpdir() / 'out')
    assert done.status == 0 and (tmpdir() / 'out').exists(), done


def test_steps_count_everything():
    script = tmpdir() / 'script'
    script.write_text('. ' + str(source('tools/steps.sh')) + '''
counted() { echo '3 passed, 1 failed, 2 skipped'; return 1; }
step one true
step two counted
step three false
finish
''')
    done = run('sh', script)
    assert done.status == 1, done
    assert done.out.splitlines()[-1] == '4 passed, 2 failed, 2 skipped', done
    script.write_text('. ' + str(source('tools/steps.sh')) + '\nstep one true\nfinish\n')
    done = run('sh', script)
    assert done.status == 0 and done.out.splitlines()[-1] == '1 passed, 0 failed', done
    script.write_text('. ' + str(source('tools/steps.sh')) + '\nfinish\n')
    assert run('sh', script).status != 0
