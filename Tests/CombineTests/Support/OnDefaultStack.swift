import Foundation

/// Runs a body on a thread with the stack that a main thread has by default, 8 MiB, and waits for it.
///
/// In debug builds the stack is four times that: nothing is inlined there, so each stage takes several times the frames.
func onDefaultStack(_ body: @escaping () -> Void) {
  let done = DispatchSemaphore(value: 0)
  let shared = SharedUnchecked(body)
  let thread = Thread {
    shared.value()
    done.signal()
  }
  #if DEBUG
    thread.stackSize = 32 << 20
  #else
    thread.stackSize = 8 << 20
  #endif
  thread.start()
  done.wait()
}
