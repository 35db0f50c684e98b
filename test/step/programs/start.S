/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What the stepped programs have instead of a libc's start-up code, by hand and with CFI for every instruction:
 *
 *   _start                       the outermost frame; calls step_main, exits with its result
 *   step_mark(i, n), step_ready  do nothing: the harness knows their addresses
 *   step_syscall(n, a, b, c, d)  an instruction follows the system call that neither calls nor returns, because
 *                                QEMU may carry it out in the same step
 *   step_restorer                where signal handlers return to. Its CFI says that this is a signal frame, which
 *                                no table can describe: its caller's registers are in the frame that SP points at
 *   step_restorer_table          another one, not on s390x, which a table by the macros of arch/ describes
 *   setjmp, longjmp              and the same with an underscore; the CFI holds at each instruction, see below
 *   notable_call(f, x)           calls f(x), without CFI: has no table
 *   asm_*                        patterns that no compiler makes: each (f, x) calls f(x)
 */
#include "arch/sfu_asm.h"

#define FUNCTION(name) .globl name; .type name, %function; .p2align 4; name:
#define END(name) .size name, . - name
/* The lookup of a return address is one byte lower: the restorer's function begins before its entry. */
#define SIGNAL_START .p2align 4; .cfi_startproc; .cfi_signal_frame

	.text
#if defined __x86_64__

FUNCTION(_start)
	.cfi_startproc
	.cfi_undefined rip
	xorl	%ebp, %ebp
	call	step_main
	movl	%eax, %edi
	movl	$60, %eax
	syscall
	hlt
	.cfi_endproc
	END(_start)

FUNCTION(step_mark)
	.cfi_startproc
	ret
	.cfi_endproc
	END(step_mark)

FUNCTION(step_ready)
	.cfi_startproc
	ret
	.cfi_endproc
	END(step_ready)

FUNCTION(step_syscall)
	.cfi_startproc
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	syscall
	nop
	ret
	.cfi_endproc
	END(step_syscall)

	SIGNAL_START
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06 /* CFA = *(rsp + 160) */
	nop
	.globl	step_restorer
	.type	step_restorer, %function
step_restorer:
	movl	$15, %eax
	syscall
	hlt
	.cfi_endproc
	END(step_restorer)

	.p2align 4
	.type	restorer_table, %function
restorer_table:
	nop
	.globl	step_restorer_table
step_restorer_table:
	movl	$15, %eax
	syscall
	hlt
restorer_table_end:
	END(restorer_table)
	sfu_trap_begin restorer_table, restorer_table_end
	sfu_trap_row restorer_table, cfa=160, ra=168, fp=120
	sfu_trap_end

FUNCTION(_setjmp)
	.globl	setjmp
	.type	setjmp, %function
setjmp:
	.cfi_startproc
	movq	%rbx, (%rdi)
	movq	%rbp, 8(%rdi)
	movq	%r12, 16(%rdi)
	movq	%r13, 24(%rdi)
	movq	%r14, 32(%rdi)
	movq	%r15, 40(%rdi)
	leaq	8(%rsp), %rdx
	movq	%rdx, 48(%rdi)
	movq	(%rsp), %rdx
	movq	%rdx, 56(%rdi)
	xorl	%eax, %eax
	ret
	.cfi_endproc
	END(setjmp)
	END(_setjmp)

/* Up to the change of SP the caller is the old one, and from there on the one that setjmp returns to. */
FUNCTION(longjmp)
	.globl	_longjmp
	.type	_longjmp, %function
_longjmp:
	.cfi_startproc
	movl	%esi, %eax
	testl	%eax, %eax
	jne	1f
	incl	%eax
1:	movq	(%rdi), %rbx
	movq	16(%rdi), %r12
	movq	24(%rdi), %r13
	movq	32(%rdi), %r14
	movq	40(%rdi), %r15
	movq	8(%rdi), %r8
	movq	48(%rdi), %r9
	movq	56(%rdi), %rdx
	movq	%r9, %rsp
	.cfi_def_cfa rsp, 0
	.cfi_register rip, rdx
	.cfi_register rbp, r8
	movq	%r8, %rbp
	.cfi_same_value rbp
	jmp	*%rdx
	.cfi_endproc
	END(longjmp)
	END(_longjmp)

