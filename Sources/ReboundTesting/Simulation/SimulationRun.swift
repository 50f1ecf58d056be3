import Combine
import Rebound
import StreamSupport

/// One run of a program: its jobs, its timers, its time and its chance.
///
/// Unchecked, because only the thread of the run touches what is not behind a lock.
final class SimulationRun: @unchecked Sendable {
  /// Seconds of the clocks when a run begins: later than any real clock that is no wall clock, so that lengths of time
  /// between a real moment and a simulated one are not negative.
  static let clockStart = 1_000_000_000
  /// Seconds since the beginning of 1970 when a run begins.
  static let wallClockStart = 1_800_000_000

  /// After so many steps of one lane in a row it is the turn of the others, or who polls would starve them.
  private static let fairness = 200

  /// What can run now.
  fileprivate struct ReadyWork {
    enum Work {
      case job(UnownedJob, onMain: Bool)
      case timer(SimulatedTimer)
    }

    let work: Work
    let lane: Int
  }

  private struct Outside {
    var knownTasks: Set<UInt64> = []
    var jobs: [UnownedJob] = []
    var timers: [(delay: Duration, timer: SimulatedTimer)] = []
    var isOpen = true
  }

  // Unchecked, because one thread alone comes here, and no function below calls out while it changes one of them: a check of
  // each access would take a seventh of the time.

  /// Nanoseconds since the beginning.
  @exclusivity(unchecked) private(set) var now = 0
  var random: SeededRandom
  @exclusivity(unchecked) private(set) var steps = 0
  @exclusivity(unchecked) private(set) var trace = ScheduleTrace()
  /// Where work from outside went on, each place once.
  private(set) var outsidePlaces: [String] = []
  private(set) lazy var main = SimulatedMainExecutor(self)
  // References that count nothing, since each step needs one: the run keeps its main executor for as long as it lives.
  private let globalReference = SimulatedGlobalExecutor.current
  private lazy var mainReference = main.asUnownedSerialExecutor()

  #if os(Linux)
    /// What does the work of the system's queues; `nil` once the run is over.
    private(set) lazy var queues: SimulatedQueues? = SimulatedQueues(time: time) { [unowned self] in
      UInt64(Self.clockStart * 1_000_000_000 + now)
    }
  #endif
  @exclusivity(unchecked) private var strategy: any SchedulingStrategy
  @exclusivity(unchecked) fileprivate var ready: [ReadyWork] = []
  @exclusivity(unchecked) private var lanes: [Int] = []
  @exclusivity(unchecked) fileprivate var timers = DeadlineHeap<Int, ReadyWork>()
  @exclusivity(unchecked) private var tasks = TaskTable()
  /// Those whose memory is kept.
  @exclusivity(unchecked) private var actors: [UnsafeRawPointer] = []
  @exclusivity(unchecked) private var returnsOfYields: [UnownedJob] = []
  @exclusivity(unchecked) private var stepsAtThisTime = 0
  /// Where that begins which the last step made ready.
  @exclusivity(unchecked) private var firstOfStep = 0
  @exclusivity(unchecked) private var stepsInARow = 0
  /// The task whose job runs.
  @exclusivity(unchecked) private var runningTask: UnsafeRawPointer?
  private let outside = Locked(Outside())
  /// Zero until something has come from outside, so that each jump need not lock.
  private let hasOutside = AtomicWord()

  init(seed: UInt64, strategy: any SchedulingStrategy) {
    random = SeededRandom(seed: seed)
    self.strategy = strategy
  }

  // MARK: What comes in

  func enqueue(_ job: UnownedJob, onMain: Bool = false) {
    // A yield comes back by a job of its own, which only makes its task ready. When it does so makes no difference to anybody,
    // since the task can be kept waiting just as well: so it is no choice, and there are fewer schedules to try.
    if case .continuation = job.kind { return returnsOfYields.append(job) }
    add(ReadyWork(work: .job(job, onMain: onMain), lane: lane(of: job)))
  }

  func enqueue(_ job: UnownedJob, after delay: Duration) {
    // What sleeps is a task of its own, which nobody knows but the task that sleeps. Its end is a choice: a cancel may come first.
    let sleeper = ReadyWork(work: .job(job, onMain: false), lane: trace.runningLane)
    guard delay > .zero else { return add(sleeper) }
    timers.insert(sleeper, at: now.addingClamped(delay.roundedUpToNanoseconds.wholeNanoseconds))
  }

