import Combine

/// A subject that is used from any thread.
package struct SharedSubject<Stream: Subject>: Sendable {
  // Subjects take values and subscribers from any thread; their type just does not say so.
  package nonisolated(unsafe) let subject: Stream

  package init(_ subject: Stream) {
    self.subject = subject
  }
}
