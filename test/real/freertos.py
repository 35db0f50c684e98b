# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
"""FreeRTOS's demo for a Cortex-M3 of QEMU's, from a folder of the user's: FreeRTOS/FreeRTOS with its submodules."""
from real import Edit

DEMO = "FreeRTOS/FreeRTOS/Demo/CORTEX_MPS2_QEMU_IAR_GCC"
GCC = DEMO + "/build/gcc"
FLAGS = ["-DSFU_ABI=SFU_THUMB -DSFU_OLDEST_VERSION=3 -DSFU_NO_REMOTE"]
TRACES = r"""
#include "sfu_cortexm.h"

extern const uint8_t sframe_start[], sframe_end[];
int __write(int file, char *text, int length);

static void put(void *ctx, char c)
{
    (void)ctx;
    __write(1, &c, 1);
}

static struct sfu_panic panic = {.put = put, .image = "RTOSDemo.out"};
static struct sfu_cortexm cortexm;
"""
INIT = r"""
SFU_CORTEXM_FAULTS(cortexm, after)
void traces_init(void)
{
    sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, (void *)0x20000000, (void *)0x20400000);
}
"""
STOP = r"""
static void after(void) { }
"""
# Behind tasks.c, where FreeRTOS has a place for it: the lists are static.
TASKS = r"""
void print_task(const char *name, const uint32_t *saved);
static void print_list(const List_t *list)
{
    for (const ListItem_t *i = list->xListEnd.pxNext; i != (const ListItem_t *)&list->xListEnd; i = i->pxNext)
        if (i->pvOwner != pxCurrentTCB)
            print_task(((TCB_t *)i->pvOwner)->pcTaskName, ((TCB_t *)i->pvOwner)->pxTopOfStack);
}

void print_tasks(void)
{
    for (int i = 0; i < configMAX_PRIORITIES; i++)
        print_list(&pxReadyTasksLists[i]);
    print_list(pxDelayedTaskList);
    print_list(pxOverflowDelayedTaskList);
    print_list(&xSuspendedTaskList);
}
"""
PRINT_TASK = r"""
void print_tasks(void);
static void after(void) { print_tasks(); }

void print_task(const char *name, const uint32_t *saved)
{
    struct sfu_cortexm_entry entry = {.exc_return = 0xfffffff9, .msp = (uint32_t)(saved + 8)};
    struct sfu_registers top;

    for (int i = 0; i < 8; i++)
        entry.r4_to_r11[i] = saved[i];
    sfu_cortexm_registers(&cortexm, &entry, &top);
    sfu_print_text(&panic, name);
    sfu_print_text(&panic, ":\n");
    sfu_panic_print(&panic, &top);
}
"""


