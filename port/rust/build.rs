// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! Compiles the C files into the crate. Looked at, for the target in lower case with underscores and then without it:
//!
//!     CC_x86_64_unknown_linux_gnu, CC    the compiler, with arguments: "ccache gcc"; by default cc, for another CPU
//!                                        aarch64-linux-gnu-gcc ...; clang is told the target's CPU; of RISC-V
//!                                        riscv64-linux-gnu-gcc, which is told the target's extensions and ABI;
//!                                        of 32-bit x86 the one of x86_64, which is told -m32
//!     CFLAGS_..., CFLAGS                 more flags, separated by blanks; -DSFU_ABI=SFU_AMD64 and so on,
//!                                        but not that of a CPU of 32 bits: the crate's addresses have 64
//!     AR_..., AR                         by default ar
//!
//! SFU_DIR is a folder with sfu.c, arch and port; by default it is c, where a package has copies of the C files.
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

// Below port, or in c.
const PARTS: [&str; 7] = [
    "print/sfu_print.c",
    "print/sfu_build_id.c",
    "print/sfu_cycles.c",
    "print/sfu_calls.c",
    "print/sfu_record.c",
    "print/sfu_start.c",
    "symbols/sfu_symbols.c",
];

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
        "x86" => &["-mgeneral-regs-only"],
        "aarch64" => &["-mgeneral-regs-only", "-mno-outline-atomics"],
        "s390x" => &["-msoft-float"],
        _ => &[],
    }
}

fn variable(name: &str) -> Option<String> {
    println!("cargo:rerun-if-env-changed={}", name);
    env::var(name).ok()
}

fn cargo(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {}", name))
}

/// NAME for the target, or for all.
fn of_target(name: &str) -> Option<String> {
    let target = cargo("TARGET").replace('-', "_");
    variable(&format!("{}_{}", name, target)).or_else(|| variable(name)).filter(|value| !value.trim().is_empty())
}

/// A program and its arguments. A file whose name has blanks is the program alone.
fn words(command: &str) -> Vec<String> {
    if Path::new(command).is_file() {
        return vec![command.into()];
    }
    command.split_whitespace().map(String::from).collect()
}

fn output_of(program: &str, arguments: &[&str]) -> String {
    match Command::new(program).args(arguments).output() {
        Ok(done) => String::from_utf8_lossy(&done.stdout).into_owned(),
        Err(_) => String::new(), // who runs it next says why
    }
}

/// The CPU as compilers call it.
fn cpu_of_compilers(cpu: &str) -> String {
    if cpu == "aarch64" && cargo("CARGO_CFG_TARGET_ENDIAN") == "big" {
        "aarch64_be".into()
    } else if cpu == "x86" {
        "i686".into()
    } else {
        cpu.into()
    }
}

fn default_compiler(cpu: &str) -> String {
    // One compiler makes code for x86, and one for RISC-V, of both widths.
    let compiler = match cpu {
        "x86" => "x86_64",
        "riscv32" => "riscv64",
        _ => cpu,
    };
    if cargo("HOST").split('-').next() == Some(compiler) {
        "cc".into()
    } else {
        format!("{}-linux-gnu-gcc", compiler)
    }
}

/// What compilers for RISC-V must be told: the extensions and the ABI that the target's name has, as in riscv32imac-...
/// Of a target with another name nothing is said: CFLAGS are then for that.
fn riscv_flags(target: &str) -> Vec<String> {
    let name = target.split('-').next().unwrap_or("");
    let (bits, letters) = match (name.strip_prefix("riscv64"), name.strip_prefix("riscv32")) {
        (Some(letters), _) => ("64", letters),
        (_, Some(letters)) => ("32", letters),
        _ => return Vec::new(),
    };
    if letters.is_empty() || !letters.chars().all(|c| "igemafdc".contains(c)) {
        return Vec::new();
    }
    let floats = if letters.contains(&['g', 'd'][..]) {
        "d"
    } else if letters.contains('f') {
        "f"
    } else if letters.contains('e') {
        "e"
    } else {
        ""
    };
    let abi = if bits == "64" { "lp64" } else { "ilp32" };
    vec![format!("-march=rv{}{}", bits, letters), format!("-mabi={}{}", abi, floats), "-mcmodel=medany".into()]
}

fn run(command: &mut Command) {
    let done = command.status();
    assert!(matches!(&done, Ok(status) if status.success()), "{:?}: {:?}", command, done);
}

