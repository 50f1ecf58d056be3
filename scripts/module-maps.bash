# To be sourced, in the root of the package: the flags by which the compiler finds the libraries in C that modules stand on.
maps=()
for map in Sources/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$PWD/$map"); done
