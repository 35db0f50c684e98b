/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The ELF files of this CPU. */
#ifndef ELF_TYPES_H
#define ELF_TYPES_H

#include <elf.h>
#include <stdint.h>

#if UINTPTR_MAX > 0xffffffff
typedef Elf64_Ehdr Elf_Ehdr;
typedef Elf64_Phdr Elf_Phdr;
typedef Elf64_Shdr Elf_Shdr;
typedef Elf64_Sym Elf_Sym;
#else
typedef Elf32_Ehdr Elf_Ehdr;
typedef Elf32_Phdr Elf_Phdr;
typedef Elf32_Shdr Elf_Shdr;
typedef Elf32_Sym Elf_Sym;
#endif

#endif
