# To be sourced, before tests of Swift Testing run: how many run at a time. Without it thousands begin at once and share a thread
# for each core, so that each comes back minutes later to what it has awaited. Meanwhile a server's connection has idled too
# long, and Swift Testing's own thread spins over ended children for which nobody has asked yet.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-12}
