# SPDX-License-Identifier: Apache-2.0
"""What the gates share: which files there are, and C without its comments and strings."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_SKIP = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def files(*folders, suffixes=('.c', '.h', '.cc')):
    """The C files below these folders of the tree, sorted."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob('*')
                  if p.suffix in suffixes and p.is_file())


def name(path):
    """The path as it is shown: from the top of the tree."""
    return str(path.relative_to(ROOT))


def code(path, strings=False):
    """Lines of a file with comments gone and strings empty, or kept; line numbers stay."""
    def blank(match):
        text = match[0]
        if text[0] in '"\'':
            return text if strings else text[0] * 2
        return '\n' * text.count('\n') or ' '
    return _SKIP.sub(blank, path.read_text()).split('\n')


def grep(paths, pattern, message, strings=False):
    """Print file:line for each match of the pattern in code; how many there were."""
    count = 0
    for path in paths:
        for number, line in enumerate(code(path, strings), 1):
            for match in pattern.finditer(line):
                print(f'{name(path)}:{number}: {message.format(match[1])}')
                count += 1
    return count


def finish(count):
    sys.exit(1 if count else 0)
