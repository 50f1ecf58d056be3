# To be sourced: flags of debug builds that are made from nothing, as in CI. A module is compiled as a whole: files in batches
# expand the macros of all tests in each batch, and once more for the module's interface. Debuggers are told nothing: the
# compiler would write each expansion of a macro into a file of its own for them, which takes an eighth of its time for tests.
#
# Not for release builds, which are made so anyway, and optimised less with more threads than one.
whole_modules=(-debug-info-format none -Xswiftc -disable-batch-mode -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2
  -Xswiftc -no-emit-module-separately-wmo)
