#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unfolds a recorded machine, one text file, into the folder tree that culprit check --root reads.

    tests/targets/tree.py list
    tests/targets/tree.py expand graviton4-metal /tmp/machine
    tests/targets/tree.py bless build       write what culprit now says of each: read the diff

The text is a list of files below the tree's root; a line that begins with a tab is content.

    # comment
    like NAME               all that NAME.tree or parts/NAME.tree says, to be overridden below
    etc/hostname = value    a file of one line
    sys/kernel/tracing/     an empty folder
    proc/cmdline:           a file; its lines follow, each behind one tab
    proc/cpuinfo each 0-3:  the lines and an empty one for every number, which stands for {}
    sys/class/dmi/id/:      a folder; in each line that follows a file's name and its one line
    sys/.../APIC hex:       bytes in hexadecimal; "96 x 0b 50" stands for 96 times those bytes
    proc/device-tree -> ../sys/firmware/devicetree/base
                            a link
    - sys/module/arm_cmn    no such file or folder, whatever came before

{0-95} in a path stands for all these numbers, and {} in the value for the number. "+ " before a
path adds to the file.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r'^(\+ )?(\S+?)(/)?(?: (each) ([\d,-]+)| (hex))?:$')
LINE = re.compile(r'^(\+ )?(\S+) = ?(.*)$')
RANGE = re.compile(r'\{([\d,-]+)\}')


class TreeError(Exception):
    pass


def numbers(text):
    """'0-3,8' as a list."""
    out = []
    for part in text.split(','):
        first, _, last = part.partition('-')
        out += range(int(first), int(last or first) + 1)
    return out


def names():
    return sorted(p.stem for p in HERE.glob('*.tree'))


def find(name, beside=HERE):
    for folder in (beside, HERE, HERE / 'parts'):
        if (folder / f'{name}.tree').exists():
            return folder / f'{name}.tree'
    raise TreeError(f'there is no tree {name}')


def hex_bytes(line):
    count, times, rest = line.partition(' x ')
    return bytes.fromhex(rest) * int(count) if times else bytes.fromhex(line)


class Tree:
    """Files by path below the root: their bytes, the text of a link, None for an empty folder."""

    def __init__(self, path):
        self.files = {}
        self.read(Path(path))

    def put(self, path, content, add):
        if path.startswith('/') or '..' in path.split('/'):
            raise TreeError(f'{path} does not lie below the root')
        span = RANGE.search(path)
        for number in numbers(span[1]) if span else [None]:
            one, text = path, content
            if span:
                one = path[:span.start()] + str(number) + path[span.end():]
                text = content.replace(b'{}', str(number).encode())
            self.files[one] = self.files.get(one, b'') + text if add else text

    def remove(self, path):
        gone = [p for p in self.files if p == path or p.startswith(path + '/')]
        if not gone:
            raise TreeError(f'{path} cannot be taken out: it is not there')
        for p in gone:
            del self.files[p]

    def block(self, head, lines):
        add, path, folder, each, span, is_hex = head.groups()
        if folder:
            for line in lines:
                name, _, value = line.partition(' ')
                self.put(f'{path}/{name}', value.encode() + b'\n', bool(add))
            if not lines:
                raise TreeError(f'{path}/ names no files')
            return
        if is_hex:
            content = b''.join(hex_bytes(line) for line in lines)
        else:
            text = ''.join(line + '\n' for line in lines)
            if each:
                text = ''.join(text.replace('{}', str(n)) + '\n' for n in numbers(span))
            content = text.encode()
        self.put(path, content, bool(add))

    def read(self, path):
        lines = path.read_text(encoding='utf-8').split('\n')
        at = 0
        while at < len(lines):
            line, here = lines[at], at + 1
            at += 1
            body = []
            while at < len(lines) and lines[at].startswith('\t'):
                body.append(lines[at][1:])
                at += 1
            try:
                self.step(line, body, path)
            except (TreeError, ValueError) as e:
                where = f'{path.name}:{here}: '
                raise TreeError(str(e) if str(e).count('.tree:') else where + str(e)) from None

    def step(self, line, body, path):
        block, single = BLOCK.match(line), LINE.match(line)
        if block:
            self.block(block, body)
            return
        if body or line.startswith('\t'):
            raise TreeError('these lines belong to no file')
        if not line or line.startswith('#'):
            return
        if line.startswith('like '):
            self.read(find(line[5:], path.parent))
        elif line.startswith('- '):
            self.remove(line[2:])
        elif single:
            self.put(single[2], single[3].encode() + b'\n', bool(single[1]))
        elif ' -> ' in line:
            link, _, target = line.partition(' -> ')
            self.files[link] = target
        elif line.endswith('/') and ' ' not in line:
            self.files[line[:-1]] = None
        else:
            raise TreeError(f'not a line of a tree: {line}')

    def write(self, folder):
        made = set()
        for path, content in self.files.items():
            full = Path(folder) / path
            parent = full if content is None else full.parent
            if parent not in made:
                parent.mkdir(parents=True, exist_ok=True)
                made.add(parent)
            if isinstance(content, str):
                full.symlink_to(content)
            elif content is not None:
                full.write_bytes(content)


def expand(name, folder):
    """name: of a tree here, or a path to one."""
    Tree(name if str(name).endswith('.tree') else find(name)).write(folder)


def summary(told):
    """The part of culprit check --json that does not depend on where the tree lies."""
    part = {key: told[key] for key in ('cores', 'pmus', 'recipes')}
    return json.dumps(part, indent=1, ensure_ascii=False) + '\n'


def bless(build):
    for name in names():
        with tempfile.TemporaryDirectory() as folder:
            expand(name, folder)
            done = subprocess.run([str(Path(build) / 'culprit'), 'check', '--json', '--root',
                                   folder], stdout=subprocess.PIPE, check=True)
        (HERE / f'{name}.expected.json').write_text(summary(json.loads(done.stdout)),
                                                    encoding='utf-8')


def main(args):
    if args == ['list']:
        print('\n'.join(names()))
    elif len(args) == 2 and args[0] == 'bless':
        bless(args[1])
    elif len(args) == 3 and args[0] == 'expand':
        try:
            expand(args[1], args[2])
        except (TreeError, OSError) as e:
            print(f'tree.py: {e}', file=sys.stderr)
            return 1
    else:
        print('usage: tree.py list | expand NAME|FILE.tree FOLDER | bless BUILD', file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
