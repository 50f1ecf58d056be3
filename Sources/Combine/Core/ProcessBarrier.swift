import Dispatch
import Synchronization

#if arch(x86_64) && os(Linux)
  // The C library declares it with any number of arguments, which Swift does not call. With four integers it is called
  // like every other function of this platform.
  @_silgen_name("syscall")
  private func systemCall(_ number: Int, _ command: Int, _ flags: Int, _ processor: Int) -> Int
#endif

/// The dear side of a bargain between two threads, which makes the other side cheap.
///
/// Two threads that each write one thing and then read what the other writes miss each other if both read before their
/// writes have left the processor. A full fence in both prevents that, and costs as much as an atomic exchange. If one
/// of them writes and reads millions of times and the other hardly ever, the rare one can pay for both: it has every
/// thread of the process pass a full fence, wherever that thread is just then.
///
/// Only x86-64 needs it: elsewhere a sequentially consistent store costs no more than a releasing one, so both sides
/// just say so.
@usableFromInline
enum ProcessBarrier {
  #if arch(x86_64) && os(Linux)
    private static let membarrier = 324
    private static let privateExpedited = 1 << 3
    private static let registerPrivateExpedited = 1 << 4

    /// Whether this system can do it.
    ///
    /// Some sandboxes forbid it, and some kernels are built without.
    @usableFromInline static let isAvailable = systemCall(membarrier, registerPrivateExpedited, 0, 0) == 0

    /// Has every thread of the process pass a full fence before this returns.
    ///
    /// Takes two microseconds, or a hundred if it has to interrupt other processors.
    static func pass() {
      while systemCall(membarrier, privateExpedited, 0, 0) != 0 {
        // Registered once it is never refused, except after a sandbox was set up since. Then there is only patience: no
        // processor keeps a write to itself for anything like a millisecond.
        guard systemCall(membarrier, registerPrivateExpedited, 0, 0) == 0 else {
          _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
          return
        }
      }
    }
  #elseif arch(x86_64)
    @usableFromInline static var isAvailable: Bool { false }

    static func pass() {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
  #else
    @usableFromInline static var isAvailable: Bool { true }

    static func pass() {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
  #endif
}
