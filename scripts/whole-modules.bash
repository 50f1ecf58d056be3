# To be sourced: flags of debug builds that are made from nothing, as in CI. A module is compiled as a whole: files in batches
# expand the macros of all tests in each batch, and once more for the module's interface. Debuggers are told nothing: the
# compiler would write each expansion of a macro into a file of its own for them, which takes an eighth of its time for tests, and
# the optimiser would carry what they are told through all that it does, which takes a seventh of its own.
#
# Release builds, which are made as wholes anyway, take without_debug_info alone: with more threads than one they are optimised less.
without_debug_info=(-debug-info-format none)
whole_modules=("${without_debug_info[@]}" -Xswiftc -disable-batch-mode -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2
  -Xswiftc -no-emit-module-separately-wmo)
