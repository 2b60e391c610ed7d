# SPDX-License-Identifier: Apache-2.0
"""Recorded machines (tests/targets): what culprit check says of each, whole and by hand.

The table below is written from what is documented about these machines, before the program ran. The
files NAME.expected.json hold everything it says; 'tests/targets/tree.py bless BUILD' writes them
anew, and the table stands in the way of an error that is blessed along.
"""

import difflib
import platform
import sys

from harness import BUILD, ROOT, culprit, run, skip, timeout, tmpdir

sys.path.insert(0, str(ROOT / 'tests' / 'targets'))
import tree  # pylint: disable=wrong-import-position,import-error

READY = {'code_hotspots': 'ready cycles', 'cpu_microarchitecture': 'ready all-at-once',
         'memory_access': 'ready spe', 'instruction_mix': 'ready spe-operations',
         'off_cpu': 'ready bpf', 'syscall_trace_summary': 'ready bpf',
         'system_utilization': 'ready files', 'memory_hierarchy': 'ready benchmarks',
         'cmn_analysis': 'ready interconnect', 'cache_sharing': 'ready spe',
         'branch_analysis': 'weaker spe-branches'}
# Without SPE.
NO_SPE = {**READY, 'memory_access': 'weaker refill-sampling',
          'instruction_mix': 'weaker sampled-code', 'cache_sharing': 'blocked',
          'branch_analysis': 'weaker miss-sampling'}
# Without SPE and the interconnect's PMU, as guests are.
GUEST = {**NO_SPE, 'cmn_analysis': 'blocked'}
# A user whose own code alone may be observed.
USER = {**GUEST, 'off_cpu': 'blocked', 'syscall_trace_summary': 'weaker ptrace'}
NO_PMU = {**GUEST, 'code_hotspots': 'weaker cpu-clock', 'cpu_microarchitecture': 'blocked',
          'memory_access': 'blocked', 'branch_analysis': 'blocked'}
# Neither a PMU nor rights.
NOTHING = {**NO_PMU, 'code_hotspots': 'blocked', 'instruction_mix': 'blocked',
           'off_cpu': 'blocked', 'syscall_trace_summary': 'weaker ptrace'}

