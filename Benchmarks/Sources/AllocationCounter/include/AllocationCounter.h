#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <stdbool.h>

/// What was allocated between two readings, by all threads.
typedef struct {
  /// Calls that made a block; one that moves a block counts as one.
  long calls;
  /// Usable bytes made minus usable bytes freed.
  long bytes;
} AllocationCount;

/// Whether this platform lets the process count; elsewhere all counts are 0.
bool allocation_counter_works(void);

/// Starts at zero.
void allocation_counter_start(void);

/// Stops counting, and gives what was counted.
AllocationCount allocation_counter_stop(void);

#endif