class FreeRTOS:
    CPUS = 1
    SOURCES = {"FreeRTOS": "$FREERTOS"}
    COPIES = {"./" + file: GCC + "/" + file.rpartition("/")[2] for file in (
        "sfu.h", "sfu.c", "port/print/sfu_print.h", "port/print/sfu_print.c", "port/cortexm/sfu_cortexm.h",
        "port/cortexm/sfu_cortexm.c")}
    EDITS = [
        Edit(GCC + "/Makefile", "SOURCE_FILES += ./sfu.c ./sfu_print.c ./sfu_cortexm.c ./traces.c\n"
             "CFLAGS += " + FLAGS[0], after=r"^SOURCE_FILES \+= \./startup_gcc\.c\n"),
        Edit(GCC + "/Makefile", "\tsfu-gen --small --fp=auto $@", before=r"^\t\$\(SIZE\) \$\(IMAGE\)"),
        Edit(GCC + "/mps2_m3.ld", r"""
    .sfu_sframe : ALIGN(8)
    {
        sframe_start = .; QUAD(0) . += 64 + SIZEOF(.debug_frame); . = ALIGN(8); sframe_end = .;
    } > FLASH
""", before=r"^    \.data :"),
        Edit(GCC + "/mps2_m3.ld", "    .debug_frame 0 : { *(.debug_frame) }", after=r"RAM overflowed with stack.*\n"),
        Edit(GCC + "/startup_gcc.c", "void HardFault_Handler( void );", instead=r"^static void HardFault_Handler.*\n"),
        Edit(GCC + "/startup_gcc.c", "", instead=r"^void HardFault_Handler\( void \)\n\{(?s:.*?)^\}\n"),
        Edit(DEMO + "/main.c", "    void traces_init( void );\n    traces_init();", before=r"^    prvUARTInit\(\);"),
        Edit(DEMO + "/FreeRTOSConfig.h", "#define configTASK_RETURN_ADDRESS sfu_cortexm_task_end\n"
             "void sfu_cortexm_task_end( void );", after=r"^    #define configASSERT\(.*"),
    ]
    FLAGS = []
    # A key chooses. The task that waits for a timer's interrupt has values of its own in r4 to r11.
    FAULTS = [
        Edit(DEMO + "/main_blinky.c", r"""
volatile int hello_tick;

static __attribute__((noinline)) int leaf(volatile int *p) { *p = 1; return 2; }
static __attribute__((noinline)) int middle(volatile int *p) { return leaf(p) + 3; }
static __attribute__((noinline)) int wait_for_it(int n)
{
    hello_tick = 1;
    for (volatile int i = n; i != 0;)
        ;
    return 4;
}
int hello_fault(void) { return middle((int *)0x60000000) + 1; }
static __attribute__((noinline)) int hello_assert(int n) { configASSERT(n > 200); return n; }
static __attribute__((noinline)) int crash(int n)
{
    volatile uint32_t *uart = (uint32_t *)0x40004000;

    uart[2] = 3;
    printf("key?\n");
    while ((uart[1] & 2) == 0)
        ;
    switch (uart[0]) {
    case 'f': return hello_fault() + 5;
    case 'i': return wait_for_it(7) + 6;
    case 'a': return hello_assert(n) + 9;
    case 'n': return ((int (*)(void))0)() + 7;
    }
    return 8;
}
""", before=r"^static void prvQueueReceiveTask\( void \* pvParameters \)\n\{"),
        Edit(DEMO + "/main_blinky.c", "        printf(\"%d\\n\", crash((int)ulReceivedValue));",
             after=r"^        xQueueReceive\( xQueue, &ulReceivedValue, portMAX_DELAY \);"),
        Edit(DEMO + "/main.c", "    extern volatile int hello_tick;\n    int hello_fault( void );\n"
             "    if( hello_tick )\n        printf( \"%d\", hello_fault() );",
             after=r"^void vApplicationTickHook\( void \)\n\{"),
    ]
    BUILD = ["cd " + GCC + " && PATH={sfu}/build/tools:$PATH make -j2"]
    OBJECTS = [GCC + f"/output/{part}.o" for part in ("sfu", "sfu_print", "sfu_cortexm", "traces")]
    TABLES = ".sfu_sframe"
    IMAGE = GCC + "/output/RTOSDemo.out"
    ADDR2LINE = "arm-none-eabi-addr2line"
    BOOT = ["qemu-system-arm", "-M", "mps2-an385", "-nographic", "-no-reboot", "-kernel", GCC + "/output/RTOSDemo.out"]
    TASK = "prvQueueReceiveTask sfu_cortexm_task"
    FAULT = "leaf middle hello_fault crash " + TASK
    TICK = "leaf middle hello_fault vApplicationTickHook xTaskIncrementTick xPortSysTickHandler ?? " \
           "!%wait_for_it crash " + TASK
    # The idle task was interrupted anywhere in its loop. TX was interrupted by what it has sent: the task that receives
    # comes before it.
    OTHERS = [("prvCheckTasksWaitingTermination prvIdleTask sfu_cortexm_task", "prvIdleTask sfu_cortexm_task"),
              "vPortExitCritical xQueueGenericSend prvQueueSendTask sfu_cortexm_task",
              "prvProcessTimerOrBlockTask prvTimerTask sfu_cortexm_task", "vTaskDelay TzCtrl sfu_cortexm_task"]


