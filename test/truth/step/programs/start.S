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
#if !defined __riscv && !defined __arm__ && !defined __i386__
#include "arch/sfu_asm.h"
#endif

#define BARE(name)     .globl name; .type name, %function; name:
#define BARE_END(name) .size name, . - name
#define FUNCTION(name) .p2align 4; BARE(name) .cfi_startproc
#define END(name)      .cfi_endproc; BARE_END(name)

	.text
#ifdef __arm__
	.syntax unified
	.cfi_sections .debug_frame
#endif
#if defined __x86_64__
#define NOP        nop
#define RETURN     ret
#define SIGRETURN  movl $15, %eax; syscall; hlt
#define SIGNAL_CFA 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06 /* *(rsp + 160) */
#define SIGNAL_ROW cfa=160, ra=168, fp=120

FUNCTION(_start)
	.cfi_undefined rip
	xorl	%ebp, %ebp
	call	step_main
	movl	%eax, %edi
	movl	$60, %eax
	syscall
	hlt
	END(_start)

FUNCTION(step_syscall)
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movq	%rcx, %rdx
	movq	%r8, %r10
	syscall
	nop
	ret
	END(step_syscall)

FUNCTION(setjmp)
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
	END(setjmp)

/* Up to the change of SP the caller is the old one, and from there on the one that setjmp returns to. */
FUNCTION(longjmp)
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
	END(longjmp)

BARE(notable_call)
	subq	$24, %rsp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	addq	$24, %rsp
	ret
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
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
	END(asm_frame)

/* Pushes and pops with a row for each; returns by pop and jump. */
FUNCTION(asm_push)
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
	END(asm_push)

/* The CFA in a register that only a topmost frame has; `ret n`. */
FUNCTION(asm_odd)
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
	END(asm_odd)

#elif defined __aarch64__
#define NOP        nop
#define RETURN     ret
#define SIGRETURN  mov x8, 139; svc 0; brk 0
#define SIGNAL_CFA 0x0f, 0x04, 0x8f, 0xb0, 0x04, 0x06 /* *(sp + 560) */
#define SIGNAL_ROW cfa=560, ra=568, fp=544

FUNCTION(_start)
	.cfi_undefined x30
	mov	x29, #0
	mov	x30, #0
	bl	step_main
	mov	x8, #93
	svc	#0
	brk	#0
	END(_start)

