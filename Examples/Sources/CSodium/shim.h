#ifndef REBOUND_EXAMPLES_CSODIUM_SHIM_H
#define REBOUND_EXAMPLES_CSODIUM_SHIM_H

#include <sodium.h>

#endif
