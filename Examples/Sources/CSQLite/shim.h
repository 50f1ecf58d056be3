#ifndef REBOUND_EXAMPLES_CSQLITE_SHIM_H
#define REBOUND_EXAMPLES_CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_TRANSIENT is a macro with a cast to a function pointer, which Swift doesn't import.

/// Binds text by copying it.
static inline int shim_bind_text(sqlite3_stmt *statement, int index, const char *text, int byte_count) {
  return sqlite3_bind_text(statement, index, text, byte_count, SQLITE_TRANSIENT);
}

#endif
