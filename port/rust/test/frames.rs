// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! The safe layer on a section that is written by hand from the specification: version 3, three functions.
use sfu::{sys, Error, Frame, Frames, Image, Machine, Parts, Printer, Record, Registers};
use sfu::{Room, Section, Stack, Stacks, Target, Trap};
use std::fmt::Write;

const AT: u64 = 0x10000; // of the section
const STACK: u64 = 0x8000;

/// A function of 16 bytes with one row: its start, and the words of the row, of one byte each.
fn section(abi: u32, functions: &[(u64, &[u8])]) -> Vec<u8> {
    let (mut fdes, mut rows) = (Vec::new(), Vec::new());
    for (start, words) in functions {
        fdes.extend(start.wrapping_sub(AT).to_le_bytes());
        fdes.extend(16u32.to_le_bytes());
        fdes.extend((rows.len() as u32).to_le_bytes());
        rows.extend([1, 0, 0, 0, 0]); // one row, starts of one byte, default type
        rows.extend([0, 1 | (words.len() as u8) << 1]); // from the start on; base SP
        rows.extend(*words);
    }
    let count = functions.len() as u32;
    let mut all = vec![0xe2, 0xde, 3, 1, abi as u8, 0, 0xf8, 0]; // sorted; RA at CFA - 8
    for field in [count, count, rows.len() as u32, 0, fdes.len() as u32] {
        all.extend(field.to_le_bytes());
    }
    all.extend(fdes);
    all.extend(rows);
    all
}

/// leaf: CFA = SP + 8; main: CFA = SP + 16; start: no words, outermost.
fn tables() -> Vec<u8> {
    section(sys::SFU_AMD64, &[(0x1000, &[8]), (0x1010, &[16]), (0x1020, &[])])
}

