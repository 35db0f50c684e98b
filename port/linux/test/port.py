#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""port.py ABI SFU-TRACE: builds the demo, the register test and a program that profiles itself in many ways, runs them,
and compares.

The functions of each frame are given here. Where in them is checked too, by what the demo itself offers: the
addr2line line that it prints is run, and each address must lead to the source line that the comment @marker is on.
"""
import bisect
import collections
import functools
import os
import re
import subprocess
import sys

sys.path.insert(0, 'test/lib')
from check import finish, must, test  # noqa: E402

TC = 'build/tc'
ABIS = {  # compiler, emulator
    'x86_64': (['gcc'], []),
    'aarch64': (['aarch64-linux-gnu-gcc'], ['qemu-aarch64']),
    'aarch64_be': (['aarch64-linux-gnu-gcc', '-mbig-endian'], ['qemu-aarch64_be']),
    's390x': (['s390x-linux-gnu-gcc'], ['qemu-s390x']),
    'riscv64': (['riscv64-linux-gnu-gcc', '-march=rv64gc', '-mabi=lp64d'], ['qemu-riscv64']),
    'riscv32': (['riscv64-linux-gnu-gcc', '-march=rv32imac', '-mabi=ilp32'], ['qemu-riscv32']),
    'i386': (['gcc', '-m32', '-march=i686'], ['test/lib/run_m32.sh']),
}
OLD = {'x86_64': ['v1', 'v2'], 'aarch64': ['v1', 'v2'], 'aarch64_be': ['v1', 'v2'], 's390x': []}
WARNINGS = '-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Werror'.split()
FLAGS = ('-std=c99 -g -fomit-frame-pointer -fasynchronous-unwind-tables -ffreestanding -nostdlib '
         '-fno-stack-protector -Wstrict-prototypes -I. -Iport/print -Iport/linux -Wa,--gsframe').split() + WARNINGS
CORE = ['sfu.c', 'port/linux/sfu_linux.c', 'port/linux/start.c', 'port/linux/start.S', 'port/linux/restorer.S']
DEMO = CORE + ['port/linux/sfu_linux_symbols.c', 'port/print/sfu_print.c', 'port/linux/demo.c']
PROFILE = CORE + ['port/linux/sfu_linux_timer.c', 'port/fast/sfu_fast.c', 'port/depot/sfu_depot.c',
                  'port/depot/sfu_depot_print.c', 'port/profile/sfu_profile.c', 'port/print/sfu_print.c',
                  'port/print/sfu_build_id.c', 'port/linux/test/profile.c']
PROFILE_FLAGS = ['-Iport/fast', '-Iport/depot', '-Iport/profile']
NO_LIBRARY = {'aarch64': ['-mno-outline-atomics'], 'aarch64_be': ['-mno-outline-atomics']}  # of gcc, for atomics
LINES = '-g1'  # of gcc: without variables, which nobody asks for
RELOCATED = CORE + ['port/linux/test/relocated.c']
PACKED = '-O2 -static-pie -fPIE -Wl,-z,pack-relative-relocs'  # which ld for s390x does not know
# Of each CPU: those of test/faults.c.
FAULTS = {'x86_64': 'int3 int_3 int_4 icebp illegal privileged divide memory sent',
          's390x': 'trap illegal privileged divide divide_memory memory sent',
          'riscv64': 'break short_break illegal memory sent', 'riscv32': 'break short_break illegal memory sent',
          'i386': 'int3 int_3 int_4 into bound icebp illegal privileged divide memory sent'}
# Of these qemu-i386 leaves the PC at the instruction, and not behind it (FAULTS.md: qemu-i386-int).
BEHIND = ['int3', 'int_3', 'int_4', 'into']
REGISTERS = CORE + ['port/linux/test/registers.c', 'port/linux/test/registers.S']

EVERYWHERE = ['-O0', '-O2', '-O2 -flto', '-O2 -static-pie -fPIE',
              '-Os -ffunction-sections -Wl,--gc-sections',
              '-O2 -ffunction-sections -Wl,--gc-sections,--build-id=none -DDEMO_LINKER_SYMBOLS '
              '-Wl,-T,port/linux/sfu.lds',
              'clang -O2'] + (['-O1', '-O3', '-Os', 'clang -O0', 'clang -Os'] if os.environ.get('LONG') else [])
BRANCHES = ['-O2 -mbranch-protection=standard', '-O0 -mbranch-protection=pac-ret+leaf',
            '-O2 -mbranch-protection=pac-ret+leaf+b-key -march=armv8.3-a']
VARIANTS = {
    'x86_64': ['-O2 -masm=intel', '-O2 -fcf-protection=full', '-O2 -mno-sse -mno-red-zone -mcmodel=large',
        '-O3 -march=x86-64-v3'],
    'aarch64': BRANCHES + ['-O2 -mgeneral-regs-only'],
    'aarch64_be': BRANCHES,
    's390x': ['-O2 -msoft-float', '-O2 -march=z13'],
}

# The libc of the distribution, where there is one.
LIBC = {'x86_64': '/', 'aarch64': '/usr/aarch64-linux-gnu', 's390x': '/usr/s390x-linux-gnu', 'i386': '/'}
LOADERS = {'x86_64': '/lib64/ld-linux-x86-64.so.2', 'aarch64': '/lib/ld-linux-aarch64.so.1',
           's390x': '/lib/ld64.so.1', 'i386': '/lib/ld-linux.so.2'}
LIBC_FLAGS = ('-g -fomit-frame-pointer -fasynchronous-unwind-tables -Wall -Wextra -I. -Iport/print -Iport/linux '
              '-Wa,--gsframe').split()
LIBC_SOURCES = ['sfu.c', 'port/linux/sfu_linux.c', 'port/linux/restorer.S', 'port/linux/test/libc.c',
                'test/lib/check.c']
HEADERS = ['sfu.h', 'arch/sfu_arch.h', 'port/linux/sfu_linux.h', 'port/print/sfu_print.h']

ANY = None
START = [('sfu_linux_main', '@main-careless'), ('sfu_linux_start', '@start'), ('_start', '@_start')]
CALLS = [('backtrace', '@backtrace'), ('deeper', '@deepest'), ('deeper', '@deeper'), ('deeper', '@deeper'),
         ('deep', '@deep'), ('sfu_linux_main', '@main-deep')] + START[1:]
CRASHED = [('crash', '@crash'), ('careless', '@careless')] + START
HANDLED = [('backtrace', '@backtrace'), ('handler', '@handler'), ANY] + CRASHED
SECOND = {'': HANDLED, 'table': HANDLED, 'ucontext': CRASHED}


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          check=False).stdout


def tool_of(name, cpu):
    if cpu == 'i386':
        return name
    return f'riscv64-linux-gnu-{name}' if cpu.startswith('riscv') else f'{TC}/{cpu}/{name}'


def places(line, cpu):
    """What addr2line says to the line that was printed: for each address the outermost of the inlined functions."""
    words = line.split()
    result = []
    for place in run([tool_of(words[0], cpu)] + words[1:]).splitlines():
        if place.startswith(' (inlined by) '):
            result[-1] = place[14:]
        else:
            result.append(place)
    return result


def on_marked_line(place, right, by_clang):
    """Whether PLACE is in the function and on the line of RIGHT. clang gives assembly files no lines; on aarch64
    it gives the end of an inlined function to the caller, with the line in the inlined one."""
    name, marker = right
    match = re.fullmatch(r'(\w+) at (\S+):(\S+)', place.split(' (discriminator')[0])
    if not match or match[1] != name:
        return False
    if by_clang and (place == '_start at ??:?' or match[2].endswith('/aarch64/sfu_capture.h')):
        return True
    if not match[3].isdigit():
        return False
    with open(match[2]) as f:
        return marker in re.findall(r'@[\w-]+', f.read().splitlines()[int(match[3]) - 1])


def compare(trace, expected, mode, cpu, end):
    """TRACE: the lines of one trace. Returns what is wrong with it, or None."""
    frames = [line for line in trace if line.startswith('#')]
    if len(frames) != len(expected):
        return f'{len(frames)} frames, not {len(expected)}'
    if not any(line.startswith(f'trace ends ({end}): ') for line in trace):
        return 'wrong end: ' + ' '.join(line for line in trace if line.startswith('trace'))
    lookups = places(trace[-1], cpu)
    for number, (line, right) in enumerate(zip(frames, expected)):
        if right is ANY:
            continue
        match = re.fullmatch(r'#(\d+)  0x[0-9a-f]{16}  (\w+)(?:\.\w+)*\+0x[0-9a-f]+(.*)', line)
        if not match or int(match[1]) != number or match[2] != right[0]:
            return f'frame {number} is "{line}", not {right[0]}'
        mark = '  [interrupted]  [stack switch]' if right[0] == 'crash' and mode != 'ucontext' else ''
        if match[3] != mark:
            return f'frame {number} is marked "{match[3]}"'
        if not on_marked_line(lookups[number], right, '/democlang' in trace[-1]):
            return f'frame {number}, {line}: addr2line says {lookups[number]}, not the line of {right[1]}'
    return None


def beside_libc(abi):
    """The emulator for ABI, if there is one, and where it finds the libc of that."""
    return ABIS[abi][1] + (['-L', LIBC[abi]] if LIBC.get(abi, '/') != '/' else [])


def check_demo(abi, out, mode, version=3):
    lines = run(beside_libc(abi) + [out] + mode.split()).splitlines()
    cpu = abi.removesuffix('_be')
    try:
        first = lines.index('From deep in calls:')
        second = lines.index('From a signal handler, on its own stack, after a bad memory access:')
    except ValueError:
        return 'printed: ' + ' / '.join(lines)
    if lines[0] != f'SFrame version {version}':
        return lines[0]
    wrong = compare(lines[first + 1:second - 1], CALLS, mode, cpu, 1)
    return wrong or compare(lines[second + 1:], SECOND[mode], mode, cpu, 1)


MADE = {}  # by what it is made with: an object, and what the compiler said


def compiled(command, flags, source, folder):
    """An object of SOURCE, and what the compiler said. It is made once for all programs that have it. Of the FLAGS it
    takes those that are not for the link alone."""
    if source.endswith('.o'):
        return source, ''
    flags = [flag for flag in flags if not flag.startswith('-Wl,') and flag not in ('-static', '-pie', '-static-pie')]
    compiling = (*command, *flags, '-c', source)
    if compiling not in MADE:
        os.makedirs(folder, exist_ok=True)
        name = f'{folder}/{len(MADE)}.o'
        MADE[compiling] = name, run([*compiling, '-o', name])
    return MADE[compiling]


def own_flags(source, out, extra):
    """What only some files are compiled with: EXTRA is not for those that several kinds of programs have."""
    if source == 'port/linux/demo.c':
        return [f'-DDEMO_IMAGE="{out}"']
    return [] if source in DEMO else list(extra)


def build(abi, flags, sources, out, version='', extra=()):
    """Returns what the compiler said. FLAGS may begin with "clang"."""
    tools = os.path.join(TC, version, abi.removesuffix('_be'))
    compiler = ABIS[abi][0]
    if flags[0] == 'clang':
        compiler = ['clang', f'--target={abi}-linux-gnu', '-fno-integrated-as']
        flags = flags[1:]
    command = compiler + [f'-B{tools}/'] + FLAGS + ([] if compiler[0] == 'clang' else [LINES])
    made = [compiled(command, [*flags, *own_flags(source, out, extra)], source, os.path.dirname(out) + '/made')
            for source in sources]
    if compiler[0] == 'clang':  # it complains of what only the compilation needs
        command = [flag for flag in command if not flag.startswith('-Wa,')]
    static = [] if '-pie' in flags else ['-static']
    said = ''.join(said for _, said in made)
    return said or run(command + static + flags + [name for name, _ in made] + ['-o', out])


def check_libc(abi, flags, out):
    """A program with libc, with its own start files and loader."""
    command, sources = ABIS[abi][0] + [f'-B{TC}/{abi}/'] + LIBC_FLAGS, LIBC_SOURCES
    if abi in MADE_WAYS:
        command = ABIS[abi][0] + LIBC_FLAGS[:-1] + ['-DDEMO_LINKER_SYMBOLS', f'-DSFU_ROOM={32 * ROOM}']
        sources = sources + ['port/linux/room.S']
    made = [compiled(command, flags, source, os.path.dirname(out) + '/made') for source in sources]
    log = ''.join(said for _, said in made) or run(command + flags + [name for name, _ in made] + ['-o', out])
    if abi in MADE_WAYS and not log:
        run(['build/tools/sfu-gen', '-q', out])  # it names what of the libc it cannot describe
    result = log or run(beside_libc(abi) + [out])
    tests = ['test_signal'] + (['test_system_call'] if abi == 'i386' else [])
    right = ''.join([f'1..{len(tests)}\n'] + [f'ok {name}\n' for name in tests])
    return None if result == right else ' '.join(result.split())


def check_relocated(abi, flags, log, out):
    """LOG: what was said when OUT was built."""
    packed = re.search(' 0x0*24 \\(RELR\\)', run(['readelf', '-dW', out])) is not None
    if log or packed != (flags == PACKED):
        return log or 'DT_RELR is there' if packed else 'no DT_RELR'
    said = run(ABIS[abi][1] + [out])
    return None if said == 'right\n' else f'printed: {said}'


def check_files(abi, out):
    """Each file that the demo opens is one that no other program gets, and is closed again, as its system calls say."""
    said = run([f'qemu-{abi}', '-strace', out])
    opened = re.findall(r' openat\(\w+,"(/proc/self/\w+)",(\S+)\) = (\d+)', said)
    closed = re.findall(r' close\((\d+)\) = 0', said)
    if '/proc/self/exe' not in [name for name, _, _ in opened]:
        return f'opened: {opened}'
    if any('O_CLOEXEC' not in flags.split('|') for _, flags, _ in opened):
        return f'another program gets a file: {opened}'
    return None if [fd for _, _, fd in opened] == closed else f'not closed: {opened}, {closed}'


def check_cplusplus(abi, folder):
    """Every public header of arch/ and port/ in C++, the capture inlined."""
    source = folder + '/headers.cc'
    with open(source, 'w') as f:
        f.write(''.join(f'#include "{header}"\n' for header in HEADERS))
        f.write('struct sfu_registers here(struct sfu_cpu *cpu) { return sfu_here(cpu); }\n')
    compiler = [ABIS[abi][0][0].replace('gcc', 'g++')] + ABIS[abi][0][1:]
    return run(compiler + WARNINGS + ['-std=c++11', '-O2', '-ffreestanding', '-I.', '-c', source,
                                      '-o', folder + '/headers.o'])


def check_tables(abi, folder):
    """What objdump reads of the macros: functions in the order of their addresses, with rows for each."""
    cpu = abi.removesuffix('_be')
    out = folder + '/tables'
    command = ABIS[abi][0] + [f'-B{TC}/{cpu}/', '-Wa,--gsframe', '-I.', '-nostdlib', '-static', '-Wl,--gc-sections']
    log = run(command + ['port/linux/test/tables.S', '-o', out])
    if log:
        return ' '.join(log.split())
    functions = re.findall(r'func idx.*', run([f'{TC}/{cpu}/objdump', '--sframe', out]) + '\n')
    rows = re.findall(r'^    ([0-9a-f]{16})  (\S.*?) *$', run([f'{TC}/{cpu}/objdump', '--sframe', out]), re.M)
    sizes = [re.search(r'size = (\d+ bytes.*)', line)[1] for line in functions]
    if sizes != ['8 bytes', '4 bytes', '16 bytes, attr = "SF"', '8 bytes, attr = "SF"']:
        return f'functions: {sizes}'
    first = int(rows[0][0], 16)
    found = [(int(pc, 16) - first, ''.join(row.split())) for pc, row in rows]  # long columns run into each other
    entry = found[2][0]
    wanted = [(0, 'RAundefined'), (8, 'RAundefined'), (entry, '(sp+24)u(sp+0)'),
              (entry + 8, '(sp+152)(sp-16)(sp+8)'), (entry + 12, 'sp+32760(sp+32767)(sp-32768)'),
              (entry + 20, '(sp+320)u(sp+0)')]
    if found != wanted:
        return f'rows: {found}'
    wrong = command + ['-DWRONG=28', 'port/linux/test/tables.S', '-o', out]
    if abi == 's390x' and 'multiple of 8' not in run(wrong):
        return 'a CFA that cannot be encoded was accepted'
    return None


# What each function of profile.c is called by.
CALLERS = {'sfu_linux_start': ['_start'], 'sfu_linux_main': ['sfu_linux_start'], 'work': ['sfu_linux_main'],
           'wait_for': ['sfu_linux_main'], 'stop_and_start': ['sfu_linux_main'], 'hot': ['work'], 'warm': ['work'],
           'deep': ['hot', 'deep'], 'loop_of_hot': ['deep'], 'loop_of_warm': ['warm'], 'shallow': ['warm', 'shallow']}

OWN_ADDRESS = '__x86.get_pc_thunk.'  # functions of i386 that anyone calls


MOST_FRAMES = 64  # SFU_PROFILE_PCS


@functools.lru_cache(maxsize=None)
def functions_of(out, cpu):
    """(start, size, name) of each function, says nm. Of those of gcc it does not know the size."""
    lines = [line.split() for line in run([tool_of('nm', cpu), '-S', out]).splitlines()]
    lines += [[line[0], '4', *line[1:]] for line in lines if len(line) == 3 and line[2].startswith(OWN_ADDRESS)]
    return sorted((int(line[0], 16), int(line[1], 16), line[3]) for line in lines if len(line) == 4)


def functions_at(addresses, out, cpu):
    """How many of the ADDRESSES are in which function."""
    functions = functions_of(out, cpu)
    found = collections.Counter()
    for address in addresses:
        start, size, name = functions[bisect.bisect_right(functions, (address, 1 << 64, '')) - 1]
        found[name if address < start + size else '??'] += 1
    return found


def check_profile(abi, out, mode, sfu_trace):
    """Each sample that the handler was given is in the profile, with a whole trace along calls that there are, or with
    as much of it as there is room for."""
    log = run(ABIS[abi][1] + [out] + mode.split())
    counts = re.search(r'sfut1 idle (\d+)\nsfut1 lost (\d+)\nsfut1 end \d+\nsamples (\d+) incomplete (\d+)\n', log)
    if not counts:
        return ' '.join(log.split())
    idle, lost, samples, incomplete = map(int, counts.groups())
    folded = subprocess.run([sfu_trace, '--folded', out], input=log, capture_output=True, text=True, check=True).stdout
    paths = [line.rsplit(' ', 1) for line in folded.splitlines()]
    paths = {tuple(path.split(';')): int(weight) for path, weight in paths}
    given = functions_at([int(pc, 16) for pc in re.findall(r'^at (\w+)$', log, re.M)], out, abi.removesuffix('_be'))
    kept = collections.Counter()
    for path, weight in paths.items():
        kept[path[-1]] += weight
        cut = path[1] == '[incomplete]'
        if not (path[0] == 'main' and (path[1] == '_start' or cut and len(path) == 2 + MOST_FRAMES)):
            return f'no such path: {";".join(path)}'
        if any(a not in CALLERS.get(b, ()) and not b.startswith(OWN_ADDRESS) for a, b in
               zip(path[1 + cut:], path[2 + cut:])):
            return f'no such calls: {";".join(path)}'
        if path[-1] == 'loop_of_hot' and mode in ('', 'stack') and path.count('deep') != 8:
            return f'not so deep: {";".join(path)}'
        incomplete -= cut * weight
    least = {'small': 0, 'deep': 5}.get(mode, 40)
    if idle != 3 or incomplete != 0 or samples != idle + sum(given.values()) or samples < least:
        return f'{samples} samples, {idle} idle, {incomplete} incomplete, {sum(given.values())} PCs'
    if mode == 'small':
        given.subtract(kept)
        right = lost >= 5 and sum(given.values()) == lost and min(given.values()) >= 0
        return None if right else f'{given}, lost {lost}'
    return None if kept == given and lost == 0 else f'{kept} instead of {given}, lost {lost}'


def verdict(name, wrong):
    test(name, must, not wrong, wrong)


# gcc of 32 bits calls its library to divide 64 of them, which Debian's cross compiler for RISC-V has not; and clang 16
# takes other names.
CLANG = {'riscv64': ['clang-16', '--target=riscv64-linux-gnu', '-march=rv64imac', '-mabi=lp64'],
         'riscv32': ['clang-16', '--target=riscv32-linux-gnu', '-march=rv32imac', '-mabi=ilp32'],
         'i386': ['clang-16', '--target=i386-linux-gnu', '-m32', '-march=i686']}
LIBRARY = {'riscv32': ['riscv64-unknown-elf-gcc', '-march=rv32imac', '-mabi=ilp32', '-print-libgcc-file-name'],
           'i386': ['gcc', '-m32', '-print-libgcc-file-name']}
GCC16 = [f'{TC}/gcc16/x86_64/gcc', '-m32', '-march=i686']
# Where there is no linker script: port/linux/room.S.
ROOM = 32768


def build_made(abi, how, sources, out, extra=()):
    """A program whose tables sfu-gen makes: no assembler writes them. Returns what the tools say."""
    flags = [flag for flag in FLAGS if flag != '-Wa,--gsframe'] + ['-DDEMO_LINKER_SYMBOLS']
    compiler, made = ABIS[abi][0], []
    clang = how.startswith('clang')
    script = 'pie' not in how.replace('-fno-pie', '')
    flags += ['-static'] if script else [f'-DSFU_ROOM={ROOM}']
    sources = sources if script else [*sources, 'port/linux/room.S']
    if how.startswith('gcc16'):
        compiler, how = GCC16, how.removeprefix('gcc16')
    for source in sources:
        chosen = CLANG[abi] if clang else compiler
        if source.endswith('.S') and clang:
            chosen = [compiler[0], *CLANG[abi][2:]]
        lines = [] if chosen[0] == 'clang-16' else [LINES]
        made.append(compiled([*chosen, *flags, *lines, '-Wno-unused-command-line-argument'],
                             [*how.removeprefix('clang-16').split(), *own_flags(source, out, extra)], source,
                             os.path.dirname(out) + '/made'))
    objects, log = [name for name, _ in made], ''.join(said for _, said in made)
    library = [run(LIBRARY[abi]).strip()] if abi in LIBRARY else []
    how = [] if clang else how.split()
    script = ['-Wl,-T,port/linux/sfu-gen.lds'] if script else []
    log += run([*compiler, *flags, *how, '-Wl,--build-id=none', *script, *objects, *library, '-o', out])
    said = log or run(['build/tools/sfu-gen', '--strict', '-q', out])
    return re.sub('.*: nothing found for the line .*\n', '', said)


def check_faults(abi, flags, log, out):
    """The traces of OUT, a program of test/faults.c that was built with FLAGS, as LOG says."""
    by_qemu = abi == 'i386' and subprocess.run(ABIS[abi][1], check=False).returncode != 0
    for kind in FAULTS.get(abi, 'break illegal memory sent').split():
        if by_qemu and kind in BEHIND:
            continue
        for how in ['ucontext', 'hook'] + ['plain'] * (abi in ('s390x', 'i386')):
            result = log or run(ABIS[abi][1] + [out, kind, how])
            verdict(f'faults {kind} {how} {flags}', None if result == f'ok {kind}\n' else ' '.join(result.split()))


ELSEWHERE = '-O2 -static-pie -fPIE'
MADE_WAYS = {
    'riscv64': ['-O2 -march=rv64g', 'clang-16 -O2'],
    'riscv32': ['-O2 -march=rv32ima', 'clang-16 -O2'],
    'i386': ['-O2 -fno-pie', '-Os -fno-pie', '-O2 -masm=intel', ELSEWHERE, f'{ELSEWHERE} -fno-omit-frame-pointer',
             '-O2 -pie -fPIE -Wl,--dynamic-linker=' + LOADERS['i386'], 'gcc16 -O0', 'gcc16 -O2',
             'gcc16 -O2 -static-pie -fPIE', 'clang-16 -O0', 'clang-16 -O2', 'clang-16 -O2 -fno-omit-frame-pointer'],
}


def check_all_made(abi, folder, sfu_trace):
    """All of it for a CPU whose tables sfu-gen makes."""
    pie = [ELSEWHERE] * (abi == 'i386')
    others = ['plain', 'table'] if abi == 'i386' else []
    for how in ['-O0', '-O2', '-Os', '-O2 -flto', '-Os -flto', '-O2 -fno-omit-frame-pointer', *MADE_WAYS[abi]]:
        out = folder + '/demo' + re.sub('[ ,/]', '', how).replace('clang-16', 'clang')
        log = build_made(abi, how, DEMO, out)
        for mode in ['', 'ucontext'] + others[1:]:
            verdict(f'demo {mode} {how}', ' '.join(log.split()) or check_demo(abi, out, mode))
    verdict('files', check_files(abi, folder + '/demo-O2'))
    for flags in ('-O0', '-O2', '-O2 -flto'):
        out = folder + '/faults' + flags.replace(' ', '')
        check_faults(abi, flags, build_made(abi, flags, CORE + ['port/linux/test/faults.c'], out), out)
    leaf = folder + '/leaf.o'
    log = run([*ABIS[abi][0], *FLAGS[:FLAGS.index('-Wa,--gsframe')], '-O2', '-r', 'port/linux/test/leaf.c', '-o', leaf])
    for flags in ['-O0', '-O2', *pie]:
        out = folder + '/registers' + flags.replace(' ', '')
        log = log or build_made(abi, flags, REGISTERS + [leaf], out)
        for mode in ['capture', 'read', 'claim', 'forged', 'hook', 'ucontext'] + others:
            result = log or run(ABIS[abi][1] + [out, mode])
            verdict(f'registers {mode} {flags}', None if result == f'ok {mode}\n' else ' '.join(result.split()))
    for flags in ['-O0', '-O2', *pie]:
        out = folder + '/profile' + flags.replace(' ', '')
        sources = [file for file in PROFILE if abi == 'riscv64' or 'sfu_fast' not in file]
        log = build_made(abi, flags, sources, out, PROFILE_FLAGS)
        for mode in ('', 'stack', 'small', 'deep'):
            verdict(f'profile {mode} {flags}', ' '.join(log.split()) or check_profile(abi, out, mode, sfu_trace))
    for flags in [ELSEWHERE] + [PACKED] * (abi == 'i386'):
        out = folder + '/relocated' + re.sub('[ ,]', '', flags)
        log = run([*ABIS[abi][0], *FLAGS[:FLAGS.index('-Wa,--gsframe')], *flags.split(), '-Wl,--no-dynamic-linker',
                   *RELOCATED, '-o', out])
        verdict(f'relocated {flags}', check_relocated(abi, flags, log, out))
    for flags in ['-O0', '-O2', '-O2 -fno-pie -no-pie', '-O2 -static'] if abi in LIBC else []:
        verdict(f'libc {flags}', check_libc(abi, flags.split(), folder + '/libc' + flags.replace(' ', '')))
    verdict('headers in C++', ' '.join(check_cplusplus(abi, folder).split()))


def main():
    abi, sfu_trace = sys.argv[1:]
    os.environ.pop('T', None)  # a program of check.h would take it for the name of one of its tests
    folder = f'build/port/{abi}'
    os.makedirs(folder, exist_ok=True)
    if abi in MADE_WAYS:
        check_all_made(abi, folder, sfu_trace)
        return
    modes = ['', 'ucontext'] + ([] if abi == 's390x' else ['table'])
    for flags in EVERYWHERE + VARIANTS[abi]:
        out = folder + '/demo' + re.sub('[ ,/]', '', flags)
        log = build(abi, flags.split(), DEMO, out)
        for mode in modes:
            verdict(f'demo {mode} {flags}', ' '.join(log.split()) or check_demo(abi, out, mode))
    verdict('files', check_files(abi, folder + '/demo-O2'))
    for flags in ['-O2', '-O2 -static-pie -fPIE'] + ([] if abi == 's390x' else [PACKED]):
        out = folder + '/relocated' + re.sub('[ ,]', '', flags)
        verdict(f'relocated {flags}', check_relocated(abi, flags, build(abi, flags.split(), RELOCATED, out), out))
    if abi in LOADERS:
        out = folder + '/demo-loader'
        log = build(abi, ['-O2', '-pie', '-fPIE', '-Wl,--dynamic-linker=' + LOADERS[abi]], DEMO, out)
        verdict('demo with a loader', ' '.join(log.split()) or check_demo(abi, out, ''))
    for version in OLD[abi]:
        out = folder + '/demo-' + version
        log = build(abi, ['-O2', '-DSFU_NO_OUTERMOST'], DEMO, out, version)
        verdict(f'demo {version}', ' '.join(log.split()) or check_demo(abi, out, '', int(version[1])))
    leaf = folder + '/leaf.o'
    log = build(abi, ['-O2', '-r'], ['port/linux/test/leaf.c'], leaf)
    tests = ['capture', 'read', 'claim', 'forged', 'hook', 'ucontext', 'plain' if abi == 's390x' else 'table']
    for flags in ['-O0', '-O2', '-Os -static-pie -fPIE']:
        out = folder + '/registers' + flags.replace(' ', '')
        log = log or build(abi, flags.split(), REGISTERS + [leaf], out)
        for mode in tests:
            result = log or run(ABIS[abi][1] + [out, mode])
            verdict(f'registers {mode} {flags}', None if result == f'ok {mode}\n' else ' '.join(result.split()))
    for flags in ['-O0', '-O2']:
        out = folder + '/faults' + flags
        check_faults(abi, flags, build(abi, [flags], CORE + ['port/linux/test/faults.c'], out), out)
    for flags in ['-O0', '-O2', '-O2 -static-pie -fPIE']:
        out = folder + '/profile' + flags.replace(' ', '')
        log = build(abi, flags.split(), PROFILE, out, extra=PROFILE_FLAGS + NO_LIBRARY.get(abi, []))
        for mode in ['', 'stack', 'small', 'deep']:
            verdict(f'profile {mode} {flags}', ' '.join(log.split()) or check_profile(abi, out, mode, sfu_trace))
    for flags in ['-O0', '-O2', '-O2 -static'] if abi in LIBC else []:
        verdict(f'libc {flags}', check_libc(abi, flags.split(), folder + '/libc' + flags.replace(' ', '')))
    verdict('tables', check_tables(abi, folder))
    verdict('headers in C++', ' '.join(check_cplusplus(abi, folder).split()))


main()
finish()
