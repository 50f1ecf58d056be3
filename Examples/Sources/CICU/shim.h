// Empty: Foundation has an ICU of its own, and Swift takes the types of the two for one. CSkeleton, which is written in C,
// includes ICU's headers; from here come the flags to compile and link it with.