/// Return addresses: into main, and behind a word, into start.
fn stack() -> Vec<u8> {
    [0x1015u64, 0, 0x1025].iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn leaf() -> Registers {
    Registers { pc: 0x1004, sp: STACK, ..Registers::default() }
}

fn code(item: Result<Frame, Error>) -> Result<u64, i32> {
    item.map(|frame| frame.regs.pc).map_err(Error::code)
}

fn walk(stack: &[u8], top: &Registers) -> Vec<Result<u64, i32>> {
    let bytes = tables();
    let mut room = [Room::new()];
    let mut target = Target::new(Stack::copy(stack, STACK).unwrap());
    target.add(&mut room, &bytes, AT).unwrap();
    let mut frames = Frames::new(&target, top);
    let items = frames.by_ref().map(code).collect();
    assert!(frames.next().is_none() && frames.next().is_none());
    items
}

#[test]
fn the_end_is_none() {
    assert_eq!(walk(&stack(), &leaf()), [Ok(0x1004), Ok(0x1015), Ok(0x1025)]);
}

#[test]
fn an_error_is_an_item() {
    assert_eq!(walk(&stack()[..23], &leaf()), [Ok(0x1004), Ok(0x1015), Err(sys::SFU_E_STACK)]);
    assert_eq!(walk(&[], &Registers { pc: 0x1030, ..leaf() }), [Ok(0x1030), Err(sys::SFU_E_NOT_CODE)]);
}

/// What a call through a null pointer leaves: the return address at SP.
#[test]
fn a_wild_call_is_guessed() {
    let mut stack = stack();
    stack.splice(0..0, 0x1004u64.to_le_bytes());
    let top = Registers { pc: 0, ..leaf() };
    assert_eq!(walk(&stack, &top), [Ok(0), Ok(0x1004), Ok(0x1015), Ok(0x1025)]);
}

/// By the text that is given, which has more than the functions.
#[test]
fn text_is_set() {
    let bytes = tables();
    let top = |pc| Registers { pc, ..leaf() };
    for (text, inside) in [(0x1000..0x1031, sys::SFU_E_NO_FDE), (0..0, sys::SFU_E_NO_FDE), (1..2, sys::SFU_E_NOT_CODE)]
    {
        let mut room = [Room::new()];
        let mut target = Target::default();
        target.add_text(&mut room, &bytes, AT, text.clone()).unwrap();
        assert_eq!(Frames::new(&target, &top(0x1030)).nth(1), Some(Err(Error::of(inside))));
        let outside = if text.end == 0 { sys::SFU_E_NO_FDE } else { sys::SFU_E_NOT_CODE };
        assert_eq!(Frames::new(&target, &top(0x1031)).nth(1), Some(Err(Error::of(outside))));
    }
}

#[test]
fn limits_are_set() {
    let (bytes, words) = (tables(), stack());
    let with = |set: fn(&mut Target)| {
        let mut room = [Room::new()];
        let mut target = Target::new(Stack::copy(&words, STACK).unwrap());
        target.add(&mut room, &bytes, AT).unwrap();
        set(&mut target);
        Frames::new(&target, &leaf()).map(code).last().unwrap()
    };
    assert_eq!(with(|_| ()), Ok(0x1025));
    assert_eq!(with(|target| target.set_final(0x1020..0x1030)), Ok(0x1025));
    assert_eq!(with(|target| target.set_final(0x1000..0x1010)), Err(sys::SFU_E_NOT_FINAL));
    assert_eq!(with(|target| target.set_final(0..0)), Ok(0x1025));
    assert_eq!(with(|target| target.set_max_frames(2)), Err(sys::SFU_E_DEPTH));
    // Half of what leaf's caller has saved lies below SP.
    let read_below = |zone| {
        let below = section(sys::SFU_AMD64, &[(0x1000, &[0])]);
        let mut room = [Room::new()];
        let mut target = Target::new(Stack::copy(&words, STACK - 8).unwrap());
        target.add(&mut room, &below, AT).unwrap();
        target.set_red_zone(zone);
        Frames::new(&target, &leaf()).map(code).nth(1).unwrap()
    };
    assert_eq!((read_below(0), read_below(8)), (Err(sys::SFU_E_DEAD_SLOT), Ok(0x1015)));
    // A frame record at FP.
    let guessed = |guess| {
        let mut room = [Room::new()];
        let mut target = Target::new(Stack::copy(&words, STACK).unwrap());
        target.add_text(&mut room, &bytes, AT, 0x1000..0x1040).unwrap();
        target.set_frame_pointers(guess);
        let top = Registers { pc: 0x1031, fp: STACK + 8, ..leaf() };
        Frames::new(&target, &top).map(code).nth(1).unwrap()
    };
    assert_eq!((guessed(false), guessed(true)), (Err(sys::SFU_E_NO_FDE), Ok(0x1025)));
}

/// The bits of a PAC are those that the mask says, if it says some.
#[test]
fn a_pac_mask_is_set() {
    let mut signed = section(sys::SFU_AARCH64, &[(0x1000, &[16, 0xf8]), (0x1010, &[])]);
    signed[5..7].fill(0); // no fixed offsets
    for (mask, first) in [(0, 0x1015), (1 << 60, 0x1015 | 1 << 59)] {
        let bytes = [0, 0x1015u64 | 1 << 60 | 1 << 59].map(u64::to_le_bytes).concat();
        // CFA = SP + 16, RA = *(CFA - 8)
        let attributes = signed.len() - (5 + 2 + 2) - (5 + 2);
        let mut table = signed.clone();
        table[attributes + 6] |= 0x80; // mangled RA
        let mut room = [Room::new()];
        let mut target = Target::new(Stack::copy(&bytes, STACK).unwrap());
        target.add(&mut room, &table, AT).unwrap();
        target.set_pac_mask(mask);
        assert_eq!(Frames::new(&target, &leaf()).map(code).nth(1), Some(Ok(first)));
    }
}

/// The errors have the codes that they are made of, and the messages of C.
#[test]
fn errors_have_codes() {
    let codes: Vec<i32> = (-99..0).rev().take_while(|&code| Error::of(code).message() != "unknown code").collect();
    assert!(codes.len() >= 29, "{:?}", codes);
    for code in codes {
        let error = Error::of(code);
        assert!(!matches!(error, Error::Other(_) | Error::Busy), "{}", code);
        assert_eq!(error.code(), code);
    }
    assert_eq!((Error::of(-1000), Error::of(-1000).code()), (Error::Other(-1000), -1000));
    assert_eq!(Error::Busy.to_string(), "the printer is in use");
}

#[cfg(sfu_core_error)]
#[test]
fn errors_are_errors() {
    let error: Box<dyn std::error::Error + Send + Sync> = Error::Stack.into();
    assert_eq!(error.to_string(), Error::Stack.message());
}

/// What may be in statics, and be used by several threads.
#[test]
fn statics() {
    static TARGET: Target = Target::new(Stack::NONE);
    static STACKS: [Stack; 2] = [Stack::NONE, Stack::remote(1..2)];
    static NAME: sfu::Name = sfu::name!("kernel.elf");
    static PRINTER: Printer = Printer::new();
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&TARGET);
    shared(&STACKS);
    shared(&NAME);
    shared(&PRINTER);
    shared(&Frames::new(&TARGET, &leaf()));
    assert_eq!(TARGET.find(&Frame::default()), Err(Error::NoSection));
}

