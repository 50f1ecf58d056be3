#include "AllocationCounter.h"

#ifdef __linux__

#include <dlfcn.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// The functions below stand before those of the C library for the whole process; each calls the next one of its name.
// Not counting costs two loads, two branches and a jump, so the times of the same run stay true.

static atomic_bool is_counting;
static atomic_long calls;
static atomic_long bytes;

// Goes on to the next function as if this one were not there, unless something is to be counted or `next` is not known.
#define PASS_ON_UNLESS_COUNTING(next, arguments)                                \
  if (atomic_load_explicit(&next, memory_order_relaxed) &&                      \
      !atomic_load_explicit(&is_counting, memory_order_relaxed))                \
    return atomic_load_explicit(&next, memory_order_relaxed) arguments;

#define FIND(next, name)                                                        \
  if (!atomic_load_explicit(&next, memory_order_relaxed))                       \
    atomic_store_explicit(&next, dlsym(RTLD_NEXT, name), memory_order_relaxed);

static void *made(void *block) {
  if (block && atomic_load_explicit(&is_counting, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
  }
  return block;
}

static void freed(void *block) {
  if (block && atomic_load_explicit(&is_counting, memory_order_relaxed)) {
    atomic_fetch_sub_explicit(&bytes, (long)malloc_usable_size(block), memory_order_relaxed);
  }
}

typedef void *(*one_size)(size_t);
typedef void *(*two_sizes)(size_t, size_t);
typedef void *(*block_and_size)(void *, size_t);
typedef int (*aligned_into)(void **, size_t, size_t);
typedef void (*block_only)(void *);

static _Atomic(one_size) next_malloc;
static _Atomic(two_sizes) next_calloc;
static _Atomic(block_and_size) next_realloc;
static _Atomic(two_sizes) next_aligned_alloc;
static _Atomic(aligned_into) next_posix_memalign;
static _Atomic(block_only) next_free;

void *malloc(size_t size) {
  PASS_ON_UNLESS_COUNTING(next_malloc, (size))
  FIND(next_malloc, "malloc")
  return made(next_malloc(size));
}

void *calloc(size_t count, size_t size) {
  PASS_ON_UNLESS_COUNTING(next_calloc, (count, size))
  FIND(next_calloc, "calloc")
  return made(next_calloc(count, size));
}

void *realloc(void *block, size_t size) {
  PASS_ON_UNLESS_COUNTING(next_realloc, (block, size))
  FIND(next_realloc, "realloc")
  freed(block);
  return made(next_realloc(block, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  PASS_ON_UNLESS_COUNTING(next_aligned_alloc, (alignment, size))
  FIND(next_aligned_alloc, "aligned_alloc")
  return made(next_aligned_alloc(alignment, size));
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  PASS_ON_UNLESS_COUNTING(next_posix_memalign, (block, alignment, size))
  FIND(next_posix_memalign, "posix_memalign")
  int error = next_posix_memalign(block, alignment, size);
  if (!error) made(*block);
  return error;
}

void free(void *block) {
  PASS_ON_UNLESS_COUNTING(next_free, (block))
  FIND(next_free, "free")
  freed(block);
  next_free(block);
}

bool allocation_counter_works(void) { return true; }

void allocation_counter_start(void) {
  atomic_store(&calls, 0);
  atomic_store(&bytes, 0);
  atomic_store(&is_counting, true);
}

AllocationCount allocation_counter_stop(void) {
  atomic_store(&is_counting, false);
  return (AllocationCount){atomic_load(&calls), atomic_load(&bytes)};
}

#else

bool allocation_counter_works(void) { return false; }
void allocation_counter_start(void) {}
AllocationCount allocation_counter_stop(void) { return (AllocationCount){0, 0}; }

#endif
