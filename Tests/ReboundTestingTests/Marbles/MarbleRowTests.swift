import Expectations
import ReboundTesting
import Testing

@Suite("Rows of marbles")
struct MarbleRowTests {
  private func problem(_ row: String) -> MarbleSyntaxError? {
    #expect(throws: MarbleSyntaxError.self) { try MarblePublisher(hot: row, on: TestScheduler()) }
  }

  @Test("are refused where they make no sense, with a mark under the place")
  func refuses() {
    expectEqual(problem("a-(bc")?.problem, "a group that does not end. Add ')'.")
    expectEqual(problem("a-(b(c))")?.problem, "a group inside a group. End the first one with ')'.")
    expectEqual(problem("a)")?.problem, "the end of a group that has no '('.")
    expectEqual(problem("a()")?.problem, "an empty group. Put '-' in its place.")
    expectEqual(problem("(a-b)")?.problem, "'-' in a group, which is all one frame. Leave it out.")
    expectEqual(
      problem("a-(bc")?.description,
      """
      Marble diagram: a group that does not end. Add ')'.
        a-(bc
          ^
      """
    )
    #expect(throws: MarbleSyntaxError.self) { try MarblePublisher(cold: "^a", on: TestScheduler()) }
  }

  @Test("are refused with the mark under the very character, where the same one stands in front of it, too")
  func refusesAtThePlace() {
    expectEqual(
      problem("a-|  -a")?.description,
      """
      Marble diagram: something behind the end of an input.
        a-|  -a
              ^
      """
    )
    expectEqual(problem("(a||)")?.column, 3)
  }

  @Test("may have spaces, which stand for nothing", arguments: [" a - (bc)   | ", "\ta\t-\n(b\u{A0}c)|"])
  func spaces(row: String) throws {
    let scheduler = TestScheduler()
    let recorder = Recorder<String, MarbleFailure>(on: scheduler)
    try MarblePublisher(cold: row, on: scheduler).subscribe(recorder)
    scheduler.advance(by: .ticks(3))
    expectEqual(recorder.marbles, "a-(bc)|")
  }

  @Test("are shown with spaces for tabs, so that the mark is under the place")
  func tabs() {
    expectEqual(
      problem("a\t)")?.description,
      """
      Marble diagram: the end of a group that has no '('.
        a )
          ^
      """
    )
  }
}