class fault(FreeRTOS):
    """FreeRTOS's demo for QEMU's mps2-an385 with what the page on Cortex-M has: a HardFault prints the trace of a task,
    or of an interrupt and the task that it interrupted."""
    TITLE = "FreeRTOS, Cortex-M3"
    EDITS = FreeRTOS.EDITS + [Edit(GCC + "/traces.c", TRACES + STOP + INIT)]
    SCENARIOS = [
        {"name": "fault in a task", "dialogue": [(r"key\?", "f")], "traces": [FreeRTOS.FAULT],
         "says": [r"^fault: HardFault, thread mode, process stack$", r"^  BusFault: .*$"]},
        {"name": "fault in an interrupt over a task", "dialogue": [(r"key\?", "i")], "traces": [FreeRTOS.TICK],
         "says": [r"^fault: HardFault, in an exception, main stack$"]},
        {"name": "call of a null pointer", "dialogue": [(r"key\?", "n")],
         "traces": ["?? ~crash " + FreeRTOS.TASK]},
    ]


class tasks(FreeRTOS):
    """The same with a trace of every task after the trace of the fault, also if configASSERT fails."""
    TITLE = "FreeRTOS, Cortex-M3, all tasks"
    EDITS = FreeRTOS.EDITS + [
        Edit(DEMO + "/main.c", "    __builtin_trap();", after=r'^    printf\( "ASSERT! .*'),
        Edit(GCC + "/traces.c", TRACES + PRINT_TASK + INIT),
        Edit(DEMO + "/freertos_tasks_c_additions.h", TASKS),
        Edit(DEMO + "/FreeRTOSConfig.h", "#define configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H 1",
             before=r"^#define configUSE_PREEMPTION "),
    ]
    SCENARIOS = [
        {"name": "fault in a task", "dialogue": [(r"key\?", "f")], "traces": [FreeRTOS.FAULT, *FreeRTOS.OTHERS]},
        {"name": "fault in an interrupt over a task", "dialogue": [(r"key\?", "i")],
         "traces": [FreeRTOS.TICK, *FreeRTOS.OTHERS]},
        {"name": "assertion", "dialogue": [(r"key\?", "a")],
         "traces": ["vAssertCalled hello_assert crash " + FreeRTOS.TASK, *FreeRTOS.OTHERS]},
    ]


class linked(FreeRTOS):
    """FreeRTOS's demo for QEMU's mps2-an385, linked by sfu-link: no unwind flag, no line in the linker script. A
    HardFault prints the trace of a task, or of an interrupt and the task that it interrupted, with names."""
    TITLE = "FreeRTOS, Cortex-M3, by sfu-link"
    COPIES = {name: GCC + "/" + name for name in ("sfu_panic.h", "sfu_panic.c", "sfu_cortexm.h", "sfu_cortexm.c")}
    EDITS = [
        Edit(GCC + "/Makefile", "SOURCE_FILES += ./sfu_panic.c ./sfu_cortexm.c",
             after=r"^SOURCE_FILES \+= \./startup_gcc\.c\n"),
        *FreeRTOS.EDITS[4:6],
        Edit(DEMO + "/main.c", r"""
#include "build/gcc/sfu_cortexm.h"

static void put( void * ctx, char c ) { printf( "%c", c ); }
static struct sfu_panic panic = { .put = put };
static struct sfu_cortexm cortexm;
static void after( void ) { }
SFU_CORTEXM_FAULTS( cortexm, after )
""", before=r"^void main\( void \)|^int main\( void \)"),
        Edit(DEMO + "/main.c",
             "    sfu_cortexm_start( &cortexm, &panic, ( void * ) 0x20000000, ( void * ) 0x20400000 );",
             before=r"^    prvUARTInit\(\);"),
        FreeRTOS.EDITS[7],
    ]
    BUILD = [FreeRTOS.BUILD[0].replace("make -j2", "make -j2 LD='sfu-link arm-none-eabi-gcc'")]
    OBJECTS, TABLES = [GCC + f"/output/{part}.o" for part in ("sfu_panic", "sfu_cortexm")], None
    SCENARIOS = fault.SCENARIOS
