/* A library to preload under ThreadSanitizer, which does not see how Swift's `Mutex` orders threads
   that wait: then it locks and unlocks in libswiftSynchronization, which is not instrumented.

     clang -shared -fPIC -O1 -o mutexes.so mutexes.c -ldl
     LD_PRELOAD=$PWD/mutexes.so … */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define METHOD __attribute__((swiftcall))
#define MUTEX __attribute__((swift_context)) void *mutex
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

METHOD void lock(uint32_t thread, MUTEX) __asm__(LOCK);
METHOD bool try_lock(MUTEX) __asm__(TRY_LOCK);
METHOD void unlock(MUTEX) __asm__(UNLOCK);

/* `__tsan_acquire` or `__tsan_release` of the program. */
static void order(const char *name, void *mutex) {
  void (*function)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, name);
  if (function) function(mutex);
}

METHOD void lock(uint32_t thread, MUTEX) {
  METHOD void (*real)(uint32_t, MUTEX) =
      (METHOD void (*)(uint32_t, MUTEX))dlsym(RTLD_NEXT, LOCK);
  real(thread, mutex);
  order("__tsan_acquire", mutex);
}

METHOD bool try_lock(MUTEX) {
  METHOD bool (*real)(MUTEX) = (METHOD bool (*)(MUTEX))dlsym(RTLD_NEXT, TRY_LOCK);
  bool is_locked = real(mutex);
  if (is_locked) order("__tsan_acquire", mutex);
  return is_locked;
}

METHOD void unlock(MUTEX) {
  METHOD void (*real)(MUTEX) = (METHOD void (*)(MUTEX))dlsym(RTLD_NEXT, UNLOCK);
  order("__tsan_release", mutex);
  real(mutex);
}
