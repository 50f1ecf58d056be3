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
}
