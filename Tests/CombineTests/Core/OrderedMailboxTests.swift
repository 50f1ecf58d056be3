import Dispatch
import Expectations
import Testing

@testable import Combine

@Suite("An ordered mailbox")
struct OrderedMailboxTests {
  @Test("each delivery takes the oldest event")
  func order() {
    let mailbox = OrderedMailbox<Int>()
    var log: [Int] = []
    mailbox.post(1)
    mailbox.post(2)
    mailbox.deliverOldest { log.append($0) }
    mailbox.post(3)
    for _ in 0..<3 { mailbox.deliverOldest { log.append($0) } }
    expectEqual(log, [1, 2, 3])
  }

  @Test("an event posted from inside a delivery can be delivered there")
  func reenters() {
    let mailbox = OrderedMailbox<Int>()
    var log: [Int] = []
    mailbox.post(1)
    mailbox.deliverOldest { outer in
      mailbox.post(2)
      mailbox.deliverOldest { log.append($0) }
      log.append(outer)
    }
    expectEqual(log, [2, 1])
  }

  @Test("nothing comes after the last event, or after the mailbox was closed")
  func ends() {
    let mailbox = OrderedMailbox<Int>()
    var log: [Int] = []
    mailbox.post(1)
    mailbox.postLast(2)
    mailbox.post(3)
    for _ in 0..<3 { mailbox.deliverOldest { log.append($0) } }
    expectEqual(log, [1, 2])

    let closed = OrderedMailbox<Int>()
    closed.post(1)
    closed.close()
    closed.post(2)
    closed.deliverOldest { log.append($0) }
    expectEqual(log, [1, 2])
  }

  @Test("closed from inside a delivery, it drops what is behind, and lets go of it")
  func closesInside() {
    let mailbox = OrderedMailbox<Signal>()
    weak var observed: Signal?
    var count = 0
    do {
      let last = Signal()
      observed = last
      mailbox.post(Signal())
      mailbox.post(last)
    }
    mailbox.deliverOldest { _ in
      count += 1
      mailbox.close()
    }
    #expect(observed == nil)
    mailbox.deliverOldest { _ in count += 1 }
    expectEqual(count, 1)
  }

  @Test("closed by another thread during a delivery, it drops what is behind with the next job")
  func closesOutside() {
    let mailbox = OrderedMailbox<Signal>()
    let handle = Unchecked(mailbox)
    weak var observed: Signal?
    do {
      let last = Signal()
      observed = last
      mailbox.post(Signal())
      mailbox.post(last)
    }
    let closed = Signal()
    mailbox.deliverOldest { _ in
      DispatchQueue.global().async {
        handle.mailbox.close()
        closed.send()
      }
      #expect(closed.wait())
    }
    #expect(observed != nil)
    mailbox.deliverOldest { _ in Issue.record("delivered after it was closed") }
    #expect(observed == nil)
  }

  /// A mailbox on its way to another thread.
  ///
  /// Unchecked, because closing from any thread is what is tested.
  private struct Unchecked: @unchecked Sendable {
    let mailbox: OrderedMailbox<Signal>

    init(_ mailbox: OrderedMailbox<Signal>) {
      self.mailbox = mailbox
    }
  }
}
