import Combine

/// A subject that is used from any thread.
///
/// Unchecked, because subjects take values and subscribers from any thread; their type just does not say so.
package struct SharedSubject<Stream: Subject>: @unchecked Sendable {
  package let subject: Stream

  package init(_ subject: Stream) {
    self.subject = subject
  }
}
