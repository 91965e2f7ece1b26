// What Swift cannot use directly: variadic functions of the operating system, functions that the C
// library hides without _GNU_SOURCE, and processor features.
#ifndef ASSAY_CSYSTEM_H
#define ASSAY_CSYSTEM_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>

/// The number of the program's arguments, including its name; 0 if the C library does not provide
/// it.
int assay_argument_count(void);

/// The argument at `index`, or NULL.
const char *assay_argument(int index);

/// Creates anonymous shared memory that can be sealed; its size is 0 and the descriptor is not
/// inherited. Returns -1 and sets errno on failure.
int assay_shared_memory(void);

/// Like openat, but the descriptor is not inherited, and folders that may not be listed open, too.
int assay_open_at(int folder, const char *path, int flags, unsigned mode);

/// Opens a file without a name in a folder. Returns -1 and sets errno if that is not supported.
int assay_open_nameless(int folder, unsigned mode);

/// What happens to an existing item with the new name: it is replaced, it stays and renaming fails,
/// or the two items exchange their names atomically.
enum assay_renaming { ASSAY_RENAME_REPLACE, ASSAY_RENAME_NEW, ASSAY_RENAME_EXCHANGE };

/// Renames an item between open folders. Returns -1 and sets errno on failure.
int assay_rename(int from, const char *old, int to, const char *name, enum assay_renaming kind);

/// Locks an open file until this process and those that inherit it close it. Returns -1 and sets
/// errno if another process has the lock or locks are not supported.
int assay_lock_file(int file);

/// Creates a pipe that is not inherited.
int assay_pipe(int ends[2]);

/// Closes the descriptors from `first` on in the child.
int assay_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

/// The path of the image (executable or library) that contains `address`, or NULL.
const char *assay_image_path(const void *address);

/// Whether a function of this name is linked into the process.
int assay_is_linked(const char *name);

/// Makes the process end when its parent does and never gain privileges (Linux).
void assay_bind_to_parent(void);

/// Sets hard limits: seconds of processor time, bytes of address space (0: no limit), no written
/// files, no new processes, no core dumps.
void assay_limit_resources(unsigned long seconds, unsigned long address_space);

/// Denies opening, executing and creating files, except reading the one behind `file` (Linux with
/// Landlock). Returns whether this is in force.
int assay_confine_to_file(int file);

/// Makes all system calls fail with EPERM except the few that a reader of open files needs. Linux
/// on x86-64 and arm64 only. Returns whether the filter is in place.
int assay_filter_system_calls(void);

/// The dlopen flag that makes a library look up symbols in itself first, or 0.
int assay_deep_binding(void);

/// Loads the library at `path` in a child process, with `mode` as in dlopen, and calls its function
/// `entry`, if it has one, with `version` and `table`. The child then exits; it is killed after
/// `seconds`. Its output goes to `text`, a C string of at most `size` bytes. Returns 0 if the child
/// got to the end; otherwise its wait status, or -1 if that is 0 or no child could be started.
int assay_rehearse_loading(const char *path, int mode, const char *entry, unsigned version,
                           const void *table, unsigned seconds, char *text, size_t size);

/// The number of bytes that the process's control group and its own limits allow; at most half the
/// address space.
size_t assay_memory_limit(void);

/// The processors that the process may use, by affinity (Linux) and quota; at least 1.
long assay_processor_count(void);

/// The smallest quota, rounded up, of the control groups in `folder` that the file `groups` names,
/// of both versions; 1000 if there is none.
long assay_processor_quota(const char *groups, const char *folder);

/// Makes allocations fail beyond `bytes` more than are in use now (Linux).
void assay_limit_memory(size_t bytes);

/// Ends the process like a failed allocation, which `assay_report_faults` reports in one line.
void assay_out_of_memory(void) __attribute__((noreturn));

/// Clears errno after a failed allocation has become an error: a later trap has another reason.
void assay_forget_failed_allocation(void);

/// If reading these bytes of a file fails, prints `line` and exits with 74. Returns a slot for
/// `assay_unwatch_mapping`, or -1 if too many mappings are watched.
int assay_watch_mapping(const void *start, size_t size, const char *line);
void assay_unwatch_mapping(int slot);

/// From now on, a trap prints `line` and exits with 70, and a failed allocation exits with 75. With
/// enable=yes in the environment variable SWIFT_BACKTRACE, Swift's own handlers stay.
void assay_report_faults(const char *line);

/// Whether processor and operating system support AVX2, FMA and F16C.
bool processor_has_avx2(void);
/// Whether they also support AVX-512 F, VL, BW and DQ.
bool processor_has_avx512(void);
/// Whether they also support AMX with bf16, and this process may use it (Linux).
bool processor_has_amx(void);
/// Whether the processor also supports AVX-512 VNNI, or AVX-VNNI beside AVX2.
bool processor_has_vnni(bool is_avx512);

/// Whether this thread has computed with subnormal numbers since the last call. False on processors
/// that do not report it; there, they are not slow either.
bool processor_met_subnormals(void);
/// Makes this thread, and those it starts from now on, treat subnormal numbers as zero.
void processor_flush_subnormals(void);

/// Tells the core that the thread is spinning, which saves power and ends the loop sooner.
static inline void processor_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

#endif
