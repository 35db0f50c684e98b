// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! Compiles the C files into the crate. Looked at, for the target in lower case with underscores and then without it:
//!
//!     CC_x86_64_unknown_linux_gnu, CC    the compiler; by default cc, for another CPU aarch64-linux-gnu-gcc ...
//!     CFLAGS_..., CFLAGS                 more flags, separated by blanks; -DSFU_ABI=SFU_AMD64 and so on
//!     AR_..., AR                         by default ar
//!
//! SFU_DIR is the folder of sfu.c, arch and port; by default two above this one.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [&str; 7] = [
    "sfu.c",
    "port/print/sfu_print.c",
    "port/print/sfu_build_id.c",
    "port/print/sfu_cycles.c",
    "port/print/sfu_record.c",
    "port/symbols/sfu_symbols.c",
    "port/rust/sfu_rust.c",
];
const HEADERS: [&str; 4] = ["sfu.h", "arch", "port/print", "port/symbols"];

// What runs when everything else is broken is not instrumented, and keeps off registers that a kernel may not save.
const FLAGS: [&str; 11] = [
    "-std=gnu99",
    "-O2",
    "-g",
    "-fPIC",
    "-ffreestanding",
    "-ffunction-sections",
    "-fomit-frame-pointer",
    "-fasynchronous-unwind-tables",
    "-fno-stack-protector",
    "-fno-sanitize=all",
    "-Wall",
];

fn cpu_flags(cpu: &str) -> &'static [&'static str] {
    match cpu {
        "x86_64" => &["-mno-red-zone", "-mgeneral-regs-only"],
        "aarch64" => &["-mgeneral-regs-only"],
        "s390x" => &["-msoft-float"],
        _ => &[],
    }
}

fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={}", name);
    env::var(name).ok()
}

/// NAME for the target, or for all.
fn of_target(name: &str) -> Option<String> {
    let target = env::var("TARGET").expect("cargo sets it").replace('-', "_");
    variable(&format!("{}_{}", name, target)).or_else(|| variable(name))
}

fn default_compiler(cpu: &str) -> String {
    let host = env::var("HOST").expect("cargo sets it");
    if host.split('-').next() == Some(cpu) {
        "cc".into()
    } else {
        format!("{}-linux-gnu-gcc", cpu)
    }
}

fn run(command: &mut Command) {
    let done = command.status();
    assert!(matches!(&done, Ok(status) if status.success()), "{:?}: {:?}", command, done);
}

fn compile(compiler: &str, flags: &[String], from: &Path, source: &str, out: &Path) -> PathBuf {
    let object = out.join(source.replace('/', "-")).with_extension("o");
    run(Command::new(compiler)
        .args(flags)
        .args(["-I".as_ref(), from.as_os_str()])
        .arg("-I")
        .arg(from.join("arch"))
        .arg("-I")
        .arg(from.join("port/print"))
        .arg("-I")
        .arg(from.join("port/symbols"))
        .arg("-c")
        .arg(from.join(source))
        .arg("-o")
        .arg(&object));
    object
}

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let from = match variable("SFU_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../.."),
    };
    for file in SOURCES.iter().chain(&HEADERS) {
        println!("cargo:rerun-if-changed={}", from.join(file).display());
    }
    let cpu = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let compiler = of_target("CC").unwrap_or_else(|| default_compiler(&cpu));
    let mut flags: Vec<String> = FLAGS.iter().chain(cpu_flags(&cpu)).map(|flag| flag.to_string()).collect();
    flags.extend(of_target("CFLAGS").unwrap_or_default().split_whitespace().map(String::from));

    let library = out.join("libsfu.a");
    let _ = std::fs::remove_file(&library); // ar only adds
    let objects = SOURCES.map(|source| compile(&compiler, &flags, &from, source, &out));
    run(Command::new(of_target("AR").unwrap_or_else(|| "ar".into())).arg("crs").arg(&library).args(objects));
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=sfu");
}
