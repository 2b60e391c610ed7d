# SPDX-License-Identifier: Apache-2.0
"""AArch64 code as culprit annotate shows it, of captures that a real kernel made."""

import re

from guest import json_on_target, on
from harness import culprit, source

LOOP = [(r'ldr x\d+, \[x\d+\]', 'at = at->next'), (r'subs w\d+, w\d+, #1', 'i < CHASE_STEPS'),
        (r'b\.ne ', 'i < CHASE_STEPS')]


def loop_of(listing):
    """The instructions of chase's loop, from the load to the branch back to it."""
    code = listing['instructions']
    at = next(i for i, row in enumerate(code) if re.fullmatch(LOOP[0][0], row['text'])
              and row['text'] != 'ldr x0, [sp]')
    return code[at:at + len(LOOP)]


def check_loop(loop):
    text = source('workloads/memlat.c').read_text().splitlines()
    for row, (instruction, line) in zip(loop, LOOP):
        assert re.match(instruction, row['text']), loop
        assert row['file'].endswith('workloads/memlat.c') and line in text[row['line'] - 1], row
    assert loop[2]['target'].startswith('chase+0x'), loop


@on('plain', 'unknown-core')
def test_chase_in_full():
    json_on_target('run', 'code_hotspots', '-F', '997', '--', '/tmp/memlat', 'chase', '0.5')
    listing = culprit('annotate', 'chase', '--json').json()
    assert listing['syntax'] == 'aarch64'
    loop = loop_of(listing)
    check_loop(loop)
    own = sum(row['samples'] for row in listing['instructions'])
    assert own > 100 and sum(row['samples'] for row in loop) > 0.95 * own, listing['instructions']
    text = culprit('annotate', 'chase').out
    assert 'at = at->next;' in text and 'b.ne' in text and 'ret' in text, text


@on('exact')
def test_each_instruction_of_the_loop_has_its_third():
    json_on_target('run', 'code_hotspots', '-e', 'cycles:u', '-c', '200000', '--max-overhead',
                   '100', '--', '/tmp/memlat', 'chase', '0.05')
    listing = culprit('annotate', 'chase', '--json').json()
    loop = loop_of(listing)
    check_loop(loop)
    # An emulated core spends two cycles on each instruction, so the shares are alike.
    own = sum(row['samples'] for row in loop)
    assert own > 300, listing['instructions']
    for row in loop:
        assert abs(row['samples'] / own - 1 / 3) < 0.1, loop
