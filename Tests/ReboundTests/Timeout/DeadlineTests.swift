import Rebound
import ReboundTesting
import Testing

@Suite("Deadline", .virtualTime)
struct DeadlineTests {
  private let scheduler = TestScheduler.current

  private func deadline(in limit: Duration) -> Deadline {
    Deadline(in: limit, on: scheduler.time)
  }

  @Test("counts down to zero, and no further")
  func countsDown() {
    let deadline = deadline(in: .seconds(3))
    #expect(deadline.remaining == .seconds(3))
    scheduler.advance(by: 2)
    #expect(deadline.remaining == .seconds(1))
    #expect(deadline.description == "1.0 seconds left")
    #expect(!deadline.isOver)
    scheduler.advance(by: 1)
    #expect(deadline.isOver)
    scheduler.advance(by: 1)
    #expect(deadline.remaining == .zero)
  }

  @Test("limits a part to what is left")
  func limiting() {
    let deadline = deadline(in: .seconds(12))
    #expect(deadline.limiting(.seconds(10)) == .seconds(10))
    scheduler.advance(by: 5)
    #expect(deadline.limiting(.seconds(10)) == .seconds(7))
    #expect(deadline.limiting(nil) == .seconds(7))
  }

  @Test("knows which of two is nearer")
  func nearer() {
    let (short, long) = (deadline(in: .seconds(1)), deadline(in: .seconds(2)))
    #expect(short.nearer(long).remaining == .seconds(1))
    #expect(long.nearer(short).remaining == .seconds(1))
    #expect(long.nearer(nil).remaining == .seconds(2))
  }

  @Test("counts a negative time as none")
  func negative() {
    #expect(Deadline(in: .seconds(-1), on: JumpingClock().time).isOver)
  }
}
