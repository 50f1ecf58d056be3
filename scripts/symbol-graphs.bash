# To be sourced, in the root of the package, by what has built a module in .build before.
#
#   symbol_graphs MODULE FOLDER   makes the graphs of its public API, from which docc and scripts/check-api read
source scripts/module-maps.bash
triple=$(swiftc -print-target-info | sed -n 's/^ *"triple": "\(.*\)",$/\1/p' | head -n 1)

symbol_graphs() {
  mkdir -p "$2"
  # Not by way of `swift package dump-symbol-graph`, which wants the tests' modules as well, and fails without them.
  swift symbolgraph-extract -module-name "$1" -target "$triple" -I .build/debug/Modules "${maps[@]}" \
    -minimum-access-level public -skip-synthesized-members -skip-inherited-docs -emit-extension-block-symbols \
    -output-dir "$2"
}