FUNCTION(notable_call)
	subq	$24, %rsp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	addq	$24, %rsp
	ret
	END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rbx
	pushq	%rdi
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	popq	%rdi
	movq	-8(%rbp), %rbx
	leave
	.cfi_def_cfa rsp, 8
	.cfi_same_value rbp
	ret
	.cfi_endproc
	END(asm_frame)

/* Pushes and pops with a row for each; returns by pop and jump. */
FUNCTION(asm_push)
	.cfi_startproc
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	pushfq
	.cfi_adjust_cfa_offset 8
	movq	$-1, %rbp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	popfq
	.cfi_adjust_cfa_offset -8
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_same_value rbp
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rcx
	jmp	*%rcx
	.cfi_endproc
	END(asm_push)

/* The CFA in a register that only a topmost frame has; `ret n`. */
FUNCTION(asm_odd)
	.cfi_startproc
	movq	%rsp, %r11
	.cfi_def_cfa_register r11
	subq	$40, %rsp
	andq	$-64, %rsp
	movq	%r11, (%rsp)
	movq	%rdi, %rax
	movq	(%rsp), %rsp
	.cfi_def_cfa rsp, 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	movq	%rsi, %rdi
	call	1f
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
1:	.cfi_startproc
	call	*%rax
	ret	$8
	.cfi_endproc
	END(asm_odd)

#elif defined __aarch64__

FUNCTION(_start)
	.cfi_startproc
	.cfi_undefined x30
	mov	x29, #0
	mov	x30, #0
	bl	step_main
	mov	x8, #93
	svc	#0
	brk	#0
	.cfi_endproc
	END(_start)

FUNCTION(step_mark)
	.cfi_startproc
	ret
	.cfi_endproc
	END(step_mark)

FUNCTION(step_ready)
	.cfi_startproc
	ret
	.cfi_endproc
	END(step_ready)

FUNCTION(step_syscall)
	.cfi_startproc
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	svc	#0
	nop
	ret
	.cfi_endproc
	END(step_syscall)

	SIGNAL_START
	.cfi_escape 0x0f, 0x04, 0x8f, 0xb0, 0x04, 0x06 /* CFA = *(sp + 560) */
	nop
	.globl	step_restorer
	.type	step_restorer, %function
step_restorer:
	mov	x8, #139
	svc	#0
	brk	#0
	.cfi_endproc
	END(step_restorer)

	.p2align 4
	.type	restorer_table, %function
restorer_table:
	nop
	.globl	step_restorer_table
step_restorer_table:
	mov	x8, #139
	svc	#0
	brk	#0
restorer_table_end:
	END(restorer_table)
	sfu_trap_begin restorer_table, restorer_table_end
	sfu_trap_row restorer_table, cfa=560, ra=568, fp=544
	sfu_trap_end

FUNCTION(_setjmp)
	.globl	setjmp
	.type	setjmp, %function
