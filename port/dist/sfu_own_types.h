/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * sfu_panic.h, for a file that has integer types of its own: include this header instead. sfu_panic.h then takes the
 * compiler's types, and neither defines nor changes uint64_t, bool, NULL and the like: what the file has of them, by
 * typedef or by macro, in front of this line or behind it, stays. sfu_panic.c is compiled as always; if <stdint.h> or
 * <stdbool.h> is not to be had, or lacks something, it includes this header, too. Needs gcc or clang.
 */
#ifndef SFU_OWN_TYPES_H
#define SFU_OWN_TYPES_H
/* As they are in the file. */
#pragma push_macro("int8_t")
#pragma push_macro("int16_t")
#pragma push_macro("int32_t")
#pragma push_macro("int64_t")
#pragma push_macro("uint8_t")
#pragma push_macro("uint16_t")
#pragma push_macro("uint32_t")
#pragma push_macro("uint64_t")
#pragma push_macro("uintptr_t")
#pragma push_macro("size_t")
#pragma push_macro("NULL")
#pragma push_macro("offsetof")
#pragma push_macro("UINT64_MAX")
#pragma push_macro("UINT32_MAX")
#pragma push_macro("INT32_MAX")
#pragma push_macro("INT32_MIN")
#pragma push_macro("SFU_TYPES")
#ifndef __cplusplus
#pragma push_macro("bool")
#pragma push_macro("true")
#pragma push_macro("false")
#endif

#undef int8_t
#undef int16_t
#undef int32_t
#undef int64_t
#undef uint8_t
#undef uint16_t
#undef uint32_t
#undef uint64_t
#undef uintptr_t
#undef size_t
#undef NULL
#undef offsetof
#undef UINT64_MAX
#undef UINT32_MAX
#undef INT32_MAX
#undef INT32_MIN
#undef SFU_TYPES
#define int8_t                 __INT8_TYPE__
#define int16_t                __INT16_TYPE__
#define int32_t                __INT32_TYPE__
#define int64_t                __INT64_TYPE__
#define uint8_t                __UINT8_TYPE__
#define uint16_t               __UINT16_TYPE__
#define uint32_t               __UINT32_TYPE__
#define uint64_t               __UINT64_TYPE__
#define uintptr_t              __UINTPTR_TYPE__
#define size_t                 __SIZE_TYPE__
#define offsetof(type, member) __builtin_offsetof(type, member)
#ifdef __cplusplus
#define NULL nullptr
#else
#undef bool
#undef true
#undef false
#define NULL ((void *)0)
#define bool _Bool
#define true 1
#define false 0
#endif

#ifndef SFU_H /* else sfu.h has included this header, by SFU_TYPES: the types are for all of the file */
#define SFU_TYPES "sfu_own_types.h"
#include "sfu_panic.h"

#pragma pop_macro("int8_t")
#pragma pop_macro("int16_t")
#pragma pop_macro("int32_t")
#pragma pop_macro("int64_t")
#pragma pop_macro("uint8_t")
#pragma pop_macro("uint16_t")
#pragma pop_macro("uint32_t")
#pragma pop_macro("uint64_t")
#pragma pop_macro("uintptr_t")
#pragma pop_macro("size_t")
#pragma pop_macro("NULL")
#pragma pop_macro("offsetof")
#pragma pop_macro("UINT64_MAX")
#pragma pop_macro("UINT32_MAX")
#pragma pop_macro("INT32_MAX")
#pragma pop_macro("INT32_MIN")
#pragma pop_macro("SFU_TYPES")
#ifndef __cplusplus
#pragma pop_macro("bool")
#pragma pop_macro("true")
#pragma pop_macro("false")
#endif
#endif

#endif
