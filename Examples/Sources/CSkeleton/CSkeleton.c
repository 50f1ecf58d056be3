#include "CSkeleton.h"

#include <unicode/uspoof.h>

const void *skeleton_open_tables(void) {
  UErrorCode status = U_ZERO_ERROR;
  const USpoofChecker *checker = uspoof_open(&status);
  return U_SUCCESS(status) ? checker : 0;
}

int32_t skeleton_of(const void *tables, const char *text, int32_t length, char *buffer, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  // The second argument has no meaning any more.
  int32_t count = uspoof_getSkeletonUTF8(tables, 0, text, length, buffer, capacity, &status);
  return U_SUCCESS(status) || status == U_BUFFER_OVERFLOW_ERROR ? count : -1;
}