#[test]
fn names_that_are_refused() {
    for good in ["a\0", "kernel.elf\0", "a b~\0", "\0"] {
        assert!(sfu::Name::new(good).is_some(), "{:?}", good);
    }
    for bad in ["", "kernel.elf", "kernel\0.elf\0", "a\0\0", "k\u{e9}rnel\0", "a\nb\0", "\x7f\0"] {
        assert!(sfu::Name::new(bad).is_none(), "{:?}", bad);
    }
    assert_eq!(sfu::Name::new("a\0"), Some(sfu::name!("a")));
}

#[test]
fn what_is_found() {
    let bytes = tables();
    let section = Section::open(&bytes, AT).unwrap();
    let mut room = [Room::new()];
    assert_eq!(section.check(), Ok(()));
    let row = section.find(0x101f).unwrap();
    assert_eq!((row.start, row.length, row.function, row.cfa.offset), (0x1010, 16, 0x1010, 16));
    assert_eq!(section.find(0x1030).unwrap_err().code(), sys::SFU_E_NO_FDE);
    let mut target = Target::default();
    assert_eq!(target.find(&Frame::default()).unwrap_err().code(), sys::SFU_E_NO_SECTION);
    target.add(&mut room, &bytes, AT).unwrap();
    let returned = Registers { pc: 0x1020, pc_kind: sys::SFU_PC_RETURN, ..leaf() };
    assert_eq!(returned.lookup_pc(), 0x101f);
    assert_eq!(target.find(&Frame { regs: returned, ..Frame::default() }), Ok(row));
}

#[test]
fn sections_that_are_refused() {
    assert_eq!(Section::open(&[], AT).unwrap_err(), Error::Empty);
    assert_eq!(Section::open(&[0; 64], AT).unwrap_err().code(), sys::SFU_E_MAGIC);
    assert_eq!(Section::open_own(&tables()[..27]).unwrap_err().code(), sys::SFU_E_BOUNDS);
    let unsorted = section(sys::SFU_AMD64, &[(0x1010, &[8]), (0x1000, &[8])]);
    let (error, place) = Section::open(&unsorted, AT).unwrap().check().unwrap_err();
    assert_eq!((error.code(), place.fde, place.row), (sys::SFU_E_UNSORTED, 1, 0));
    assert!(error.to_string().contains("sorted") && format!("{:?}", error).starts_with("Error(-9: "));
    let (bytes, other) = (tables(), section(sys::SFU_AARCH64, &[(0x1000, &[8])]));
    let (mut room, mut more) = ([Room::new()], [Room::new()]);
    let mut target = Target::default();
    assert_eq!(target.add(&mut [], &bytes, AT).unwrap_err().code(), sys::SFU_E_CONCATENATED);
    target.add(&mut room, &bytes, AT).unwrap();
    assert_eq!(target.add(&mut more, &other, AT).unwrap_err().code(), sys::SFU_E_ABI);
}

#[test]
fn a_copy_ends_with_the_address_space() {
    assert!(Stack::copy(&[0; 8], u64::MAX - 8).is_some());
    assert!(Stack::copy(&[0; 8], u64::MAX - 6).is_none());
}

