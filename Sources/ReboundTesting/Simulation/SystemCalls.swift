#if os(Linux)
  import Foundation

  /// The system's clock and its random numbers, which are the simulation's on the threads of simulations.
  ///
  /// Each library of the process calls them by way of a table of addresses of its own, which the dynamic linker filled in.
  /// The addresses are overwritten there; on all other threads the functions here call the system's.
  enum SystemCalls {
    typealias ReadClock = @convention(c) (clockid_t, UnsafeMutablePointer<timespec>) -> Int32
    typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int

    // Addresses, which constants begin with, and no functions that are looked up when they are needed: Swift guards that by
    // calls of its own, which under ThreadSanitizer go to the kernel each time, and so would come back here for ever.
    // Unsafe, because they are written before the tables are changed, and never again.
    nonisolated(unsafe) fileprivate static var addressOfReadClock = 0
    nonisolated(unsafe) fileprivate static var addressOfCall = 0

    // What the dynamic linker has found under that name has this type; so below.
    /// The system's own, as declared in <time.h>; only for a function that stands in the tables.
    fileprivate static var readClock: ReadClock { unsafeBitCast(addressOfReadClock, to: ReadClock.self) }
    /// The system's own: variadic in <unistd.h>; seven words are all that it ever reads.
    fileprivate static var call: Call { unsafeBitCast(addressOfCall, to: Call.self) }

    /// Replaces both; false if the clock of the concurrency library could not be.
    static func replace() -> Bool {
      guard let readClock = dlsym(dlopen(nil, RTLD_NOW), "clock_gettime"),
        let call = dlsym(dlopen(nil, RTLD_NOW), "syscall")
      else { return false }
      (addressOfReadClock, addressOfCall) = (Int(bitPattern: readClock), Int(bitPattern: call))
      let clock: ReadClock = { simulatedClock($0, $1) }
      let random: Call = { simulatedCall($0, $1, $2, $3, $4, $5, $6) }
      let replaced = LoadedLibrary.all.reduce(0) { count, library in
        // Dispatch's timers are those of the real time.
        guard !library.name.contains("libdispatch"), !library.name.contains("libc.so") else { return count }
        library.replace("syscall", by: unsafeBitCast(random, to: UInt.self), if: library.name.contains("swiftCore"))
        return count + library.replace("clock_gettime", by: unsafeBitCast(clock, to: UInt.self))
      }
      return replaced > 0
    }

    /// The number of `getrandom` among the calls of the kernel.
    #if arch(x86_64)
      fileprivate static var getRandom: Int { 318 }
    #else
      fileprivate static var getRandom: Int { 278 }
    #endif
  }

  private func simulatedClock(_ clock: clockid_t, _ result: UnsafeMutablePointer<timespec>) -> Int32 {
    // Clocks that count a processor's time stay as they are.
    guard clock != CLOCK_PROCESS_CPUTIME_ID, clock != CLOCK_THREAD_CPUTIME_ID,
      let run = SimulationThread.current
    else { return SystemCalls.readClock(clock, result) }
    let epoch = clock == CLOCK_REALTIME ? SimulationRun.wallClockStart : SimulationRun.clockStart
    result.pointee = timespec(
      tv_sec: epoch + run.now / 1_000_000_000,
      tv_nsec: run.now % 1_000_000_000
    )
    return 0
  }

  private func simulatedCall(_ number: Int, _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int) -> Int {
    guard number == SystemCalls.getRandom, let run = SimulationThread.current,
      let bytes = UnsafeMutableRawPointer(bitPattern: a)
    else { return SystemCalls.call(number, a, b, c, d, e, f) }
    for index in 0..<b {
      bytes.storeBytes(of: UInt8(truncatingIfNeeded: run.random.next() >> 32), toByteOffset: index, as: UInt8.self)
    }
    return b
  }
#endif
