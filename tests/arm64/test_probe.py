# SPDX-License-Identifier: Apache-2.0
"""What the agent finds out about a machine, and what check makes of it here."""

import re

from guest import check, guest, machine, on, paranoid, probe


def state(report, recipe):
    return next(r for r in report['recipes'] if r['recipe'] == recipe)


def core_pmus(seen):
    return [line for line in seen['pmu'] if line.split()[1].startswith('armv8_pmuv3')]


@on()
def test_counters_are_those_that_the_kernel_has():
    m = machine()
    told = re.search(r'armv8_pmuv3\S* PMU driver, (\d+) \(0,([0-9a-f]+)\)', guest('dmesg'))
    # Each time the same: nothing that a probe leaves behind takes a counter from the next.
    for _ in range(3):
        seen = probe()
        if m.counters is None:
            assert told is None
            assert core_pmus(seen) == [] and 'pmu_counters' not in seen, seen
            continue
        assert int(told[1]) == m.counters + 1, told[0]
        assert int(told[2], 16) == 1 << 31 | (1 << m.counters) - 1, told[0]
        assert len(core_pmus(seen)) == 1, seen['pmu']
        counted, free, cycle_counter = seen['pmu_counters'][0].split()[:3]
        assert (int(counted), int(free), cycle_counter) == (m.counters, m.counters, '1'), seen


@on()
def test_what_the_machine_is():
    m = machine()
    seen = probe()
    assert seen['arch'] == ['aarch64']
    assert seen['kernel'] == [guest('uname', '-r').strip()]
    assert seen['page_bytes'] == [str(m.page)]
    assert seen['core'] == [f'{m.midr:#x} 2 0-1'], seen['core']
    assert seen['cpus_online'] == ['2']
    assert seen['is_acpi'] == ['1' if m.acpi else '0']
    assert seen['virt'] == ['emulated'] and seen['hypervisor'] == ['qemu'], seen
    if m.acpi:
        assert seen['dmi_vendor'] == ['QEMU'], seen
    else:
        assert seen['dt_model'] == ['linux,dummy-virt'], seen
    assert seen['kernel_build_id'] == guest('sh', '-c', 'od -An -tx1 -v -j16 -N20 /sys/kernel/notes '
                                            '| tr -d " \\n"').splitlines()


@on()
def test_check_names_the_core_and_judges():
    m = machine()
    report = check()
    core = report['cores'][0]
    assert core['midr'] == f'{m.midr:#010x}' and core['count'] == 2, core
    assert core['known'] == (m.core is not None), core
    if m.core:
        assert core['name'] == m.core, core
    assert report['target']['firmware'] == ('acpi' if m.acpi else 'devicetree')
    hotspots = state(report, 'code_hotspots')
    if m.counters is None:
        assert hotspots['state'] == 'weaker' and hotspots['rung'] == 'cpu-clock', hotspots
        assert 'NO_PMU' in str(hotspots), hotspots
        assert report['abilities']['cycles']['id'] == 'NO_PMU', report['abilities']
    else:
        assert hotspots['state'] == 'ready' and hotspots['rung'] == 'cycles', hotspots
        assert report['abilities']['cycles']['ok']
        pmu = next(p for p in report['pmus'] if p['name'].startswith('armv8_pmuv3'))
        assert pmu['counters'] == m.counters and pmu['cycle_counter'] is True, pmu
    assert report['abilities']['counters:1']['ok'] == bool(m.counters), report['abilities']
    assert report['abilities']['counters:6']['ok'] == (m.counters == 6), report['abilities']
    # No emulated core has it.
    spe = report['abilities']['spe']
    assert not spe['ok'] and spe['id'] == 'SPE_NOT_PRESENT' and 'emulated' in spe['message'], spe
    for ability in 'timer', 'system-wide', 'kernel', 'tracepoints', 'bpf', 'ptrace':
        assert report['abilities'][ability]['ok'], (ability, report['abilities'][ability])


@on('plain', 'no-pmu')
def test_check_for_an_ordinary_user():
    paranoid(3)
    denied = check(user='user')
    assert state(denied, 'code_hotspots')['state'] == 'blocked', denied['recipes']
    has_pmu = machine().counters is not None
    for ability in 'timer', 'system-wide', 'kernel':
        assert denied['abilities'][ability]['id'] == 'PERF_EVENT_PARANOID', denied['abilities']
    # No right brings counters to a machine without them.
    why = 'PERF_EVENT_PARANOID' if has_pmu else 'NO_PMU'
    assert denied['abilities']['cycles']['id'] == why, denied['abilities']
    assert 'perf_event_paranoid=2' in denied['abilities']['timer']['remedy'], denied['abilities']
    pmus = [p for p in denied['pmus'] if p['name'].startswith('armv8_pmuv3')]
    assert [p['counters'] for p in pmus] == [None] * len(pmus), pmus
    paranoid(2)
    try:
        allowed = check(user='user')
    finally:
        paranoid(3)
    assert allowed['abilities']['timer']['ok'] and allowed['abilities']['cycles']['ok'] == has_pmu
    assert allowed['abilities']['kernel']['id'] == 'PERF_EVENT_PARANOID', allowed['abilities']
    want = ('ready', 'cycles') if has_pmu else ('weaker', 'cpu-clock')
    hotspots = state(allowed, 'code_hotspots')
    assert (hotspots['state'], hotspots['rung']) == want, hotspots
    if has_pmu:
        pmu = next(p for p in allowed['pmus'] if p['name'].startswith('armv8_pmuv3'))
        assert pmu['counters'] == machine().counters, pmu