/// Two sections that a linker has joined: the second has a function of its own.
#[test]
fn joined_sections_are_added_at_once() {
    let mut both = tables();
    let first = both.len() as u64;
    both.extend(section(sys::SFU_AMD64, &[(0x1030, &[8])]));
    for (count, code) in [(1, Some(sys::SFU_E_CONCATENATED)), (2, None), (3, None)] {
        let mut room: Vec<_> = (0..count).map(|_| Room::new()).collect();
        let mut target = Target::default();
        assert_eq!(target.add(&mut room, &both, AT).err().map(Error::code), code);
        for (pc, found) in [(0x1004, true), (0x1030 + first, count > 1)] {
            let regs = Registers { pc, ..Registers::default() };
            assert_eq!(target.find(&Frame { regs, ..Frame::default() }).is_ok(), found);
        }
    }
}

/// Reads the stack, and knows one trap: at 0x2000, which interrupted leaf.
struct Dump(Vec<u8>);

impl Machine for Dump {
    fn read(&self, addr: u64, buffer: &mut [u8]) -> bool {
        let from = addr.wrapping_sub(STACK) as usize;
        match from.checked_add(buffer.len()).and_then(|to| self.0.get(from..to)) {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => return false,
        }
        true
    }

    fn trap(&self, frame: &Frame, why: Error) -> Trap {
        assert_eq!(why, Error::NotCode);
        match frame.regs.pc {
            0x2000 => {
                Trap::Interrupted(sys::sfu_interrupted { regs: leaf(), saved: 0x7000, guess: sys::SFU_GUESS_NONE })
            }
            0x2001 => Trap::End,
            _ => Trap::Unknown,
        }
    }
}

impl Stacks for Dump {
    fn find_stack(&self, addr: u64) -> Option<Stack<'_>> {
        if addr >= STACK {
            Some(Stack::remote(STACK..STACK + 0x1000))
        } else {
            Stack::copy(&[], addr)
        }
    }
}

fn ask(pc: u64) -> Vec<Result<u64, i32>> {
    let (bytes, machine) = (tables(), Dump(stack()));
    let mut room = [Room::new()];
    let mut target = Target::with_stacks(&machine);
    target.add(&mut room, &bytes, AT).unwrap();
    let top = Registers { pc, sp: 0x7000, ..Registers::default() };
    Frames::new(&target, &top).map(code).collect()
}

#[test]
fn a_machine_is_asked() {
    assert_eq!(ask(0x2000), [Ok(0x2000), Ok(0x1004), Ok(0x1015), Ok(0x1025)]);
    assert_eq!(ask(0x2001), [Ok(0x2001)]);
    assert_eq!(ask(0x2002), [Ok(0x2002), Err(sys::SFU_E_NOT_CODE)]);
    assert_eq!(ask(0x1004), [Ok(0x1004), Err(sys::SFU_E_STACK)]);
}

/// A flexible row: CFA = r12 + 8, and no word on the RA.
fn flexible() -> Vec<u8> {
    let mut all = section(sys::SFU_AMD64, &[(0x1000, &[12 << 3 | 1, 8])]);
    let attributes = 28 + 16;
    all[attributes + 3] = 1; // type: flexible
    all
}

struct Saved(Option<u64>);

impl Machine for Saved {
    fn register(&self, frame: &Frame, number: u32) -> Option<u64> {
        assert_eq!((frame.depth, number), (0, 12));
        self.0
    }
}

#[test]
fn a_register_is_asked_for() {
    for (known, second) in [(Some(STACK), Ok(0x1015)), (None, Err(sys::SFU_E_REGISTER))] {
        let (bytes, stack, machine) = (flexible(), stack(), Saved(known));
        let mut room = [Room::new()];
        let mut target = Target::with_machine(Stack::copy(&stack, STACK).unwrap(), &machine);
        target.add(&mut room, &bytes, AT).unwrap();
        let items: Vec<_> = Frames::new(&target, &leaf()).map(code).take(2).collect();
        assert_eq!(items, [Ok(0x1004), second]);
    }
}

/// What is printed lies where it is, so all addresses move with the section: a crash in leaf, on a stack of its own.
struct Crash {
    bytes: Vec<u8>,
    stack: [u64; 3],
    slide: u64,
}

impl Crash {
    fn new() -> Box<Self> {
        let bytes = tables();
        let slide = (bytes.as_ptr() as u64).wrapping_sub(AT);
        let at = |pc: u64| pc.wrapping_add(slide);
        Box::new(Crash { stack: [at(0x1015), 0, at(0x1025)], bytes, slide })
    }