  func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Cancellable {
    let timer = SimulatedTimer(action)
    if SimulationThread.current === self {
      set(timer, after: delay)
    } else {
      outside.withLock { $0.timers.append((delay, timer)) }
      hasOutside.set(1)
    }
    return timer
  }

  /// Takes a job that another thread made ready, if its task is one of this run.
  func takeFromOutside(_ job: UnownedJob, of id: UInt64) -> Bool {
    outside.withLock { outside in
      guard outside.isOpen, outside.knownTasks.contains(id) else { return false }
      outside.jobs.append(job)
      hasOutside.set(1)
      return true
    }
  }

  func note(_ text: String) { trace.note(text) }

  private func set(_ timer: SimulatedTimer, after delay: Duration) {
    let work = ReadyWork(work: .timer(timer), lane: trace.timerLane)
    // What is due at once takes its place among all that can run, and does not wait until nobody can.
    guard delay > .zero else { return add(work) }
    timers.insert(work, at: now.addingClamped(delay.roundedUpToNanoseconds.wholeNanoseconds))
  }

  fileprivate func add(_ work: ReadyWork) {
    ready.append(work)
    lanes.append(work.lane)
  }

  private func lane(of job: UnownedJob) -> Int {
    switch job.kind {
    case .task(let address):
      if address == runningTask { return trace.runningLane }
      let id = RuntimeSymbols.id(of: address)
      if let lane = trace.lane(ofTask: id) { return lane }
      outside.withLock { _ = $0.knownTasks.insert(id) }
      let lane = trace.addTask(id)
      if !job.isChildTask { tasks.insert(address, lane: lane) }
      return lane
    case .actor(let address):
      if let lane = trace.lane(ofActor: address) { return lane }
      // Or the next actor might take its address when it is gone, and its lane with it, as the system's memory has it.
      RuntimeSymbols.keepMemory(of: address)
      actors.append(address)
      return trace.addActor(address)
    // A yield or a sleep, say: of the task that runs now.
    case .continuation, .other: return trace.runningLane
    }
  }

  // MARK: What is done

  /// Runs what can be run, and lets time jump when nothing can.
  ///
  /// - Parameters:
  ///   - deadline: How far time may go, asked before each jump.
  ///   - patience: How many steps there may be without a jump.
  /// - Returns: False if patience was over.
  func drive(patience: Int, until deadline: () -> Int) -> Bool {
    stepsAtThisTime = 0
    while true {
      if ready.isEmpty {
        takeFromOutside()
        if ready.isEmpty {
          guard jump(until: deadline()) else { return true }
          continue
        }
      }
      guard stepsAtThisTime < patience else { return false }
      step()
    }
  }

  private func step() {
    let preferred = nextWithoutSwitch
    let choice = ready.count == 1 ? 0 : strategy.choose(among: lanes(first: preferred), runningLane: trace.runningLane)
    let place = choice == 0 ? preferred : choice <= preferred ? choice - 1 : choice
    let next = ready.remove(at: place)
    lanes.remove(at: place)
    stepsInARow = next.lane == trace.runningLane ? stepsInARow + 1 : 0
    firstOfStep = ready.count
    trace.add(lane: next.lane, choice: choice, isChoice: !ready.isEmpty, time: now)
    steps += 1
    stepsAtThisTime += 1
    switch next.work {
    case .timer(let timer): timer.fire()
    case .job(let job, let onMain):
      let task = job.isChildTask ? nil : job.task
      runningTask = job.task
      defer { runningTask = nil }
      if onMain {
        job.runSynchronously(on: mainReference)
      } else {
        job.runSynchronously(on: globalReference)
      }
      if let task { tasks.forget(ifEnded: task) }
    }
    while let job = returnsOfYields.popLast() { job.runSynchronously(on: globalReference) }
  }

  /// Where that stands which the last step goes on with: its own task, the actor that it went to, the task that the actor let
  /// go on; else the one that has waited longest.
  private var nextWithoutSwitch: Int {
    guard ready.count > 1, stepsInARow < Self.fairness else { return 0 }
    let new = firstOfStep..<ready.count
    return new.first { lanes[$0] == trace.runningLane }
      ?? new.first { trace.isActor(lanes[$0]) != trace.isActor(trace.runningLane) }
      ?? 0
  }

  /// The lanes in the order of arrival, but one before all others.
  private func lanes(first place: Int) -> [Int] {
    guard place > 0 else { return lanes }
    var lanes = lanes
    lanes.insert(lanes.remove(at: place), at: 0)
    return lanes
  }