# Per machine: cores as (part of the name, CPUs); core PMUs as (counters, free, cycle counter); what
# each recipe could do; of a need that is missing its id and words that its remedy must have; and
# words of the page that a person reads.
MACHINES = {
    'graviton4-metal': {
        'cores': [('Neoverse V2', 96)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'recipes': {**READY, 'cmn_analysis': 'blocked'},
        # AL2023's 6.1 has a driver for the meshes of Graviton2 and 3 alone.
        'needs': {'cmn': ('KERNEL_TOO_OLD', '6.12')}},
    'graviton4-metal-ubuntu2404': {
        'cores': [('Neoverse V2', 96)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'recipes': GUEST,
        'needs': {'spe': ('KERNEL_TOO_OLD', '6.17'), 'cmn': ('KERNEL_TOO_OLD', '6.17')}},
    'graviton4-vm': {
        'cores': [('Neoverse V2', 4)], 'pmus': {'armv8_pmuv3_0': (2, 2, True)}, 'virt': 'guest',
        'text': ('Amazon Web Services c8g.xlarge', 'Neoverse V2 (AWS Graviton4)',
                 "2 of the core's 6 programmable counters"),
        'recipes': {**USER, 'cpu_microarchitecture': 'weaker time-sliced'},
        'needs': {'counters:6': ('INSUFFICIENT_PMU_COUNTERS', 'c8g.24xlarge', 'c8g.metal-48xl'),
                  'spe': ('SPE_NOT_PRESENT', 'c8g.metal-24xl'),
                  # AL2023's 6.1 would not do on the metal size either.
                  'cmn': ('CMN_NOT_PRESENT', 'c8g.metal-24xl', 'Linux 6.12 or later'),
                  'branch-records': ('BRANCH_RECORDS_NOT_PRESENT', 'Neoverse V3'),
                  'bpf': ('BPF_UNAVAILABLE', 'CAP_BPF')}},
    'graviton2-metal-kpti': {
        'cores': [('Neoverse N1', 64)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'recipes': NO_SPE,
        'needs': {'spe': ('SPE_BLOCKED_BY_KPTI', 'kpti=off')}},
    'graviton3-vm-16xlarge': {
        'cores': [('Neoverse V1', 64)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'guest',
        'recipes': GUEST,
        'needs': {'spe': ('SPE_NOT_PRESENT', 'metal')}},
    'axion-c4a': {
        'cores': [('Neoverse V2', 8)], 'pmus': {}, 'virt': 'guest', 'recipes': NOTHING,
        'text': ('Google Cloud (the firmware does not name the type of instance)',
                 'Neoverse V2 (Google Axion C4A)'),
        'needs': {'cycles': ('NO_PMU', 'performance-monitoring-unit'),
                  'timer': ('PERF_EVENT_PARANOID', 'kernel.perf_event_paranoid=2'),
                  'spe': ('SPE_NOT_PRESENT',)}},
    'axion-c4a-vpmu': {
        'cores': [('Neoverse V2', 8)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'guest',
        'recipes': GUEST,
        'needs': {'spe': ('SPE_NOT_PRESENT',)}},
    'altra-baremetal': {
        'cores': [('Neoverse N1', 80)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'recipes': GUEST,
        'needs': {'spe': ('SPE_DRIVER_NOT_LOADED', 'modprobe arm_spe_pmu'),
                  'cmn': ('CMN_DRIVER_NOT_LOADED', 'modprobe arm_cmn')}},
    'oci-a1': {
        'cores': [('Neoverse N1', 4)], 'pmus': {}, 'virt': 'guest', 'recipes': NO_PMU,
        'needs': {'cycles': ('NO_PMU', 'Oracle', 'BM.Standard.A1'),
                  'spe': ('SPE_NOT_PRESENT', 'bare metal')}},
    'cobalt100': {
        'cores': [('Cobalt 100', 4)], 'pmus': {'armv8_pmuv3_0': (5, 5, True)}, 'virt': 'guest',
        'recipes': {**NO_PMU, 'cpu_microarchitecture': 'weaker time-sliced'},
        'text': ('Microsoft Azure (the firmware does not name the type of instance)',),
        'needs': {'cycles': ('PMU_CANNOT_SAMPLE', 'interrupt is not passed on',
                             'nothing on Microsoft Azure is known'),
                  'counters:6': ('INSUFFICIENT_PMU_COUNTERS', 'Azure')}},
    'grace': {
        'cores': [('Neoverse V2', 72)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'page_bytes': 65536, 'text': ('pages of 64 KiB', '478.9 GiB', 'cmn by nvidia_scf_pmu_0',
                                      'ready on interconnect (nvidia_scf_pmu_0)'),
        'recipes': READY, 'needs': {'branch-records': (
            'BRANCH_RECORDS_NOT_PRESENT',)}},
    'ampereone': {
        'cores': [('AmpereOne', 192)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'recipes': {**READY, 'cmn_analysis': 'blocked'},
        'needs': {'cmn': ('CMN_NOT_PRESENT',)}},
    'kunpeng920': {
        'cores': [('TSV110', 96)], 'pmus': {'armv8_pmuv3_0': (12, 12, True)}, 'virt': 'none',
        'text': ('cmn by hisi_sccl1_ddrc0',),
        'recipes': NO_SPE, 'needs': {'spe': ('SPE_NOT_IN_FIRMWARE', 'firmware')}},
    'raspberry-pi5': {
        'cores': [('Cortex-A76', 4)], 'pmus': {'armv8_cortex_a76': (6, 6, True)}, 'virt': 'none',
        'page_bytes': 16384, 'recipes': USER,
        'needs': {'spe': ('SPE_NOT_PRESENT', 'no setting'), 'cmn': ('CMN_NOT_PRESENT',)}},
    'rk3588': {
        'cores': [('Cortex-A55', 4), ('Cortex-A76', 4)], 'virt': 'none',
        'pmus': {'armv8_cortex_a55': (6, 6, True), 'armv8_cortex_a76': (6, 6, True)},
        'recipes': GUEST,
        'needs': {'spe': ('SPE_NOT_PRESENT', 'no setting'), 'cmn': ('CMN_NOT_PRESENT',)}},
    'unknown-core': {
        'cores': [('0x7e', 32)], 'pmus': {'armv8_pmuv3_0': (8, 8, True)}, 'virt': 'none',
        'recipes': READY, 'needs': {}},
    'x86-vm-none': {
        'cores': [('Zen 3', 2)], 'pmus': {}, 'virt': 'guest', 'recipes': NO_PMU,
        # Zen 3 has branch records of a kind (BRS): the PMU is what a guest lacks first.
        'needs': {'cycles': ('NO_PMU', 'hypervisor', 'pmu=on'), 'branch-records': ('NO_PMU',),
                  'spe': ('SPE_NOT_PRESENT', 'Arm')}},
    'x86-intel-metal': {
        'cores': [('Sapphire Rapids', 128)], 'pmus': {'cpu': (8, 7, True)}, 'virt': 'none',
        'recipes': {**GUEST, 'branch_analysis': 'ready branch-records'},
        'needs': {'spe': ('SPE_NOT_PRESENT', 'Arm')}},
    'x86-hybrid': {
        'cores': [('Alder Lake', 20)], 'virt': 'none',
        'pmus': {'cpu_atom': (6, 6, True), 'cpu_core': (8, 8, True)},
        'recipes': {**USER, 'branch_analysis': 'ready branch-records'},
        'needs': {'system-wide': ('PERF_EVENT_PARANOID', 'kernel.perf_event_paranoid=0')}},
    'container-paranoid': {
        'cores': [('Neoverse V1', 16)], 'pmus': {'armv8_pmuv3_0': (None, None, None)},
        'virt': 'guest', 'recipes': NOTHING,
        # The level of the host allows it: Docker's filter is in the way.
        'needs': {'timer': ('PERF_EVENTS_BLOCKED', '--cap-add'),
                  'bpf': ('BPF_UNAVAILABLE', '--cap-add')}},
    'rootless-podman': {
        'cores': [('Neoverse V2', 96)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)}, 'virt': 'none',
        'text': ('and one for cycles (held just now)', 'root in a user namespace'),
        'recipes': {**USER, 'cpu_microarchitecture': 'weaker time-sliced'},
        # Neither the image's commands nor capabilities that do not count.
        'needs': {'counters:6': ('PMU_BUSY', 'whose own is held'),
                  'system-wide': ('PERF_EVENT_PARANOID', 'on the host: sysctl', 'rootless'),
                  'bpf': ('BPF_UNAVAILABLE', 'outside of this user namespace'),
                  'spe': ('SPE_DRIVER_NOT_LOADED', 'on the host: sudo modprobe arm_spe_pmu'),
                  'cmn': ('KERNEL_TOO_OLD', 'on the host: update the kernel to 6.8')}},
    'x86-zen-metal': {
        'cores': [('Zen 4', 128)], 'pmus': {'cpu': (6, 6, False)}, 'virt': 'none',
        'recipes': {**GUEST, 'cpu_microarchitecture': 'weaker time-sliced',
                    'branch_analysis': 'ready branch-records'},
        'needs': {'counters:6': ('INSUFFICIENT_PMU_COUNTERS', '7 programmable counters',
                                 'one for cycles')}},
    'unprivileged': {
        'cores': [('Neoverse V2', 96)], 'pmus': {'armv8_pmuv3_0': (None, None, None)},
        'virt': 'none', 'recipes': NOTHING,
        'needs': {'timer': ('PERF_EVENT_PARANOID', 'kernel.perf_event_paranoid=2'),
                  'cycles': ('PERF_EVENT_PARANOID', 'kernel.perf_event_paranoid=2'),
                  'spe': ('PERF_EVENT_PARANOID', 'kernel.perf_event_paranoid')}},
    'qemu-arm64-acpi': {
        'cores': [('Neoverse N1', 2)], 'pmus': {'armv8_pmuv3_0': (6, 6, True)},
        'virt': 'emulated', 'recipes': GUEST,
        'needs': {'spe': ('SPE_NOT_PRESENT', 'emulated'), 'cmn': ('CMN_NOT_PRESENT', 'emulated')}},
    'qemu-arm64-dt': {
        'cores': [('Neoverse N1', 2)], 'pmus': {'armv8_pmuv3': (6, 6, True)}, 'virt': 'emulated',
        'recipes': GUEST, 'needs': {'spe': ('SPE_NOT_PRESENT', 'emulated')}},
    'busy': {
        'cores': [('Neoverse V2', 96)], 'pmus': {'armv8_pmuv3_0': (6, 2, True)}, 'virt': 'none',
        'text': ('2 free just now', 'end other profilers'),
        'recipes': {**READY, 'cmn_analysis': 'blocked',
                    'cpu_microarchitecture': 'weaker time-sliced'},
        'needs': {'counters:6': ('PMU_BUSY', 'profiler')}},
}


def checked(name):
    folder = tmpdir() / name
    tree.expand(name, folder)
    result = culprit('check', '--json', '--root', folder)
    assert result.status == 0, result
    return result.json(), folder


def standing(recipe):
    """What a recipe could do, whether or not it is built: 'weaker spe-branches', 'blocked'."""
    state = recipe['would_be'] if recipe['state'] == 'planned' else recipe['state']
    return state if state == 'blocked' else f'{state} {recipe["rung"]}'


def compare_by_hand(name, told):
    expect = MACHINES[name]
    wrong = []

    def want(what, expected, found):
        if expected != found:
            wrong.append(f'{what}: expected {expected!r}, found {found!r}')

    want('virtualisation', expect['virt'], told['target']['virtualisation'])
    if 'page_bytes' in expect:
        want('page', expect['page_bytes'], told['target']['page_bytes'])
    want('core types', len(expect['cores']), len(told['cores']))
    for (part, count), core in zip(expect['cores'], told['cores']):
        said = f'{core["name"]} {core["products"]} {core.get("implementer")}'
        if part not in said:
            wrong.append(f'core: expected {part!r} in {said!r}')
        want(f'CPUs of {core["name"]}', count, core['count'])
    core_pmus = {p['name']: (p['counters'], p['free'], p['cycle_counter'])
                 for p in told['pmus']
                 if p.get('counters_why') != 'not the PMU of a core'}
    want('core PMUs', expect['pmus'], core_pmus)
    want('recipes', expect['recipes'], {r['recipe']: standing(r) for r in told['recipes']})
    lacking = {m['need']: m for r in told['recipes'] for m in r['missing']}
    lacking.update({need: a for need, a in told['abilities'].items() if not a['ok']})
    for need, (ident, *words) in expect['needs'].items():
        missing = lacking.get(need)
        if not missing:
            wrong.append(f'{need}: expected {ident}, but nothing is missing')
            continue
        want(need, ident, missing['id'])
        said = f'{missing["message"]} {missing["remedy"]}'
        wrong += [f'{need}: {word!r} is not in {said!r}' for word in words if word not in said]
    assert not wrong, f'{name}:\n  ' + '\n  '.join(wrong)


def compare_whole(name, told):
    file = ROOT / 'tests' / 'targets' / f'{name}.expected.json'
    assert file.exists(), f'{file} is missing: tests/targets/tree.py bless {BUILD}'
    expected = file.read_text(encoding='utf-8').splitlines()
    found = tree.summary(told).splitlines()
    assert expected == found, '\n'.join(difflib.unified_diff(
        expected, found, file.name, 'found', lineterm='', n=2))


def part_of_line(remedy):
    """Levels of one setting stand in one line together: the words before them do in any case."""
    before, setting, _ = remedy.partition('kernel.perf_event_paranoid=')
    return before + setting


def compare_text(name, told, folder):
    """A person reads the same refusals and remedies, and no line runs off the terminal."""
    text = culprit('check', '--root', folder, env={'COLUMNS': '80'})
    assert text.status == 0 and not text.err, text
    long = [line for line in text.out.splitlines() if len(line) > 80]
    assert not long, '\n'.join(long)
    flat = ' '.join(text.out.split())
    for words in MACHINES[name].get('text', ()):
        assert words in flat, f'{name}: {words!r} is not in\n{text.out}'
    for recipe in told['recipes']:
        assert recipe['recipe'] in flat, f'{recipe["recipe"]} is not in\n{text.out}'
        for missing in recipe['missing']:
            for words in (missing['id'], part_of_line(missing['remedy'])):
                assert ' '.join(words.split()) in flat, f'{name}: {words!r} is not in\n{text.out}'
    assert text.out.endswith('\n  there: culprit run code_hotspots -- COMMAND\n'), text.out


def one_machine(name):
    def test():
        told, folder = checked(name)
        compare_by_hand(name, told)
        compare_whole(name, told)
        compare_text(name, told, folder)
    return test


for machine in MACHINES:
    globals()[f'test_{machine.replace("-", "_")}'] = one_machine(machine)


def test_every_machine_is_judged():
    assert sorted(MACHINES) == tree.names()
    blessed = sorted(p.name.split('.')[0] for p in (ROOT / 'tests/targets').glob('*.expected.json'))
    assert blessed == tree.names()


def test_tree_faults():
    for text, words in (('x = 1\ny\n', ':2: not a line of a tree: y'),
                        ('like nowhere\n', ':1: there is no tree nowhere'),
                        ('\tlost\n', ':1: these lines belong to no file'),
                        ('../x = 1\n', ':1: ../x does not lie below the root'),
                        ('- x\n', ':1: x cannot be taken out'),
                        ('x hex:\n\t0g\n', ':1: ')):
        path = tmpdir() / 'bad.tree'
        path.write_text(text)
        result = run(sys.executable, ROOT / 'tests/targets/tree.py', 'expand', path, tmpdir() / 'x')
        assert result.status == 1 and f'bad.tree{words}' in result.err, result


def test_tree_language():
    """Each form of a line gives the files that tree.py's first lines promise."""
    path = tmpdir() / 'forms.tree'
    path.write_text('a/one = 1\na/b/:\n\tx first word\n\ty\nc each 0-1:\n\tcpu {}\n+ c each 7:\n'
                    '\tlast {}\nd{2-3}/id = n{}\nraw hex:\n\t00 ff\n\t2 x 41\nempty/\nl -> a/one\n'
                    'gone/x = 1\n- gone\nblank =\n')
    tree.expand(str(path), tmpdir() / 'forms')
    found = {str(p.relative_to(tmpdir() / 'forms')): p.read_bytes()
             for p in sorted((tmpdir() / 'forms').rglob('*')) if p.is_file()}
    assert found == {'a/one': b'1\n', 'a/b/x': b'first word\n', 'a/b/y': b'\n',
                     'c': b'cpu 0\n\ncpu 1\n\nlast 7\n\n', 'd2/id': b'n2\n', 'd3/id': b'n3\n',
                     'raw': b'\0\xffAA', 'l': b'1\n', 'blank': b'\n'}, found
    assert (tmpdir() / 'forms' / 'empty').is_dir() and not (tmpdir() / 'forms' / 'gone').exists()


@timeout(120)
def test_recorder_gives_the_same_verdict():
    """A machine recorded from its own tree is judged as before: the recorder misses nothing."""
    for name in ('graviton2-metal-kpti', 'rk3588', 'x86-hybrid', 'oci-a1', 'container-paranoid'):
        told, folder = checked(name)
        text = run(ROOT / 'tools' / 'record-target', env={'ROOT': str(folder)})
        assert text.status == 0 and not text.err, text
        again = tmpdir() / f'{name}-again'
        (tmpdir() / 'again.tree').write_text(text.out)
        tree.expand(str(tmpdir() / 'again.tree'), again)
        (again / 'perf_event_open').write_bytes((folder / 'perf_event_open').read_bytes())
        result = culprit('check', '--json', '--root', again)
        assert result.status == 0, result
        assert tree.summary(result.json()) == tree.summary(told), name


def test_recorder_answers():
    """What the agent found by trying becomes the lines of the answers file."""
    agent = tmpdir() / 'agent'
    agent.write_text('#!/bin/sh\n[ "$1" = probe ] && cat <<END\n'
                     'page_bytes 16384\ncpu_clock_errno 0\ncycles_errno 61\nsampling_errno 95\n'
                     'system_wide_errno 13\nspe_errno 2\nbpf_errno 1\nkernel_errno 104\n'
                     'pmu 10 armv8_pmuv3_0 0-3\npmu_counters 5 3 1 8 0\npmu_events cpu_cycles\n'
                     'pmu 11 armv8_pmuv3_1 4\npmu_counters -1 -1 0 0 13\n'
                     'pmu 12 armv8_pmuv3_2 5\npmu_counters 6 -1 0 0 0\npmu 1 software \n'
                     'pmu 13 armv8_pmuv3_3 6\npmu_counters 6 6 1 0 0 0\nEND\n')
    agent.chmod(0o755)
    text = run(ROOT / 'tools' / 'record-target', agent).out
    assert text.partition('perf_event_open:\n')[2].split('\n\t') == [
        '\tpage_bytes 16384', 'software ok', 'cycles ok', 'cycles_counts ENODATA',
        'sampling EOPNOTSUPP', 'system_wide EACCES', 'spe ENOENT', 'bpf EPERM', 'kernel 104',
        'counters armv8_pmuv3_0 5', 'cycle_counter armv8_pmuv3_0 yes', 'free armv8_pmuv3_0 3',
        'pmu armv8_pmuv3_1 EACCES', 'counters armv8_pmuv3_2 6',
        'cycle_counter armv8_pmuv3_2 no', 'counters armv8_pmuv3_3 6',
        'cycle_counter armv8_pmuv3_3 yes', 'free armv8_pmuv3_3 6',
        'cycle_counter_free armv8_pmuv3_3 no\n'], text
    # Its own --help, and an agent that is none.
    assert 'AGENT' in run(ROOT / 'tools' / 'record-target', '--help').out
    missing = run(ROOT / 'tools' / 'record-target', tmpdir() / 'nowhere')
    assert missing.status == 1 and 'nowhere is no program' in missing.err, missing


def test_recorder_leaves_out_who_it_was():
    """Names, numbers in a stock and serial numbers say whose machine it was; none is needed."""
    folder = tmpdir() / 'secret'
    tree.expand('raspberry-pi5', folder)
    files = {'sys/class/dmi/id/board_asset_tag': 'i-0123SECRET\n',
             'sys/class/dmi/id/chassis_asset_tag': 'SECRET-77\n',
             'proc/cpuinfo': (folder / 'proc/cpuinfo').read_text() + '\nSerial\t\t: 1000SECRET\n',
             'proc/self/mountinfo': '29 1 254:0 / / rw shared:1 - ext4 /dev/mapper/SECRET rw,x=SECRET\n',
             'proc/self/cgroup': '2:cpu:/docker/SECRET\n1:pids:/user.slice/SECRET\n0::/SECRET\n',
             'sys/fs/cgroup/cpu/docker/SECRET/cpu.cfs_quota_us': '50000\n',
             'sys/fs/cgroup/cpu/docker/SECRET/cpu.cfs_period_us': '100000\n'}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    text = run(ROOT / 'tools' / 'record-target', env={'ROOT': str(folder)})
    assert text.status == 0 and 'SECRET' not in text.out, text
    for line in ('\t2:cpu:/docker/group', '/ / rw - ext4 /dev/disk rw',
                 'sys/fs/cgroup/cpu/docker/group/cpu.cfs_quota_us = 50000'):
        assert line in text.out, (line, text.out)


def test_recorder_here():
    """This machine, recorded, is judged as culprit judges it directly."""
    agent = BUILD / f'culprit-agent-{platform.machine()}'
    if not agent.exists():
        skip('culprit-agent is not built')
    text = run(ROOT / 'tools' / 'record-target', agent)
    assert text.status == 0 and not text.err, text
    (tmpdir() / 'here.tree').write_text(text.out)
    tree.expand(str(tmpdir() / 'here.tree'), tmpdir() / 'here')
    recorded = culprit('check', '--json', '--root', tmpdir() / 'here')
    assert recorded.status == 0, recorded
    direct = culprit('check', '--json').json()
    assert tree.summary(recorded.json()) == tree.summary(direct)
