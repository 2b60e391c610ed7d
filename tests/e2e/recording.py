# SPDX-License-Identifier: Apache-2.0
"""Writes a small perf.data file with samples at chosen places of an ELF file, whose program never
ran: the way to test what comes from machines of another architecture."""

import struct
from pathlib import Path

# include/uapi/linux/perf_event.h
MMAP2, COMM, SAMPLE = 10, 3, 9
MISC_USER, MISC_BUILD_ID = 2, 1 << 14
S_IP, S_TID, S_TIME, S_PERIOD = 1, 2, 4, 256
PID = 4242
EXEC = 5


class Elf:
    """The few things of a 64-bit little-endian ELF file that a recording needs."""

    def __init__(self, path):
        self.path = Path(path)
        self.bytes = self.path.read_bytes()
        assert self.bytes[:6] == b'\x7fELF\x02\x01', path
        at, = struct.unpack_from('<Q', self.bytes, 40)
        size, count = struct.unpack_from('<HH', self.bytes, 58)
        self.sections = [struct.unpack_from('<IIQQQQIIQQ', self.bytes, at + i * size)
                         for i in range(count)]

    def build_id(self):
        for _, kind, _, _, at, _, _, _, _, _ in self.sections:
            if kind == 7:  # SHT_NOTE
                name, desc, note = struct.unpack_from('<III', self.bytes, at)
                if note == 3 and name == 4:
                    return self.bytes[at + 16:at + 16 + desc]
        raise AssertionError(f'{self.path} has no build id')

    def symbol(self, name):
        """Address and size."""
        for _, kind, _, _, at, size, link, _, _, _ in self.sections:
            if kind != 2:  # SHT_SYMTAB
                continue
            names = self.sections[link][4]
            for i in range(at, at + size, 24):
                start, _, _, _, value, length = struct.unpack_from('<IBBHQQ', self.bytes, i)
                end = self.bytes.index(b'\0', names + start)
                if self.bytes[names + start:end] == name.encode():
                    return value, length
        raise AssertionError(f'{self.path} has no symbol {name}')

    def code(self):
        """Address and offset in the file of the segment that can be executed."""
        at, = struct.unpack_from('<Q', self.bytes, 32)
        size, count = struct.unpack_from('<HH', self.bytes, 54)
        for i in range(count):
            kind, flags, offset, address, _, length = struct.unpack_from('<IIQQQQ', self.bytes,
                                                                         at + i * size)
            if kind == 1 and flags & 1:
                return address, offset, length
        raise AssertionError(f'{self.path} has no code')


def _text(name):
    raw = str(name).encode() + b'\0'
    return raw + b'\0' * (-len(raw) % 8)


def _record(kind, misc, body):
    return struct.pack('<IHH', kind, misc, 8 + len(body)) + body


def write(path, elf, addresses, arch):
    """A perf.data file with a sample at each of the addresses (as the ELF file has them)."""
    start, offset, length = elf.code()
    page = start & ~0xfff
    build_id = elf.build_id()
    data = _record(COMM, 0, struct.pack('<II', PID, PID) + _text(elf.path.name[:15]))
    data += _record(MMAP2, MISC_USER | MISC_BUILD_ID,
                    struct.pack('<IIQQQB3x20sII', PID, PID, page, start + length - page,
                                offset - (start - page), len(build_id), build_id, EXEC, 2) +
                    _text(elf.path))
    for i, address in enumerate(addresses):
        data += _record(SAMPLE, MISC_USER,
                        struct.pack('<QIIQQ', address, PID, PID, 1000 + i * 250000, 250000))
    # A software event, cpu-clock, with a period of 250 us.
    attr = struct.pack('<IIQQQQQ', 1, 112, 0, 250000, S_IP | S_TID | S_TIME | S_PERIOD, 0, 0)
    attr = attr.ljust(112, b'\0') + struct.pack('<QQ', 0, 0)
    feature = 1 << 6  # ARCH
    data_at = 104 + len(attr)
    table = data_at + len(data)
    arch_text = struct.pack('<I', len(_text(arch))) + _text(arch)
    header = struct.pack('<8sQQQQQQQQQQQQ', b'PERFILE2', 104, len(attr), 104, len(attr), data_at,
                         len(data), 0, 0, feature, 0, 0, 0)
    Path(path).write_bytes(header + attr + data +
                           struct.pack('<QQ', table + 16, len(arch_text)) + arch_text)
