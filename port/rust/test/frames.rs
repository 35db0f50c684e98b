// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The sfu authors
//! The safe layer on a section that is written by hand from the specification: version 3, three functions.
use sfu::{sys, Error, Frame, Frames, Machine, Registers, Room, Section, Stack, Target, Trap};

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
    assert_eq!(walk(&[], &Registers { pc: 0x1030, ..leaf() }), [Ok(0x1030), Err(sys::SFU_E_NO_FDE)]);
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
    assert_eq!(Section::open(&[], AT).unwrap_err().code(), sys::SFU_E_EMPTY);
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
    const STACKS: bool = true;

    fn read(&self, addr: u64, buffer: &mut [u8]) -> bool {
        let from = addr.wrapping_sub(STACK) as usize;
        match from.checked_add(buffer.len()).and_then(|to| self.0.get(from..to)) {
            Some(bytes) => buffer.copy_from_slice(bytes),
            None => return false,
        }
        true
    }

    fn trap(&self, frame: &Frame, why: Error) -> Trap {
        assert_eq!(why.code(), sys::SFU_E_NO_FDE);
        match frame.regs.pc {
            0x2000 => {
                Trap::Interrupted(sys::sfu_interrupted { regs: leaf(), saved: 0x7000, guess: sys::SFU_GUESS_NONE })
            }
            0x2001 => Trap::End,
            _ => Trap::Unknown,
        }
    }

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
    let mut target = Target::default();
    target.add(&mut room, &bytes, AT).unwrap();
    target.ask(&machine);
    let top = Registers { pc, sp: 0x7000, ..Registers::default() };
    Frames::new(&target, &top).map(code).collect()
}

#[test]
fn a_machine_is_asked() {
    assert_eq!(ask(0x2000), [Ok(0x2000), Ok(0x1004), Ok(0x1015), Ok(0x1025)]);
    assert_eq!(ask(0x2001), [Ok(0x2001)]);
    assert_eq!(ask(0x2002), [Ok(0x2002), Err(sys::SFU_E_NO_FDE)]);
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
        let mut target = Target::new(Stack::copy(&stack, STACK).unwrap());
        target.add(&mut room, &bytes, AT).unwrap();
        target.ask(&machine);
        let items: Vec<_> = Frames::new(&target, &leaf()).map(code).take(2).collect();
        assert_eq!(items, [Ok(0x1004), second]);
    }
}

#[test]
fn a_trace_is_printed() {
    // What is printed lies where it is, so all addresses move with the section.
    let bytes = tables();
    let slide = (bytes.as_ptr() as u64).wrapping_sub(AT);
    let at = |pc: u64| pc.wrapping_add(slide);
    let stack = [at(0x1015), 0, at(0x1025)];
    let (low, high) = (stack.as_ptr().cast(), stack.as_ptr_range().end.cast());
    let image = sfu::Image {
        tables: bytes.as_ptr_range(),
        stacks: &[unsafe { Stack::live(low..low.wrapping_add(16)) }, unsafe {
            Stack::live(low.wrapping_add(16)..high)
        }],
        name: "kernel.elf\0",
        slide,
        parts: sfu::Parts::default(),
    };
    let top = Registers { pc: at(0x1004), sp: stack.as_ptr() as u64, ..Registers::default() };
    let mut text = String::new();
    assert_eq!(unsafe { sfu::print_trace(&mut text, &image, Some(&top)) }, Ok(()));
    let lines = [
        format!("slide {:#x}", slide),
        format!("#0  {:#018x}", at(0x1004)),
        format!("#1  {:#018x}", at(0x1015)),
        format!("#2  {:#018x}  [stack switch]", at(0x1025)),
        "trace ends (1): end of the stack: the outermost frame".into(),
        "addr2line -Cfipe kernel.elf 0x1004 0x1014 0x1024".into(),
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);

    let cut = sfu::Image { tables: image.tables.start..image.tables.start, name: "no NUL", slide: 0, ..image };
    let mut text = String::new();
    let ended = unsafe { sfu::print_trace(&mut text, &cut, Some(&top)) };
    assert_eq!(ended.unwrap_err().code(), sys::SFU_E_EMPTY);
    assert!(text.contains("trace ends (-1): ") && text.ends_with(&format!("IMAGE {:#x}\n", at(0x1004))));
}

/// A note of 4 bytes, "GNU", the build ID; and a table of one name, as symbols.py says.
const BUILD_ID: &[u8] = &[4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, b'G', b'N', b'U', 0, 0xab, 0xcd, 0xef, 1];
const NAMES: &[u8] =
    &[b's', b'f', b's', b'1', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 20, 0, 0, 0, 0x10, 4, b'l', b'e', b'a', b'f', 0];

#[test]
fn parts_are_printed_and_recorded() {
    let bytes = tables();
    let slide = (bytes.as_ptr() as u64).wrapping_sub(AT);
    let at = |pc: u64| pc.wrapping_add(slide);
    let stack = [at(0x1015), 0, at(0x1025)];
    let live = unsafe { Stack::live(stack.as_ptr().cast()..stack.as_ptr_range().end.cast()) };
    let parts = sfu::Parts { build_id: BUILD_ID, symbols: NAMES, image_start: slide, ..Default::default() };
    let (tables, stacks) = (bytes.as_ptr_range(), [live]);
    let image = sfu::Image { tables, stacks: &stacks, name: "", slide: 0, parts };
    let top = Registers { pc: at(0x1004), sp: stack.as_ptr() as u64, ..Registers::default() };
    let frames = [
        format!("#0  {:#018x}  leaf+0x4", at(0x1004)),
        format!("#1  {:#018x}", at(0x1015)),
        format!("#2  {:#018x}", at(0x1025)),
    ];
    let printed = |image: &sfu::Image| {
        let mut text = String::new();
        assert_eq!(unsafe { sfu::print_trace(&mut text, image, Some(&top)) }, Ok(()));
        text.lines().map(String::from).collect::<Vec<_>>()
    };
    let lines = printed(&image);
    assert_eq!((&lines[0][..], &lines[1..4]), ("build ID abcdef01", &frames[..]));

    let skipped = |parts| printed(&sfu::Image { parts, ..image.clone() })[0].clone();
    assert_eq!(skipped(sfu::Parts { skip: 2, ..Default::default() }), frames[2]);
    assert_eq!(skipped(sfu::Parts { skip_function: at(0x1000), ..Default::default() }), frames[1]);

    let mut memory = sfu::Record::new();
    let mut text = String::new();
    assert!(!unsafe { sfu::print_record(&mut text, &mut memory, &image) });
    assert_eq!(unsafe { sfu::record(&mut memory, &image, Some(&top)) }, Ok(()));
    assert_eq!(text, "");
    assert!(unsafe { sfu::print_record(&mut text, &mut memory, &image) });
    assert!(text.starts_with("crash record: pc 0x"), "{}", text);
    assert_eq!(text.lines().skip(1).take(3).collect::<Vec<_>>(), frames);
    assert!(!unsafe { sfu::print_record(&mut text, &mut memory, &image) });
}

#[test]
fn here_is_below_the_caller() {
    let local = 0u8;
    let above = &local as *const u8 as u64;
    let registers = sfu::here(|registers| *registers);
    assert!(registers.sp < above && above - registers.sp < 65536);
    assert_eq!(registers.pc_kind, sys::SFU_PC_EXACT);
}
