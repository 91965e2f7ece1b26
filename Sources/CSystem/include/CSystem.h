// What Swift cannot reach of the operating system (functions with a variable number of arguments,
// and those that the C library hides without _GNU_SOURCE) and of the processor.
#ifndef ASSAY_CSYSTEM_H
#define ASSAY_CSYSTEM_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

/// How many arguments the program was started with, its name among them; 0 where the C library does
/// not say.
int assay_argument_count(void);

/// The argument at a position, or NULL.
const char *assay_argument(int index);

/// Anonymous shared memory that may be sealed; the size is 0 and the descriptor is not inherited.
/// Returns -1 and sets errno where there is none.
int assay_shared_memory(void);

/// As openat, and never inherited; a folder that may not be listed is opened nevertheless.
int assay_open_at(int folder, const char *path, int flags, unsigned mode);

/// A file without a name in a folder. Returns -1 and sets errno where there are none.
int assay_open_nameless(int folder, unsigned mode);

/// What becomes of the item that has the name: it is replaced, or keeps its name, and nothing is
/// renamed, or gets the other name in the same step.
enum assay_renaming { ASSAY_RENAME_REPLACE, ASSAY_RENAME_NEW, ASSAY_RENAME_EXCHANGE };

/// Renames in open folders. Returns -1 and sets errno on failure.
int assay_rename(int from, const char *old, int to, const char *name, enum assay_renaming kind);

/// Locks an open file until it is closed, by this process and those that inherit it. Returns -1 and
/// sets errno where another process has the lock, or there are none.
int assay_lock_file(int file);

/// A pipe that is not inherited.
int assay_pipe(int ends[2]);

/// The child starts without the descriptors from `first` on.
int assay_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// Path of the image (executable or library) that holds `address`, or NULL.
const char *assay_image_path(const void *address);

/// Whether a function of this name is linked into the process.
int assay_is_linked(const char *name);

/// The process ends when its parent does (Linux), and never gains privileges (Linux).
void assay_bind_to_parent(void);

/// Sets hard limits: processor seconds and bytes of address space (0: none), no files written, no
/// processes started, no core dumped.
void assay_limit_resources(unsigned long seconds, unsigned long address_space);

/// No file but the one behind `file` can be opened or executed any more, and none created (Linux
/// with Landlock). Returns whether that is in force.
int assay_confine_to_file(int file);

/// Makes every system call fail with EPERM but the few that a reader of open files makes. Linux on
/// x86-64 and arm64 only. Returns whether the filter is in place.
int assay_filter_system_calls(void);

/// The flag of dlopen with which a library looks for symbols in itself first, or 0.
int assay_deep_binding(void);

/// Loads the library at `path` in a child process, with `mode` as of dlopen, and calls its function
/// `entry`, if it has one, with `version` and `table`. The child ends after that, at the latest after
/// `seconds`; what it writes to its output comes into `text`, a C string of at most `size` bytes.
/// Returns 0 where it got to its end, else its wait status, -1 for one of 0 or where there was no
/// child.
int assay_rehearse_loading(const char *path, int mode, const char *entry, unsigned version,
                           const void *table, unsigned seconds, char *text, size_t size);

/// Bytes that the process's control group and its own limits allow; at most half of what an address
/// can hold.
size_t assay_memory_limit(void);

/// Processors that the process may use: those of its affinity (Linux), at most its quota; at least 1.
long assay_processor_count(void);

/// The least quota of the control groups that the file `groups` names, of both versions, in `folder`,
/// rounded up; 1000 where there is none.
long assay_processor_quota(const char *groups, const char *folder);

/// Makes allocations fail that exceed what is in use by more than this (Linux).
void assay_limit_memory(size_t bytes);

/// Ends the process as a failed allocation does; `assay_report_faults` makes one line of it.
void assay_out_of_memory(void) __attribute__((noreturn));

/// A failed allocation has become an error, so a later trap has another reason.
void assay_forget_failed_allocation(void);

/// Says `line` and exits with 74 if reading these bytes of a file fails. Returns a number for
/// `assay_unwatch_mapping`, -1 if too many are watched.
int assay_watch_mapping(const void *start, size_t size, const char *line);
void assay_unwatch_mapping(int slot);

/// From now on a trap says `line` and exits with 70, a failed allocation exits with 75. With
/// enable=yes in the environment variable SWIFT_BACKTRACE, Swift's own handlers stay.
void assay_report_faults(const char *line);

/// Whether processor and operating system offer AVX2, FMA and F16C.
bool processor_has_avx2(void);
/// Whether they also offer AVX-512 F, VL, BW and DQ.
bool processor_has_avx512(void);
/// Whether they also offer AMX with bf16, and this process may use it (Linux).
bool processor_has_amx(void);

/// Whether this thread has computed with numbers below 2⁻¹²⁶ since it last asked. False on processors
/// that do not say, on which they are not slow either.
bool processor_met_subnormals(void);
/// Lets this thread, and those that it starts from now on, take such numbers for zero.
void processor_flush_subnormals(void);

/// Tells the core that the thread waits in a loop: it spends less and notices the end sooner.
static inline void processor_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

#endif