    fn at(&self, pc: u64) -> u64 {
        pc.wrapping_add(self.slide)
    }

    fn top(&self) -> Registers {
        Registers { pc: self.at(0x1004), sp: self.stack.as_ptr() as u64, ..Registers::default() }
    }

    /// The stack's words FROM up to TO.
    fn live(&self, from: usize, to: usize) -> Stack<'_> {
        let words = self.stack[from..to].as_ptr_range();
        unsafe { Stack::live(words.start.cast()..words.end.cast()) }
    }
}

#[test]
fn a_trace_is_printed() {
    let crash = Crash::new();
    let (stacks, printer) = ([crash.live(0, 2), crash.live(2, 3)], Printer::new());
    let name = sfu::name!("kernel.elf");
    let image = Image { tables: &crash.bytes, stacks: &stacks, name, slide: crash.slide, parts: Parts::default() };
    let mut text = String::new();
    assert_eq!(printer.print_trace(&mut text, &image, Some(&crash.top())), Ok(()));
    let lines = [
        format!("slide {:#x}", crash.slide),
        format!("#0  {:#018x}", crash.at(0x1004)),
        format!("#1  {:#018x}", crash.at(0x1015)),
        format!("#2  {:#018x}  [stack switch]", crash.at(0x1025)),
        "trace ends (1): end of the stack: the outermost frame".into(),
        "addr2line -Cfipe kernel.elf 0x1004 0x1014 0x1024".into(),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);

    let cut = Image { tables: &crash.bytes[..0], name: sfu::Name::NONE, slide: 0, ..image };
    let mut text = String::new();
    assert_eq!(printer.print_trace(&mut text, &cut, Some(&crash.top())), Err(Error::Empty));
    assert!(text.contains("trace ends (-1): ") && text.ends_with(&format!("IMAGE {:#x}\n", crash.at(0x1004))));
}

/// A note of 4 bytes, "GNU", the build ID; and a table of one name, as symbols.py says.
const BUILD_ID: &[u8] = &[4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0, 0xab, 0xcd, 0xef, 1];
const NAMES: &[u8] =
    &[b's', b'f', b's', b'1', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 20, 0, 0, 0, 0x10, 4, b'l', b'e', b'a', b'f', 0];

#[test]
fn parts_are_printed_and_recorded() {
    let crash = Crash::new();
    let printer = Printer::new();
    let parts = Parts { build_id: BUILD_ID, symbols: NAMES, image_start: crash.slide, ..Default::default() };
    let stacks = [crash.live(0, 3)];
    let image = Image { tables: &crash.bytes, stacks: &stacks, name: sfu::Name::NONE, slide: 0, parts };
    let frames = [
        format!("#0  {:#018x}  leaf+0x4", crash.at(0x1004)),
        format!("#1  {:#018x}", crash.at(0x1015)),
        format!("#2  {:#018x}", crash.at(0x1025)),
    ];
    let printed = |image: &Image| {
        let mut text = String::new();
        assert_eq!(printer.print_trace(&mut text, image, Some(&crash.top())), Ok(()));
        text.lines().map(String::from).collect::<Vec<_>>()
    };
    let lines = printed(&image);
    assert_eq!((&lines[0][..], &lines[1..4]), ("build ID abcdef01", &frames[..]));

    let skipped = |parts| printed(&Image { parts, ..image })[0].clone();
    assert_eq!(skipped(Parts { skip: 2, ..Default::default() }), frames[2]);
    assert_eq!(skipped(Parts { skip_function: crash.at(0x1000), ..Default::default() }), frames[1]);

    let mut memory = Record::new();
    let mut text = String::new();
    assert_eq!(printer.print_record(&mut text, &mut memory, &image), Ok(false));
    assert_eq!(printer.record(&mut memory, &image, Some(&crash.top())), Ok(()));
    assert_eq!(text, "");
    assert_eq!(printer.print_record(&mut text, &mut memory, &image), Ok(true));
    assert!(text.starts_with("crash record: pc 0x"), "{}", text);
    assert_eq!(text.lines().skip(1).take(3).collect::<Vec<_>>(), frames);
    assert_eq!(printer.print_record(&mut text, &mut memory, &image), Ok(false));
}