setjmp:
	.cfi_startproc
	stp	x19, x20, [x0]
	stp	x21, x22, [x0, #16]
	stp	x23, x24, [x0, #32]
	stp	x25, x26, [x0, #48]
	stp	x27, x28, [x0, #64]
	stp	x29, x30, [x0, #80]
	mov	x2, sp
	str	x2, [x0, #96]
	stp	d8, d9, [x0, #112]
	stp	d10, d11, [x0, #128]
	stp	d12, d13, [x0, #144]
	stp	d14, d15, [x0, #160]
	mov	w0, #0
	ret
	.cfi_endproc
	END(setjmp)
	END(_setjmp)

/* The change of SP and what follows has no table: its caller's address is in x11, which no row can say. */
FUNCTION(longjmp)
	.globl	_longjmp
	.type	_longjmp, %function
_longjmp:
	.cfi_startproc
	ldp	x19, x20, [x0]
	ldp	x21, x22, [x0, #16]
	ldp	x23, x24, [x0, #32]
	ldp	x25, x26, [x0, #48]
	ldp	x27, x28, [x0, #64]
	ldp	x10, x11, [x0, #80]
	ldr	x9, [x0, #96]
	ldp	d8, d9, [x0, #112]
	ldp	d10, d11, [x0, #128]
	ldp	d12, d13, [x0, #144]
	ldp	d14, d15, [x0, #160]
	cmp	w1, #0
	csinc	w0, w1, wzr, ne
	b	notable_longjmp
	.cfi_endproc
	END(longjmp)
	END(_longjmp)

FUNCTION(notable_longjmp)
	mov	sp, x9
	mov	x29, x10
	br	x11
	END(notable_longjmp)

/* Of libgcc: code was written at x0 to x1, which here is less than a cache line or two. */
FUNCTION(__clear_cache)
	.cfi_startproc
	bic	x0, x0, #15
1:	dc	cvau, x0
	dsb	ish
	ic	ivau, x0
	add	x0, x0, #16
	cmp	x0, x1
	b.lo	1b
	dsb	ish
	isb
	ret
	.cfi_endproc
	END(__clear_cache)

FUNCTION(notable_call)
	stp	x29, x30, [sp, #-32]!
	mov	x2, x0
	mov	x0, x1
	blr	x2
	ldp	x29, x30, [sp], #32
	ret
	END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	.cfi_def_cfa_register x29
	sub	sp, sp, #64
	mov	x2, x0
	mov	x0, x1
	blr	x2
	mov	sp, x29
	.cfi_def_cfa_register sp
	ldp	x29, x30, [sp], #32
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	END(asm_frame)

/* The link register saved alone and late, FP not at all; returns through another register. */
FUNCTION(asm_push)
	.cfi_startproc
	sub	sp, sp, #48
	.cfi_def_cfa_offset 48
	mov	x2, x0
	str	x30, [sp, #24]
	.cfi_offset x30, -24
	mov	x0, x1
	blr	x2
	ldr	x30, [sp, #24]
	.cfi_restore x30
	mov	x3, x30
	add	sp, sp, #48
	.cfi_def_cfa_offset 0
	br	x3
	.cfi_endproc
	END(asm_push)

/* A frame record at the top of a large frame; the frame pointer is used by the function for something else. */
FUNCTION(asm_odd)
	.cfi_startproc
	sub	sp, sp, #1024
	.cfi_def_cfa_offset 1024
	stp	x29, x30, [sp, #1008 - 512]
	.cfi_offset x29, -528
	.cfi_offset x30, -520
	mov	x29, #-1
	mov	x2, x0
	mov	x0, x1
	blr	x2
	ldp	x29, x30, [sp, #1008 - 512]
	.cfi_restore x29
	.cfi_restore x30
	add	sp, sp, #1024
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	END(asm_odd)

#elif defined __s390x__

FUNCTION(_start)
	.cfi_startproc
	.cfi_undefined %r14
	lghi	%r11, 0
	lghi	%r14, 0
	aghi	%r15, -160
	.cfi_adjust_cfa_offset 160
	xc	0(8,%r15), 0(%r15)
	brasl	%r14, step_main
	lgfr	%r2, %r2
	svc	1
	j	.+2
	.cfi_endproc
	END(_start)

FUNCTION(step_mark)
	.cfi_startproc
	br	%r14
	.cfi_endproc
	END(step_mark)

FUNCTION(step_ready)
	.cfi_startproc
	br	%r14
	.cfi_endproc
	END(step_ready)

FUNCTION(step_syscall)
	.cfi_startproc
	lgr	%r1, %r2
	lgr	%r2, %r3
	lgr	%r3, %r4
	lgr	%r4, %r5
	lgr	%r5, %r6
	svc	0
	bcr	0, %r0
	br	%r14
	.cfi_endproc
	END(step_syscall)

	SIGNAL_START
	.cfi_escape 0x0f, 0x04, 0x7f, 0xd8, 0x03, 0x06 /* CFA = *(r15 + 472) */
	bcr	0, %r0
	.globl	step_restorer
	.type	step_restorer, %function
step_restorer:
	svc	173
	j	.+2
	.cfi_endproc
	END(step_restorer)

FUNCTION(_setjmp)
	.globl	setjmp
	.type	setjmp, %function
setjmp:
	.cfi_startproc
	stmg	%r6, %r15, 0(%r2)
	std	%f8, 80(%r2)
	std	%f9, 88(%r2)
	std	%f10, 96(%r2)
	std	%f11, 104(%r2)
	std	%f12, 112(%r2)
	std	%f13, 120(%r2)
	std	%f14, 128(%r2)
	std	%f15, 136(%r2)
	lghi	%r2, 0
	br	%r14
	.cfi_endproc
	END(setjmp)
	END(_setjmp)

/* One instruction changes SP, FP and the return address together. */
FUNCTION(longjmp)
	.globl	_longjmp
	.type	_longjmp, %function
_longjmp:
	.cfi_startproc
	lgr	%r1, %r2
	ltr	%r2, %r3
	jne	1f
	lghi	%r2, 1
1:	ld	%f8, 80(%r1)
	ld	%f9, 88(%r1)
	ld	%f10, 96(%r1)
	ld	%f11, 104(%r1)
	ld	%f12, 112(%r1)
	ld	%f13, 120(%r1)
	ld	%f14, 128(%r1)
	ld	%f15, 136(%r1)
	lmg	%r6, %r15, 0(%r1)
	br	%r14
	.cfi_endproc
	END(longjmp)
	END(_longjmp)

FUNCTION(notable_call)
	stmg	%r14, %r15, 112(%r15)
	aghi	%r15, -160
	lgr	%r1, %r2
	lgr	%r2, %r3
	basr	%r14, %r1
	lmg	%r14, %r15, 272(%r15)
	br	%r14
	END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	.cfi_startproc
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	aghi	%r15, -160
	.cfi_adjust_cfa_offset 160
	lgr	%r11, %r15
	.cfi_def_cfa_register %r11
	aghi	%r15, -512
	lgr	%r1, %r2
	lgr	%r2, %r3
	basr	%r14, %r1
	lmg	%r11, %r15, 248(%r11)
	.cfi_restore %r11
	.cfi_restore %r14
	.cfi_def_cfa %r15, 160
	br	%r14
	.cfi_endproc
	END(asm_frame)

/* The return address at an unusual place, FP not at all; returns through another register. */
FUNCTION(asm_push)
	.cfi_startproc
	aghi	%r15, -192
	.cfi_adjust_cfa_offset 192
	stg	%r14, 168(%r15)
	.cfi_offset %r14, -184
	lgr	%r1, %r2
	lgr	%r2, %r3
	basr	%r14, %r1
	lg	%r14, 168(%r15)
	.cfi_restore %r14
	lgr	%r4, %r14
	aghi	%r15, 192
	.cfi_adjust_cfa_offset -192
	br	%r4
	.cfi_endproc
	END(asm_push)

/* A leaf's part: FP and the return address kept in floating-point registers, and the registers used. */
FUNCTION(asm_odd)
	.cfi_startproc
	ldgr	%f0, %r14
	.cfi_register %r14, %f0
	ldgr	%f2, %r11
	.cfi_register %r11, %f2
	lghi	%r14, 0
	lghi	%r11, -1
	lgr	%r1, %r14
	lgdr	%r11, %f2
	.cfi_restore %r11
	lgdr	%r14, %f0
	.cfi_restore %r14
	lgr	%r1, %r2
	lgr	%r2, %r3
	br	%r1
	.cfi_endproc
	END(asm_odd)

#endif
	.section .note.GNU-stack, "", %progbits
