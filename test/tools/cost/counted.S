/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A program of which everybody can say how many instructions it executes: COUNTED, before it exits with status 0. */
	.text
	.globl _start
_start:
	.cfi_startproc
#if defined(__x86_64__)
	mov	$1000, %ecx
1:	dec	%ecx
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.set	COUNTED, 1 + 2 * 1000 + 3
#elif defined(__aarch64__)
	mov	x0, #1000
1:	subs	x0, x0, #1
	b.ne	1b
	mov	x8, #93
	mov	x0, #0
	svc	#0
	.set	COUNTED, 1 + 2 * 1000 + 3
#elif defined(__riscv)
	li	a5, 1000
1:	addi	a5, a5, -1
	bnez	a5, 1b
	li	a7, 93
	li	a0, 0
	ecall
	.set	COUNTED, 1 + 2 * 1000 + 3
#else
	lghi	%r1, 1000
1:	brctg	%r1, 1b
	lghi	%r2, 0
	svc	1
	.set	COUNTED, 1 + 1000 + 2
#endif
	.cfi_endproc
	.globl	COUNTED
	.section .note.GNU-stack, "", %progbits
