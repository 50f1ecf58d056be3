import Foundation

/// Runs a body on a thread with the stack that a main thread has by default, 8 MiB, and waits for it.
///
/// In debug builds the stack is twice that: nothing is inlined there, so each stage takes several frames, and each of
/// those has room for values whose size is not known before it runs. The sanitizers put more around every variable.
func onDefaultStack(_ body: @escaping () -> Void) {
  let done = DispatchSemaphore(value: 0)
  let shared = SharedUnchecked(body)
  let thread = Thread {
    shared.value()
    done.signal()
  }
  #if DEBUG
    thread.stackSize = isSanitized ? 64 << 20 : 16 << 20
  #else
    thread.stackSize = 8 << 20
  #endif
  thread.start()
  done.wait()
}

/// Whether a sanitizer was built in, as far as `scripts/stress` does it.
var isSanitized: Bool {
  #if TSAN || ASAN
    true
  #else
    false
  #endif
}
