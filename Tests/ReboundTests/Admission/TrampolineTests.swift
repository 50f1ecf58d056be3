import Dispatch
import Expectations
import Rebound
import Testing

@Suite("Trampoline")
struct TrampolineTests {
  @Test("does work that work causes after it, in order, a hundred thousand times on the same stack")
  func order() {
    var done: [Int] = []
    func piece(_ number: Int) {
      if number < 100_000 { Trampoline.run([{ piece(number + 1) }]) }
      done.append(number)
    }
    Trampoline.run([{ piece(0) }])
    expectEqual(done, Array(0...100_000))
  }

  @Test("lets go of what is done and of what is not begun")
  func releases() {
    final class Held {}
    weak var held: Held?
    do {
      let new = Held()
      held = new
      Trampoline.run([{ withExtendedLifetime(new) {} }])
    }
    #expect(held == nil)
    Trampoline.run([])
  }

  @Test("does not let a task that was started from inside wait for what the loop is at")
  func besideTheLoop() async {
    let order = Log<String>()
    let (ended, end) = AsyncStream<Void>.makeStream()
    DispatchQueue.global().async {
      Trampoline.run([
        {
          let hasReturned = DispatchSemaphore(value: 0)
          Task {
            Trampoline.run([{ order.write("work of the task") }])
            hasReturned.signal()
          }
          hasReturned.wait()
          order.write("rest of the loop")
        }
      ])
      end.yield()
    }
    for await _ in ended { break }
    expectEqual(order.entries, ["work of the task", "rest of the loop"])
  }

  @Test("does work of a task that was started from inside, though it comes after the loop has ended")
  func lateTask() async {
    let gate = AsyncStream<Void>.makeStream()
    let tasks = EventLog<Task<Bool, Never>>()
    Trampoline.run([
      {
        tasks.write(
          Task {
            for await _ in gate.stream { break }
            let done = EventLog<Int>()
            Trampoline.run([{ done.write(1) }])
            return done.count == 1
          }
        )
      }
    ])
    gate.continuation.yield()
    for task in tasks.events { #expect(await task.value) }
    expectEqual(tasks.count, 1)
  }
}