FUNCTION(step_syscall)
	mov	x8, x0
	mov	x0, x1
	mov	x1, x2
	mov	x2, x3
	mov	x3, x4
	svc	#0
	nop
	ret
	END(step_syscall)

	.macro	saved op
	\op	x19, x20, [x0]
	\op	x21, x22, [x0, #16]
	\op	x23, x24, [x0, #32]
	\op	x25, x26, [x0, #48]
	\op	x27, x28, [x0, #64]
	\op	d8, d9, [x0, #112]
	\op	d10, d11, [x0, #128]
	\op	d12, d13, [x0, #144]
	\op	d14, d15, [x0, #160]
	.endm

FUNCTION(setjmp)
	saved	stp
	stp	x29, x30, [x0, #80]
	mov	x2, sp
	str	x2, [x0, #96]
	mov	w0, #0
	ret
	END(setjmp)

/* The change of SP and what follows has no table: its caller's address is in x11, which no row can say. */
FUNCTION(longjmp)
	saved	ldp
	ldp	x10, x11, [x0, #80]
	ldr	x9, [x0, #96]
	cmp	w1, #0
	csinc	w0, w1, wzr, ne
	b	notable_longjmp
	END(longjmp)

BARE(notable_longjmp)
	mov	sp, x9
	mov	x29, x10
	br	x11
	BARE_END(notable_longjmp)

/* Of libgcc: code was written at x0 to x1, which here is less than a cache line or two. */
FUNCTION(__clear_cache)
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
	END(__clear_cache)

BARE(notable_call)
	stp	x29, x30, [sp, #-32]!
	mov	x2, x0
	mov	x0, x1
	blr	x2
	ldp	x29, x30, [sp], #32
	ret
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
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
	END(asm_frame)

/* The link register saved alone and late, FP not at all; returns through another register. */
FUNCTION(asm_push)
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
	END(asm_push)

/* A frame record at the top of a large frame; the frame pointer is used by the function for something else. */
FUNCTION(asm_odd)
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
	END(asm_odd)

#elif defined __s390x__
#define NOP        nopr
#define RETURN     br %r14
#define SIGRETURN  svc 173; j .+2
#define SIGNAL_CFA 0x0f, 0x04, 0x7f, 0xd8, 0x03, 0x06 /* *(r15 + 472) */

FUNCTION(_start)
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
	END(_start)

FUNCTION(step_syscall)
	lgr	%r1, %r2
	lgr	%r2, %r3
	lgr	%r3, %r4
	lgr	%r4, %r5
	lgr	%r5, %r6
	svc	0
	bcr	0, %r0
	br	%r14
	END(step_syscall)

FUNCTION(setjmp)
	stmg	%r6, %r15, 0(%r2)
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	std	%f\n, 16 + 8 * \n(%r2)
	.endr
	lghi	%r2, 0
	br	%r14
	END(setjmp)

/* One instruction changes SP, FP and the return address together. */
FUNCTION(longjmp)
	lgr	%r1, %r2
	ltr	%r2, %r3
	jne	1f
	lghi	%r2, 1
1:	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	ld	%f\n, 16 + 8 * \n(%r1)
	.endr
	lmg	%r6, %r15, 0(%r1)
	br	%r14
	END(longjmp)

BARE(notable_call)
	stmg	%r14, %r15, 112(%r15)
	aghi	%r15, -160
	lgr	%r1, %r2
	lgr	%r2, %r3
	basr	%r14, %r1
	lmg	%r14, %r15, 272(%r15)
	br	%r14
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
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
	END(asm_frame)

/* The return address at an unusual place, FP not at all; returns through another register. */
FUNCTION(asm_push)
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
	END(asm_push)

/* A leaf's part: FP and the return address kept in floating-point registers, and the registers used. */
FUNCTION(asm_odd)
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
	END(asm_odd)

#elif defined __riscv
#define NOP        nop
#define RETURN     ret
#define SIGRETURN  li a7, 139; ecall; ebreak
/* Words, and floating-point registers where there are any. */
#if __riscv_xlen == 64
#define STORE      sd
#define LOAD       ld
#define WORD       8
/* The caller's PC, SP and FP are at 304, 320 and 368 of the signal frame. */
#define SIGNAL_CFA 0x0f, 0x04, 0x72, 0xc0, 0x02, 0x06, 0x10, 1, 3, 0x72, 0xb0, 0x02, 0x10, 8, 3, 0x72, 0xf0, 0x02
#else
#define STORE      sw
#define LOAD       lw
#define WORD       4
/* At 288, 296 and 320. */
#define SIGNAL_CFA 0x0f, 0x04, 0x72, 0xa8, 0x02, 0x06, 0x10, 1, 3, 0x72, 0xa0, 0x02, 0x10, 8, 3, 0x72, 0xc0, 0x02
#endif

	.weak	__global_pointer$, step_handler /* a kernel has neither */
#ifdef SHADOW_GP /* clang's shadow call stack is in gp, up to clang 17 in s2 */
#define SMALL_DATA shadow_calls
#else
#define SMALL_DATA __global_pointer$
#endif

FUNCTION(_start)
	.cfi_undefined ra
	.option push
	.option norelax
	lla	gp, SMALL_DATA
	.option pop
	li	s0, 0
	lla	s2, shadow_calls
	li	ra, 0
	call	step_main
	li	a7, 93
	ecall
	ebreak
	END(_start)

	.local	shadow_calls
	.comm	shadow_calls, 65536, 16

FUNCTION(step_syscall)
	mv	a7, a0
	mv	a0, a1
	mv	a1, a2
	mv	a2, a3
	mv	a3, a4
	ecall
	nop
	ret
	END(step_syscall)

	.macro	saved op, fop
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\op	s\n, \n * WORD(a0)
	.endr
#ifdef __riscv_flen
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	\fop	fs\n, 14 * WORD + \n * 8(a0)
	.endr
#endif
	.endm

FUNCTION(setjmp)
	saved	STORE, fsd
	STORE	s0, 0(a0)
	STORE	ra, 12 * WORD(a0)
	STORE	sp, 13 * WORD(a0)
#ifdef SHADOW_GP
	STORE	gp, 14 * WORD + 96(a0)
#endif
	li	a0, 0
	ret
	END(setjmp)

/* Up to the change of SP the caller is the old one, and from there on the one that setjmp returns to. */
FUNCTION(longjmp)
	saved	LOAD, fld
	LOAD	t0, 0(a0)
	LOAD	t1, 12 * WORD(a0)
	LOAD	t2, 13 * WORD(a0)
#ifdef SHADOW_GP
	LOAD	gp, 14 * WORD + 96(a0)
#endif
	seqz	a0, a1
	add	a0, a0, a1
	mv	sp, t2
	.cfi_register ra, t1
	.cfi_register s0, t0
	mv	s0, t0
	.cfi_same_value s0
	jr	t1
	END(longjmp)

/* Of libgcc: code was written. */
FUNCTION(__riscv_flush_icache)
	.word	0x0000100f /* fence.i, which assemblers have in an extension */
	li	a0, 0
	ret
	END(__riscv_flush_icache)

BARE(notable_call)
	addi	sp, sp, -16
	STORE	ra, 8(sp)
	mv	a5, a0
	mv	a0, a1
	jalr	a5
	LOAD	ra, 8(sp)
	addi	sp, sp, 16
	ret
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	addi	sp, sp, -32
	.cfi_def_cfa_offset 32
	STORE	ra, 24(sp)
	.cfi_offset ra, -8
	STORE	s0, 16(sp)
	.cfi_offset s0, -16
	addi	s0, sp, 32
	.cfi_def_cfa s0, 0
	addi	sp, sp, -64
	mv	a5, a0
	mv	a0, a1
	jalr	a5
	addi	sp, s0, -32
	.cfi_def_cfa sp, 32
	LOAD	ra, 24(sp)
	.cfi_restore ra
	LOAD	s0, 16(sp)
	.cfi_restore s0
	addi	sp, sp, 32
	.cfi_def_cfa_offset 0
	ret
	END(asm_frame)

/* The link register saved alone and late, FP not at all; returns through another register. */
FUNCTION(asm_push)
	addi	sp, sp, -48
	.cfi_def_cfa_offset 48
	mv	a5, a0
	STORE	ra, 24(sp)
	.cfi_offset ra, -24
	mv	a0, a1
	jalr	a5
	LOAD	t1, 24(sp)
	.cfi_register ra, t1
	addi	sp, sp, 48
	.cfi_def_cfa_offset 0
	jr	t1
	END(asm_push)

/* FP saved without RA, and used for something else; then RA, and the CFA in another register than SP and FP. */
FUNCTION(asm_odd)
	addi	sp, sp, -1024
	.cfi_def_cfa_offset 1024
	STORE	s0, 1008(sp)
	.cfi_offset s0, -16
	li	s0, -1
	mv	t1, sp
	.cfi_def_cfa_register t1
	STORE	ra, 496(t1)
	.cfi_offset ra, -528
	.cfi_def_cfa_register sp
	mv	a5, a0
	mv	a0, a1
	jalr	a5
	LOAD	ra, 496(sp)
	.cfi_restore ra
	LOAD	s0, 1008(sp)
	.cfi_restore s0
	addi	sp, sp, 1024
	.cfi_def_cfa_offset 0
	ret
	END(asm_odd)

/* What Linux calls: it gives a handler no restorer, so this does. */
FUNCTION(step_enter)
	lla	ra, step_restorer
	.cfi_undefined ra
	tail	step_handler
	END(step_enter)

#elif defined __i386__
/* Arguments are on the stack. There are no signals here. */
#define RETURN     ret

FUNCTION(_start)
	.cfi_undefined eip
	xorl	%ebp, %ebp
	call	step_main
	movl	%eax, %ebx
	movl	$1, %eax
	int	$0x80
	hlt
	END(_start)

FUNCTION(step_syscall)
	pushl	%ebx
	.cfi_adjust_cfa_offset 4
	pushl	%esi
	.cfi_adjust_cfa_offset 4
	movl	12(%esp), %eax
	movl	16(%esp), %ebx
	movl	20(%esp), %ecx
	movl	24(%esp), %edx
	movl	28(%esp), %esi
	int	$0x80
	nop
	popl	%esi
	.cfi_adjust_cfa_offset -4
	popl	%ebx
	.cfi_adjust_cfa_offset -4
	ret
	END(step_syscall)

FUNCTION(setjmp)
	movl	4(%esp), %eax
	movl	%ebx, (%eax)
	movl	%esi, 4(%eax)
	movl	%edi, 8(%eax)
	movl	%ebp, 12(%eax)
	leal	4(%esp), %edx
	movl	%edx, 16(%eax)
	movl	(%esp), %edx
	movl	%edx, 20(%eax)
	xorl	%eax, %eax
	ret
	END(setjmp)

/* Up to the change of SP the caller is the old one, and from there on the one that setjmp returns to. */
FUNCTION(longjmp)
	movl	4(%esp), %edx
	movl	8(%esp), %eax
	testl	%eax, %eax
	jne	1f
	incl	%eax
1:	movl	4(%edx), %esi
	movl	8(%edx), %edi
	movl	12(%edx), %ebx
	movl	20(%edx), %ecx
	movl	16(%edx), %esp
	.cfi_def_cfa esp, 0
	.cfi_register eip, ecx
	.cfi_register ebp, ebx
	movl	%ebx, %ebp
	.cfi_same_value ebp
	movl	(%edx), %ebx
	jmp	*%ecx
	END(longjmp)

BARE(notable_call)
	subl	$12, %esp
	movl	16(%esp), %eax
	movl	20(%esp), %edx
	movl	%edx, (%esp)
	call	*%eax
	addl	$12, %esp
	ret
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	pushl	%ebp
	.cfi_def_cfa_offset 8
	.cfi_offset ebp, -8
	movl	%esp, %ebp
	.cfi_def_cfa_register ebp
	pushl	%ebx
	pushl	12(%ebp)
	call	*8(%ebp)
	popl	%ecx
	movl	-4(%ebp), %ebx
	leave
	.cfi_def_cfa esp, 4
	.cfi_same_value ebp
	ret
	END(asm_frame)

/* All registers at once, and FP used for something else; returns by pop and jump. */
FUNCTION(asm_push)
	pushal
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset ebp, 8
	movl	$-1, %ebp
	pushl	40(%esp)
	.cfi_adjust_cfa_offset 4
	call	*40(%esp)
	popl	%ecx
	.cfi_adjust_cfa_offset -4
	movl	%eax, 28(%esp)
	popal
	.cfi_adjust_cfa_offset -32
	.cfi_same_value ebp
	popl	%ecx
	.cfi_adjust_cfa_offset -4
	.cfi_register eip, ecx
	jmp	*%ecx
	END(asm_push)

/* The CFA in a register that only a topmost frame has; `ret n`. */
FUNCTION(asm_odd)
	movl	%esp, %edx
	.cfi_def_cfa_register edx
	subl	$40, %esp
	andl	$-64, %esp
	movl	%edx, (%esp)
	movl	4(%edx), %eax
	movl	8(%edx), %ecx
	movl	(%esp), %esp
	.cfi_def_cfa esp, 4
	pushl	%ecx
	.cfi_adjust_cfa_offset 4
	call	1f
	.cfi_adjust_cfa_offset -4
	ret
	.cfi_endproc
1:	.cfi_startproc
	pushl	4(%esp)
	.cfi_adjust_cfa_offset 4
	call	*%eax
	addl	$4, %esp
	.cfi_adjust_cfa_offset -4
	ret	$4
	END(asm_odd)

FUNCTION(step_handler)
	RETURN
	END(step_handler)

FUNCTION(step_signals)
	RETURN
	END(step_signals)

#elif defined __arm__
/* A32, T32, and what ARMv6-M has of T32. There are no signals here. */
#define RETURN     bx lr
#ifdef __thumb__
#define FRAME      r7
#define SET_FRAME  movs r7, #255
#else
#define FRAME      r11
#define SET_FRAME  mov r11, #255
#endif

FUNCTION(_start)
	.cfi_undefined lr
	movs	r0, #0
	mov	r7, r0
	mov	r11, r0
	mov	lr, r0
	bl	step_main
	movs	r7, #1
	svc	#0
	udf	#0
	END(_start)

FUNCTION(step_syscall)
	push	{r4, r7}
	.cfi_def_cfa_offset 8
	.cfi_offset r7, -4
	ldr	r4, [sp, #8]
	mov	r7, r0
	mov	r0, r1
	mov	r1, r2
	mov	r2, r3
	mov	r3, r4
	svc	#0
	nop
	pop	{r4, r7}
	.cfi_restore r7
	.cfi_def_cfa_offset 0
	bx	lr
	END(step_syscall)

FUNCTION(setjmp)
	stmia	r0!, {r4-r7}
	mov	r1, r8
	mov	r2, r9
	mov	r3, r10
	stmia	r0!, {r1-r3}
	mov	r1, r11
	mov	r2, sp
	mov	r3, lr
	stmia	r0!, {r1-r3}
#ifdef __ARM_FP
	vstmia	r0, {d8-d15}
#endif
	movs	r0, #0
	bx	lr
	END(setjmp)

/* Up to the change of SP the caller is the old one, and from there on the one that setjmp returns to. */
FUNCTION(longjmp)
	cmp	r1, #0
	bne	1f
	movs	r1, #1
1:	adds	r0, #16
	ldmia	r0!, {r2, r3}
	mov	r8, r2
	mov	r9, r3
	ldmia	r0!, {r2, r3}
	mov	r10, r2
	mov	r12, r3
	ldmia	r0!, {r2, r3}
#ifdef __ARM_FP
	vldmia	r0, {d8-d15}
#endif
	subs	r0, #40
	ldmia	r0!, {r4-r6}
	ldr	r0, [r0]
	mov	sp, r2
	.cfi_register lr, r3
	.cfi_register r7, r0
	.cfi_register r11, r12
	mov	r7, r0
	.cfi_same_value r7
	mov	r11, r12
	.cfi_same_value r11
	mov	r0, r1
	bx	r3
	END(longjmp)

BARE(notable_call)
	push	{r4, lr}
	mov	r2, r0
	mov	r0, r1
	blx	r2
	pop	{r4, pc}
	BARE_END(notable_call)

/* Frame pointer, and SP moved about below it. */
FUNCTION(asm_frame)
	push	{FRAME, lr}
	.cfi_def_cfa_offset 8
	.cfi_offset FRAME, -8
	.cfi_offset lr, -4
	mov	FRAME, sp
	.cfi_def_cfa FRAME, 8
	sub	sp, #64
	mov	r2, r0
	mov	r0, r1
	blx	r2
	mov	sp, FRAME
	.cfi_def_cfa sp, 8
	pop	{FRAME, pc}
	END(asm_frame)

/* The link register saved alone and late, FP not at all; returns through another register. */
FUNCTION(asm_push)
	sub	sp, #24
	.cfi_def_cfa_offset 24
	mov	r3, lr
	mov	r2, r0
	str	r3, [sp, #8]
	.cfi_offset lr, -16
	mov	r0, r1
	blx	r2
	ldr	r1, [sp, #8]
	.cfi_register lr, r1
	add	sp, #24
	.cfi_def_cfa_offset 0
	bx	r1
	END(asm_push)

/* FP saved without RA, and used for something else; then RA, and the CFA in another register than SP and FP. */
FUNCTION(asm_odd)
	sub	sp, #504
	.cfi_def_cfa_offset 504
	str	FRAME, [sp, #496]
	.cfi_offset FRAME, -8
	SET_FRAME
	mov	r3, sp
	.cfi_def_cfa_register r3
	mov	r2, lr
	str	r2, [r3, #100]
	.cfi_offset lr, -404
	.cfi_def_cfa_register sp
	mov	r2, r0
	mov	r0, r1
	blx	r2
	ldr	r1, [sp, #100]
	.cfi_register lr, r1
	ldr	FRAME, [sp, #496]
	.cfi_restore FRAME
	add	sp, #504
	.cfi_def_cfa_offset 0
	bx	r1
	END(asm_odd)

FUNCTION(step_handler)
	RETURN
	END(step_handler)

FUNCTION(step_signals)
	RETURN
	END(step_signals)

#endif

FUNCTION(step_mark)
	RETURN
	END(step_mark)

FUNCTION(step_ready)
	RETURN
	END(step_ready)

	.globl	_setjmp, _longjmp
	.set	_setjmp, setjmp
	.set	_longjmp, longjmp

#if !defined __arm__ && !defined __i386__
/* The lookup of a return address is one byte lower: the restorer's function begins before its entry. */
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape SIGNAL_CFA
	NOP
BARE(step_restorer)
	SIGRETURN
	END(step_restorer)
#endif

#ifdef SIGNAL_ROW
	.p2align 4
restorer_table:
	NOP
	.globl	step_restorer_table
step_restorer_table:
	SIGRETURN
restorer_table_end:
	.type	restorer_table, %function
	.size	restorer_table, . - restorer_table
	sfu_trap_begin restorer_table, restorer_table_end
	sfu_trap_row restorer_table, SIGNAL_ROW
	sfu_trap_end
#endif
	.section .note.GNU-stack, "", %progbits
