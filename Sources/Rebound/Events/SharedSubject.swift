import Combine

/// A subject that is used from any thread.
///
/// Unchecked, because subjects take values and subscribers from any thread; their type just does not say so.
struct SharedSubject<Stream: Subject>: @unchecked Sendable {
  let subject: Stream

  init(_ subject: Stream) {
    self.subject = subject
  }
}
