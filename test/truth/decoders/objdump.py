#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""objdump.py ABI < OBJDUMP_OUTPUT: turns what `objdump --sframe` prints into a table for agree.c.

    section VERSION SORTED FIELD_RELATIVE FDES ROWS
    fde PC SIZE ROWS MASK SIGNAL
    row OFFSET KIND SIGNED CFA_CONTROL CFA_OFFSET RA_CONTROL RA_OFFSET FP_CONTROL FP_OFFSET

An fde is followed by its rows. KIND is 0 for rules and 1 for an undefined RA; controls are those of flexible rows,
in which every rule can be said: a value that was not saved is in its register. Anything that is not understood, and
any FDE or row of which the header counts another number, is an error: nothing is skipped.
"""
import re
import sys

REGISTERS = {  # DWARF numbers of SP, FP and the link register; where a call puts the RA, from the CFA
    'x86_64': {'sp': 7, 'fp': 6, 'link': None, 'ra': -8},
    'aarch64': {'sp': 31, 'fp': 29, 'link': 30, 'ra': None},
    'aarch64_be': {'sp': 31, 'fp': 29, 'link': 30, 'ra': None},
    's390x': {'sp': 15, 'fp': 11, 'link': 14, 'ra': None},
}
REGISTER, DEREFERENCE = 1, 2

FUNCTION = re.compile(r' +func idx \[(\d+)\]: pc = 0x([0-9a-f]+), size = (\d+) bytes(.*)$')
ATTRIBUTES = re.compile(r'(, attr = "(?P<attr>[SF]+)")?(, pauth = (?P<key>[AB]) key)?$')
COLUMNS = re.compile(r' +STARTPC(\[m\])? +CFA +FP +RA *$')
WORDS = r'\(?(?:sp|fp|c|r\d+)[+-]\d+\)?'
# Long numbers leave no space between the columns.
ROW = re.compile(r' +([0-9a-f]{16}) +(%s) *(u|%s) *(f|u|U|%s)(\[s\])? *$' % (WORDS, WORDS, WORDS))
UNDEFINED = re.compile(r' +([0-9a-f]{16}) +RA undefined *$')
RULE = re.compile(r'(\()?(sp|fp|c|r\d+)([+-]\d+)(\))?$')


class Table:
    def __init__(self, abi):
        self.registers = REGISTERS[abi]
        self.version = None
        self.header = {}
        self.flags = set()
        self.fixed_ra = None
        self.lines = []
        self.fde = None
        self.fdes = self.rows = 0

    def rule(self, text, flexible, cfa):
        """Control and offset. A default row has no parentheses where it dereferences."""
        match = RULE.match(text)
        if not match or bool(match[1]) != bool(match[4]) or (match[1] and not flexible):
            raise ValueError('rule ' + text)
        name, offset = match[2], int(match[3])
        if name == 'c':
            if cfa:
                raise ValueError('CFA by itself: ' + text)
            return DEREFERENCE, offset
        if not flexible and not cfa:
            raise ValueError('register rule in a default row: ' + text)
        number = int(name[1:]) if name[0] == 'r' else self.registers[name]
        return number << 3 | REGISTER | (DEREFERENCE if match[1] else 0), offset

    def kept(self, name):
        """The rule of a value that was not saved: it is in its register."""
        return self.registers[name] << 3 | REGISTER, 0

    def ra_rule(self, text, flexible):
        """f: at the header's fixed offset. U: a word of 0, for no rule; the fixed offset holds then (specification
        3.2), if there is one. u: nothing is said; objdump 2.40 prints that for a fixed offset, too."""
        if text == 'f' and self.fixed_ra is None or text == 'u' and self.fixed_ra is not None and self.version > 1:
            raise ValueError('RA ' + text)
        if text in ('f', 'u', 'U'):
            return self.kept('link') if self.fixed_ra is None else (DEREFERENCE, self.fixed_ra)
        return self.rule(text, flexible, False)

    def fp_rule(self, text, flexible):
        return self.kept('fp') if text == 'u' else self.rule(text, flexible, False)

    def add_row(self, address, kind=0, signed=0, rules=((0, 0), (0, 0), (0, 0))):
        offset = int(address, 16) - (0 if self.fde['mask'] else self.fde['pc'])
        cfa, ra, fp = rules
        self.lines.append('row %d %d %d %d %d %d %d %d %d' % ((offset, kind, signed) + cfa + ra + fp))
        self.fde['rows'] += 1
        self.rows += 1

    def end_fde(self):
        if self.fde:
            self.lines[self.fde['line']] = 'fde %(pc)d %(size)d %(rows)d %(mask)d %(signal)d' % self.fde
        self.fde = None

    def begin_fde(self, match):
        self.end_fde()
        attributes = ATTRIBUTES.match(match[4])
        if not attributes or int(match[1]) != self.fdes:
            raise ValueError('function ' + match[0])
        attr = attributes['attr'] or ''
        self.fde = {'pc': int(match[2], 16), 'size': int(match[3]), 'rows': 0, 'mask': None,
                    'signal': 'S' in attr, 'flexible': 'F' in attr, 'line': len(self.lines)}
        self.lines.append('')
        self.fdes += 1

    def body(self, line):
        function, columns, row, undefined = (p.match(line) for p in (FUNCTION, COLUMNS, ROW, UNDEFINED))
        if function:
            self.begin_fde(function)
        elif columns and self.fde['mask'] is None:
            self.fde['mask'] = bool(columns[1])
        elif undefined:
            self.add_row(undefined[1], kind=1)
        elif row:
            flexible = self.fde['flexible']
            rules = (self.rule(row[2], flexible, True), self.ra_rule(row[4], flexible),
                     self.fp_rule(row[3], flexible))
            self.add_row(row[1], signed=bool(row[5]), rules=rules)
        else:
            raise ValueError('line ' + line)

    def head(self, line):
        for flag in re.findall(r'SFRAME_F_\w+', line):
            self.flags.add(flag)
        match = re.match(r' +(?:Flags: )?(Version|Num FDEs|Num FREs|CFA fixed RA offset): (\S+)$', line)
        if match:
            self.header[match[1]] = match[2]
        elif not re.match(r'$|.*file format|Contents of|  Header :| +Flags: |  +SFRAME_F_', line):
            raise ValueError('header ' + line)

    def begin_body(self):
        self.version = int(self.header['Version'].replace('SFRAME_VERSION_', ''))
        if 'CFA fixed RA offset' in self.header:
            self.fixed_ra = int(self.header['CFA fixed RA offset'])
        elif self.version == 1:
            self.fixed_ra = self.registers['ra']

    def read(self, lines):
        begun = False
        for line in lines:
            line = line.rstrip('\n')
            if not begun and line.startswith('  Function Index :'):
                begun = True
                self.begin_body()
            elif not begun:
                self.head(line)
            elif line:
                self.body(line)
        self.end_fde()
        if (self.fdes, self.rows) != (int(self.header['Num FDEs']), int(self.header['Num FREs'])):
            raise ValueError('%d functions and %d rows do not agree with the header' % (self.fdes, self.rows))

    def write(self):
        print('section', self.version, int('SFRAME_F_FDE_SORTED' in self.flags),
              int('SFRAME_F_FDE_FUNC_START_PCREL' in self.flags), self.fdes, self.rows)
        for line in self.lines:
            print(line)


table = Table(sys.argv[1])
table.read(sys.stdin)
table.write()
