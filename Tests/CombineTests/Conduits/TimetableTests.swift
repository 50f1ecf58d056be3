import Dispatch
import Testing

@testable import Combine

@Suite("Timetable")
struct TimetableTests {
  @Test("each delivery takes the oldest event")
  func order() {
    let timetable = Timetable<Int>()
    var log: [Int] = []
    timetable.post(1)
    timetable.post(2)
    timetable.deliverOldest { log.append($0) }
    timetable.post(3)
    for _ in 0..<3 { timetable.deliverOldest { log.append($0) } }
    #expect(log == [1, 2, 3])
  }

  @Test("an event posted from inside a delivery can be delivered there")
  func reenters() {
    let timetable = Timetable<Int>()
    var log: [Int] = []
    timetable.post(1)
    timetable.deliverOldest { outer in
      timetable.post(2)
      timetable.deliverOldest { log.append($0) }
      log.append(outer)
    }
    #expect(log == [2, 1])
  }

  @Test("nothing comes after the last event, or after the timetable was closed")
  func ends() {
    let timetable = Timetable<Int>()
    var log: [Int] = []
    timetable.post(1)
    timetable.postLast(2)
    timetable.post(3)
    for _ in 0..<3 { timetable.deliverOldest { log.append($0) } }
    #expect(log == [1, 2])

    let closed = Timetable<Int>()
    closed.post(1)
    closed.close()
    closed.post(2)
    closed.deliverOldest { log.append($0) }
    #expect(log == [1, 2])
  }

  @Test("closed from inside a delivery, it drops what is behind, and lets go of it")
  func closesInside() {
    let timetable = Timetable<Signal>()
    weak var observed: Signal?
    var count = 0
    do {
      let last = Signal()
      observed = last
      timetable.post(Signal())
      timetable.post(last)
    }
    timetable.deliverOldest { _ in
      count += 1
      timetable.close()
    }
    #expect(observed == nil)
    timetable.deliverOldest { _ in count += 1 }
    #expect(count == 1)
  }

  @Test("closed by another thread during a delivery, it drops what is behind with the next job")
  func closesOutside() {
    let timetable = Timetable<Signal>()
    let handle = Unchecked(timetable)
    weak var observed: Signal?
    do {
      let last = Signal()
      observed = last
      timetable.post(Signal())
      timetable.post(last)
    }
    let closed = Signal()
    timetable.deliverOldest { _ in
      DispatchQueue.global().async {
        handle.timetable.close()
        closed.send()
      }
      #expect(closed.wait())
    }
    #expect(observed != nil)
    timetable.deliverOldest { _ in Issue.record("delivered after it was closed") }
    #expect(observed == nil)
  }

  /// A timetable on its way to another thread.
  ///
  /// Unchecked, because closing from any thread is what is tested.
  private struct Unchecked: @unchecked Sendable {
    let timetable: Timetable<Signal>

    init(_ timetable: Timetable<Signal>) {
      self.timetable = timetable
    }
  }
}
