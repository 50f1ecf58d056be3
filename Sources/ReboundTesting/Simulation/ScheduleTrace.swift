/// What a run did: who ran when, and where it left the order of arrival.
struct ScheduleTrace {
  private static let limit = 100_000

  private(set) var schedule = Schedule(switches: [])
  /// The first of the steps.
  private(set) var steps: [ScheduleDiagram.Step] = []
  /// The names of the lanes.
  private(set) var names: [String] = []
  private var actors: Set<Int> = []
  private(set) var runningLane = 0
  private var choices = 0
  private var tasks = 0
  private var lanesOfTasks: [UInt64: Int] = [:]
  /// The one that was asked for last, since the next is most often the same.
  private var lastTask = (id: UInt64(0), lane: 0)
  private var lanesOfActors: [UnsafeRawPointer: Int] = [:]
  private var laneOfTimers: Int?

  mutating func lane(ofTask id: UInt64) -> Int? {
    if lastTask.id == id { return lastTask.lane }
    guard let lane = lanesOfTasks[id] else { return nil }
    lastTask = (id, lane)
    return lane
  }

  mutating func addTask(_ id: UInt64) -> Int {
    tasks += 1
    let lane = addLane("task \(tasks)")
    lanesOfTasks[id] = lane
    lastTask = (id, lane)
    return lane
  }

  func lane(ofActor address: UnsafeRawPointer) -> Int? { lanesOfActors[address] }

  mutating func addActor(_ address: UnsafeRawPointer) -> Int {
    let lane = addLane("actor \(lanesOfActors.count + 1)")
    lanesOfActors[address] = lane
    actors.insert(lane)
    return lane
  }

  func isActor(_ lane: Int) -> Bool { actors.contains(lane) }

  var timerLane: Int {
    mutating get {
      if let laneOfTimers { return laneOfTimers }
      let lane = addLane("timers")
      laneOfTimers = lane
      return lane
    }
  }

  mutating func add(lane: Int, choice: Int, isChoice: Bool, time: Int) {
    runningLane = lane
    if steps.count < Self.limit { steps.append(ScheduleDiagram.Step(lane: lane, time: time, notes: [])) }
    guard isChoice else { return }
    if choice > 0, schedule.switches.count < Self.limit {
      schedule.switches.append(Schedule.Switch(decision: choices, choice: choice))
    }
    choices += 1
  }

  mutating func note(_ text: String) {
    guard let last = steps.indices.last, steps.count < Self.limit else { return }
    steps[last].notes.append(text)
  }

  private mutating func addLane(_ name: String) -> Int {
    // A program that makes tasks for ever does not need a name for each.
    names.append(names.count < Self.limit ? name : "")
    return names.count - 1
  }

  /// How many decisions there were.
  var decisions: Int { choices }

  var diagram: ScheduleDiagram { ScheduleDiagram(names: names, steps: steps) }
}