  /// Goes to the next moment at which somebody wakes; false if there is none until then.
  private func jump(until deadline: Int) -> Bool {
    timers.removeFirst { $0.work.isCancelled }
    guard let moment = timers.firstMoment, moment <= deadline else { return false }
    if moment > now { (now, stepsAtThisTime) = (moment, 0) }
    firstOfStep = ready.count
    while timers.firstMoment == moment {
      guard let work = timers.popFirst()?.element else { break }
      if !work.work.isCancelled { add(work) }
    }
    return true
  }

  private func takeFromOutside() {
    guard hasOutside.value != 0 else { return }
    // What comes from here on is seen again: it is looked at before this.
    hasOutside.set(0)
    let (jobs, late) = outside.withLock { outside in
      defer { (outside.jobs, outside.timers) = ([], []) }
      return (outside.jobs, outside.timers)
    }
    for job in jobs {
      noteOutside(place(of: job))
      enqueue(job)
    }
    for (delay, timer) in late {
      noteOutside("a timer that was set on another thread")
      set(timer, after: delay)
    }
  }

  private func noteOutside(_ place: String) {
    if !outsidePlaces.contains(place) { outsidePlaces.append(place) }
  }

  private func place(of job: UnownedJob) -> String {
    #if os(Linux)
      let functions = job.task.map { SuspendedTask(address: $0).functions } ?? []
    #else
      let functions: [String] = []
    #endif
    let name = job.task.flatMap { trace.lane(ofTask: RuntimeSymbols.id(of: $0)) }.map { trace.names[$0] } ?? "a task"
    return functions.isEmpty ? name : "\(name) in \(functions.joined(separator: ", called by "))"
  }

  // MARK: The end

  /// The names of the tasks that are left, each with what it waits for, and how many timers.
  ///
  /// - Parameter hasEnded: Whether the body has; its own task, the first, is left all the same, since the caller holds it.
  func left(hasEnded: Bool) -> (tasks: [String], timers: Int) {
    let tasks = hasEnded ? tasks.left.dropFirst() : tasks.left[...]
    return (waiting(tasks), timers.count { $0.work.isLeft })
  }

  /// The subscriptions that nobody has ended.
  var subscriptions: [String] {
    #if os(Linux)
      queues?.subscriptions ?? []
    #else
      []
    #endif
  }

  private func waiting(_ tasks: ArraySlice<(task: UnsafeRawPointer, lane: Int)>) -> [String] {
    #if os(Linux)
      var awaited: [UnsafeRawPointer: Int] = [:]
      for (task, lane) in tasks {
        for waiter in SuspendedTask(address: task).waiters { awaited[waiter] = lane }
      }
      return tasks.map { task, lane in
        let functions = SuspendedTask(address: task).functions
        let other = awaited[task].map { " waits for \(trace.names[$0])" } ?? (functions.isEmpty ? "" : " waits")
        return trace.names[lane] + other
          + (functions.isEmpty ? "" : " in \(functions.joined(separator: ", called by "))")
      }
    #else
      return tasks.map { trace.names[$0.lane] }
    #endif
  }

  /// Nothing comes in any more.
  func close() {
    #if os(Linux)
      queues = nil
    #endif
    outside.withLock { $0.isOpen = false }
    tasks.close()
    for actor in actors { RuntimeSymbols.freeMemory(of: actor) }
    actors = []
  }
}

extension SimulationRun {
  /// The time of this run, for whoever takes a time source.
  var time: TimeSource { time(since: .zero) }

  /// What the system's time is in this run: that of the clock that is replaced, however the program asks for it.
  var systemTime: TimeSource { time(since: .seconds(Self.clockStart)) }

  private func time(since start: Duration) -> TimeSource {
    TimeSource(
      now: { start + .nanoseconds(self.now) },
      wallClock: { .seconds(Self.wallClockStart) + .nanoseconds(self.now) },
      after: { self.after($0, $1) }
    )
  }
}

extension SimulationRun.ReadyWork.Work {
  /// Whether nobody would notice if it came.
  fileprivate var isCancelled: Bool {
    if case .timer(let timer) = self { timer.isCancelled } else { false }
  }

  /// Whether it counts as left over; the sleep of a task that was cancelled stays here until it is due.
  fileprivate var isLeft: Bool {
    if case .timer(let timer) = self { !timer.isCancelled } else { false }
  }
}
