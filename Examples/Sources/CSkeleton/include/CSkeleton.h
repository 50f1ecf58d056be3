#ifndef REBOUND_EXAMPLES_CSKELETON_H
#define REBOUND_EXAMPLES_CSKELETON_H

#include <stdint.h>

/// Opens ICU's tables of confusables; NULL if it has none. Any number of threads may use what comes back at once.
const void *skeleton_open_tables(void);

/// Writes the skeleton of a text in UTF-8 (UTS 39, section 4) into a buffer, as far as there is room.
///
/// Returns how many bytes it has, with or without room for them; -1 if ICU cannot make it.
int32_t skeleton_of(const void *tables, const char *text, int32_t length, char *buffer, int32_t capacity);

#endif
