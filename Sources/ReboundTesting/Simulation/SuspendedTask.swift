#if os(Linux)
  import Foundation

  /// A task that waits, as the run-time library keeps it.
  ///
  /// Source: the layout of `Job`, `AsyncTask`, `FutureFragment` and `AsyncContext` in the run-time library's <ABI/Task.h>. All is
  /// read by way of the kernel, so that another layout gives no names, and no crash.
  struct SuspendedTask {
    let address: UnsafeRawPointer

    private static let resumeFunction = 56
    private static let context = 64
    /// Behind the task itself comes what belongs to its result: first, who waits for it.
    private static let size = RuntimeSymbols.sizeOfTask
    private static let frameLimit = 32

    /// Who waits for the result of this task.
    var waiters: [UnsafeRawPointer] {
      guard let size = Self.size else { return [] }
      // The two lowest bits say how the task stands.
      var next = RuntimeSymbols.word(at: UInt(bitPattern: address) + size).map { $0 & ~3 }
      var waiters: [UnsafeRawPointer] = []
      while let waiter = next.flatMap({ UnsafeRawPointer(bitPattern: $0) }), waiters.count < Self.frameLimit {
        waiters.append(waiter)
        // The first word of a job that the scheduler may use.
        next = RuntimeSymbols.word(at: UInt(bitPattern: waiter) + 16)
      }
      return waiters
    }

    /// The functions of the program that wait, the innermost first.
    var functions: [String] {
      let task = UInt(bitPattern: address)
      guard let resume = RuntimeSymbols.word(at: task + UInt(Self.resumeFunction)) else { return [] }
      var addresses = [resume]
      var context = RuntimeSymbols.word(at: task + UInt(Self.context)) ?? 0
      while context != 0, addresses.count < Self.frameLimit, let caller = RuntimeSymbols.word(at: context + 8) {
        addresses.append(caller)
        context = RuntimeSymbols.word(at: context) ?? 0
      }
      // What made the task of the body is not the program's.
      return Array(addresses.compactMap(ProgramSymbols.function).prefix { !$0.contains("SimulatedProgram.conduct") })
    }
  }
#endif
