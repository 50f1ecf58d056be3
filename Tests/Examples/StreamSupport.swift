import StreamSupport

// What the examples in the doc comments of StreamSupport take for granted. No target: scripts/check-examples compiles it.

struct Event {}

struct Waiting: Drained {
  var loop = DrainLoop()
  var waiting = Queue<Event>()
  mutating func takeNext() -> Event? { waiting.popFirst() }
}

let state = Locked(Waiting())
let event = Event()

func tell(_: Event) {}