/// That what COMMAND makes is of the target's CPU, as far as it is ELF: the linker would pass over it in silence.
fn check_cpu(command: &[String], cpu: &str, out: &Path) {
    let machine: u16 = match cpu {
        "x86_64" => 62,
        "x86" => 3,
        "aarch64" => 183,
        "s390x" => 22,
        "riscv64" | "riscv32" => 243,
        _ => return,
    };
    let (source, object) = (out.join("probe.c"), out.join("probe.object"));
    std::fs::write(&source, "int probe;\n").expect("cargo makes OUT_DIR");
    run(Command::new(&command[0]).args(&command[1..]).arg("-c").arg(&source).arg("-o").arg(&object));
    let bytes = std::fs::read(&object).unwrap_or_else(|error| panic!("{}: {}", object.display(), error));
    if bytes.len() < 20 || &bytes[..4] != b"\x7fELF" {
        return; // of a compiler that optimises behind the linker
    }
    let big = cargo("CARGO_CFG_TARGET_ENDIAN") == "big";
    let word = [bytes[18], bytes[19]];
    let found = if bytes[5] == 2 { u16::from_be_bytes(word) } else { u16::from_le_bytes(word) };
    assert!(
        found == machine && (bytes[5] == 2) == big && (bytes[4] == 1) == (cpu == "riscv32" || cpu == "x86"),
        "sfu: '{}' makes objects of another CPU or byte order than {}: set CC_{} to a compiler for it",
        command.join(" "),
        cargo("TARGET"),
        cargo("TARGET").replace('-', "_")
    );
}

/// The compiler and its flags.
fn compiler(cpu: &str, out: &Path) -> Vec<String> {
    let mut command = words(&of_target("CC").unwrap_or_else(|| default_compiler(cpu)));
    let own: Vec<String> = of_target("CFLAGS").unwrap_or_default().split_whitespace().map(String::from).collect();
    let given: Vec<&str> = command[1..].iter().map(String::as_str).chain(["--version"]).collect();
    let is_clang = output_of(&command[0], &given).contains("clang");
    let has_target = command.iter().chain(&own).any(|flag| flag == "-target" || flag.starts_with("--target"));
    if is_clang && !has_target {
        command.push(format!("--target={}-linux-gnu", cpu_of_compilers(cpu)));
    }
    command.extend(riscv_flags(&cargo("TARGET")));
    if cpu == "x86" {
        command.push("-m32".into());
    }
    check_cpu(&[&command[..], &own].concat(), cpu, out);
    command.extend(FLAGS.iter().chain(cpu_flags(cpu)).map(|flag| flag.to_string()));
    command.extend(own);
    command
}

/// The version of rustc: its second number.
fn rustc_minor() -> u32 {
    let said = output_of(&cargo("RUSTC"), &["--version"]);
    said.split('.').nth(1).and_then(|minor| minor.parse().ok()).unwrap_or(0)
}

fn main() {
    let minor = rustc_minor();
    if minor >= 80 {
        println!("cargo:rustc-check-cfg=cfg(sfu_core_error)");
    }
    if minor >= 81 {
        println!("cargo:rustc-cfg=sfu_core_error");
    }
    let out = PathBuf::from(cargo("OUT_DIR"));
    let here = PathBuf::from(cargo("CARGO_MANIFEST_DIR"));
    let copies = here.join("c");
    let tree = here.join("../..");
    let from = match variable("SFU_DIR") {
        Some(dir) => PathBuf::from(dir),
        None if copies.join("arch/sfu_arch.h").is_file() => copies,
        None => tree, // where the links of c are none
    };
    let port = if from.join("port").is_dir() { from.join("port") } else { from.clone() };
    let mut sources = vec![from.join("sfu.c"), here.join("sfu_rust.c")];
    sources.extend(PARTS.iter().map(|part| port.join(part)));
    let folders = [from.clone(), from.join("arch"), port.join("print"), port.join("symbols")];
    for file in sources.iter().chain(&folders[1..]).chain(&[from.join("sfu.h")]) {
        println!("cargo:rerun-if-changed={}", file.display());
    }

    let cpu = cargo("CARGO_CFG_TARGET_ARCH");
    let command = compiler(&cpu, &out);
    let library = out.join("libsfu.a");
    let _ = std::fs::remove_file(&library); // ar only adds
    let mut archive = Command::new(of_target("AR").unwrap_or_else(|| "ar".into()));
    archive.arg("crs").arg(&library);
    for source in &sources {
        let object = out.join(source.file_name().expect("a file")).with_extension("o");
        let mut compile = Command::new(&command[0]);
        compile.args(&command[1..]);
        for folder in &folders {
            compile.arg("-I").arg(folder);
        }
        run(compile.arg("-c").arg(source).arg("-o").arg(&object));
        archive.arg(object);
    }
    run(&mut archive);
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=sfu");
}