/// A console that prints a trace by itself, once, when it is given the Nth text.
struct Console<'a> {
    crash: &'a Crash,
    inner: &'a Printer,
    countdown: u32,
    said: String,
    text: String,
    ended: Option<Result<(), Error>>,
}

impl Write for Console<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.text.push_str(text);
        self.countdown = self.countdown.wrapping_sub(1);
        if self.countdown == 0 {
            let stacks = [self.crash.live(0, 3)];
            let image = Image {
                tables: &self.crash.bytes,
                stacks: &stacks,
                name: sfu::name!("inner"),
                slide: self.crash.slide,
                parts: Parts::default(),
            };
            let ended = self.inner.print_trace(&mut self.said, &image, Some(&self.crash.top()));
            self.ended = Some(ended);
            assert_eq!(self.inner.print_record(&mut String::new(), &mut Record::new(), &image), ended.map(|_| false));
        }
        Ok(())
    }
}

/// Whenever it is entered again, by a printer of its own it prints a whole trace, and by the same one it says that that
/// is in use. What the outer call prints stays what it is: build ID, frames, record.
#[test]
fn a_printer_is_entered_again() {
    let crash = Crash::new();
    let stacks = [crash.live(0, 3)];
    let (printer, other) = (Printer::new(), Printer::new());
    let parts = Parts { build_id: BUILD_ID, symbols: NAMES, image_start: crash.slide, ..Default::default() };
    let image = Image { tables: &crash.bytes, stacks: &stacks, name: sfu::name!("outer"), slide: crash.slide, parts };
    let printed = |inner: &Printer, countdown| {
        let mut console =
            Console { crash: &crash, inner, countdown, said: String::new(), text: String::new(), ended: None };
        let mut memory = Record::new();
        printer.record(&mut memory, &image, Some(&crash.top())).unwrap();
        assert_eq!(printer.print_trace(&mut console, &image, Some(&crash.top())), Ok(()));
        assert_eq!(printer.print_record(&mut console, &mut memory, &image), Ok(true));
        (console.text, console.said, console.ended)
    };
    let (plain, nothing, never) = printed(&other, 0);
    assert!(plain.starts_with("build ID abcdef01\n") && nothing.is_empty() && never.is_none());
    for countdown in 1..=plain.len() as u32 {
        let (text, said, ended) = printed(&other, countdown);
        assert_eq!((&text, ended), (&plain, Some(Ok(()))));
        assert!(said.ends_with("addr2line -Cfipe inner 0x1004 0x1014 0x1024\n"), "{}", said);
        let (text, said, ended) = printed(&printer, countdown);
        assert_eq!((&text, ended), (&plain, Some(Err(Error::Busy))));
        assert!(said.starts_with("\nsecond fault while printing"), "{}", said);
    }
}

/// One printer, many threads: each call prints a whole trace, or none.
#[test]
fn a_printer_is_shared() {
    static PRINTER: Printer = Printer::new();
    let prints = || {
        let crash = Crash::new();
        let stacks = [crash.live(0, 3)];
        let (name, parts) = (sfu::name!("k"), Parts::default());
        let image = Image { tables: &crash.bytes, stacks: &stacks, name, slide: crash.slide, parts };
        let whole = |_: &u32| {
            let mut text = String::new();
            let ended = PRINTER.print_trace(&mut text, &image, Some(&crash.top()));
            assert!(ended == Ok(()) || ended == Err(Error::Busy), "{:?}", ended);
            assert!(ended.is_err() || text.ends_with("\naddr2line -Cfipe k 0x1004 0x1014 0x1024\n"), "{}", text);
            ended.is_ok()
        };
        (0..2000).filter(whole).count()
    };
    let mut printed = 0;
    std::thread::scope(|scope| {
        let others = [scope.spawn(prints), scope.spawn(prints), scope.spawn(prints)];
        printed = prints() + others.into_iter().map(|other| other.join().unwrap()).sum::<usize>();
    });
    assert!(printed > 0);
}

#[test]
fn here_is_below_the_caller() {
    let local = 0u8;
    let above = &local as *const u8 as u64;
    let registers = sfu::here(|registers| *registers);
    assert!(registers.sp < above && above - registers.sp < 65536);
    assert_eq!(registers.pc_kind, sys::SFU_PC_EXACT);
}
