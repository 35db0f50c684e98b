# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""gdb -batch -ex 'py out = "DIRECTORY"' -x expect.py OBJECT: what a C compiler made of sfu.h, as a test in Rust.

OBJECT is all.c with debug information. Writes into DIRECTORY:

layout.rs  holds the crate's declarations to it: names, types and number of the fields of each structure, signatures,
           and, by the numbers of values.rs, sizes, alignments, offsets and values of constants
values.c   prints values.rs as the compiler of that CPU has it
names      of all that the crate declares, and no more
"""
import gdb

OURS = ("sfu.h", "sfu_rust.c")
NAMES = {"sfu_addr": "u64", "uint64_t": "u64", "uint32_t": "u32", "uint16_t": "u16", "uint8_t": "u8", "int32_t": "i32",
         "size_t": "usize", "int": "i32", "_Bool": "bool", "char": "u8", "void": "c_void"}
MACROS = ("SFU_VERSION", "SFU_MAX_FRAMES", "SFU_MAX_SWITCHES")  # those that are not switches


def rust_function(function):
    arguments = ", ".join(rust(field.type) for field in function.fields())
    result = function.target()
    returns = "" if result.code == gdb.TYPE_CODE_VOID else " -> " + rust(result)
    return 'unsafe extern "C" fn(%s)%s' % (arguments, returns)


def rust(of):
    """The type that the crate must have for a C type."""
    plain = of.unqualified()
    if plain.name in NAMES:
        return NAMES[plain.name]
    plain = plain.strip_typedefs()
    if plain.code == gdb.TYPE_CODE_STRUCT:
        return "sys::" + plain.tag
    if plain.code == gdb.TYPE_CODE_ENUM:
        return "sys::" + plain.tag
    if plain.code == gdb.TYPE_CODE_ARRAY:
        return "[%s; %d]" % (rust(plain.target()), plain.range()[1] + 1)
    if plain.code != gdb.TYPE_CODE_PTR:
        raise gdb.GdbError("no Rust type is known for " + str(of))
    to = plain.target()
    if to.strip_typedefs().code == gdb.TYPE_CODE_FUNC:
        return "Option<%s>" % rust_function(to.strip_typedefs())
    return "*%s %s" % ("const" if to == to.const() else "mut", rust(to))


def place_of(field):
    """A field's name in Rust, where final is a keyword."""
    return "r#final" if field.name == "final" else field.name


def names(symbols, wanted):
    return sorted({symbol.name for symbol in symbols if wanted(symbol)})


def is_structure(symbol):
    return symbol.type is not None and symbol.type.code == gdb.TYPE_CODE_STRUCT and symbol.type.tag == symbol.name \
        and symbol.name.startswith("sfu_") and symbol.symtab.filename.rsplit("/", 1)[-1] in OURS


def is_constant(symbol):
    # those of the printer and of records, which the crate does not declare, have a word more
    return (symbol.addr_class == gdb.SYMBOL_LOC_CONST and symbol.name.startswith("SFU_") and
            not symbol.name.startswith(("SFU_PRINT_", "SFU_RECORD_")))


def test_structure(name):
    """The function of layout.rs about a structure, and its numbers by name, in C."""
    fields = gdb.lookup_type("struct " + name).fields()
    numbers = {"size_" + name: "sizeof(struct %s)" % name, "align_" + name: "_Alignof(struct %s)" % name}
    lines = ["fn %s() {" % name,
             "    let _ = |sys::%s { %s }: sys::%s| ();" % (name, ", ".join(place_of(f) + ": _" for f in fields), name),
             "    let place = MaybeUninit::<sys::%s>::uninit();" % name,
             "    let s = place.as_ptr();",
             '    same(size_of::<sys::%s>() as i64, size_%s, "size of %s\\0");' % (name, name, name),
             '    same(align_of::<sys::%s>() as i64, align_%s, "alignment of %s\\0");' % (name, name, name)]
    for field in fields:
        offset = "offset_%s_%s" % (name, field.name)
        numbers[offset] = "offsetof(struct %s, %s)" % (name, field.name)
        lines.append('    field::<_, %s>(s, unsafe { addr_of!((*s).%s) }, %s, "%s.%s\\0");'
                     % (rust(field.type), place_of(field), offset, name, field.name))
    return lines + ["}"], numbers, len(fields)


def write():
    table = gdb.lookup_global_symbol("sfu_open").symtab
    structures = names(table.static_block(), is_structure)
    constants = names(table.static_block(), is_constant) + list(MACROS)
    functions = names(table.global_block(), lambda symbol: symbol.is_function)
    numbers, lines, num_fields = {}, [], 0
    for name in structures:
        more_lines, more_numbers, more_fields = test_structure(name)
        lines += more_lines
        numbers.update(more_numbers)
        num_fields += more_fields
    lines += ["#[no_mangle]", 'pub extern "C" fn declarations() {']
    lines += ["    %s();" % name for name in structures]
    for name in constants:
        numbers["value_" + name] = name
        lines.append('    same(sys::%s as i64, value_%s, "%s\\0");' % (name, name, name))
    for name in functions:
        of = rust_function(gdb.lookup_global_symbol(name).type)
        lines.append("    let _: %s = sys::%s;" % (of, name))
    with open(out + "/layout.rs", "w", encoding="utf-8") as f:
        f.write(HEAD + "\n".join(lines + ["}", ""]))
    with open(out + "/values.c", "w", encoding="utf-8") as f:
        f.write('#include <stdio.h>\n#include "all.c"\nint main(void)\n{\n')
        for name, value in numbers.items():
            f.write('    printf("const %s: i64 = %%lld;\\n", (long long)%s);\n' % (name, value))
        f.write("    return 0;\n}\n")
    with open(out + "/names", "w", encoding="utf-8") as f:
        f.write("\n".join(sorted(structures + constants + functions)) + "\n")
    print("%d structures, %d fields, %d constants, %d functions"
          % (len(structures), num_fields, len(constants), len(functions)))


HEAD = """#![no_std]
#![allow(non_snake_case, non_upper_case_globals)]
use core::ffi::c_void;
use core::mem::{align_of, size_of, MaybeUninit};
use core::ptr::addr_of;
use sfu::sys;

include!("values.rs");

extern "C" {
    fn differ(what: *const u8, ours: i64, theirs: i64) -> !; // main.c
}

fn same(ours: i64, theirs: i64, what: &str) {
    if ours != theirs {
        unsafe { differ(what.as_ptr(), ours, theirs) }
    }
}

/// F is given, and must be the field's type.
fn field<S, F>(structure: *const S, field: *const F, offset: i64, what: &str) {
    same(field as i64 - structure as i64, offset, what);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    unsafe { differ("a panic\\0".as_ptr(), 0, 0) }
}

"""

write()
