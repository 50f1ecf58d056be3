import Combine
import Rebound
import ReboundTesting

/// All clients of a play: begins their requests, and does what is due until the end.
///
/// Access to what is stored is not checked; see ``ServiceAttempt``.
final class ClientCrowd<Output: Sendable> {
  private let arrivals: Arrivals
  private let agenda: Agenda
  private let recorder: StormRecorder
  private let requests: [AnyPublisher<Output, any Error>]
  @exclusivity(unchecked) private var random: StormRandom
  /// How many requests have begun.
  @exclusivity(unchecked) private var begun = 0
  /// Who still waits for an answer, of clients that ask at fixed intervals.
  @exclusivity(unchecked) private var isBusy: [Bool] = []
  /// The requests that have not ended, each at its place.
  @exclusivity(unchecked) private var open: [StormRequest<Output>?] = []
  @exclusivity(unchecked) private var freePlaces: [Int] = []
  /// When something happened last, and how much has happened at that moment.
  @exclusivity(unchecked) private var moment = -1
  @exclusivity(unchecked) private var eventCount = 0
  /// Why the play was broken off, if it was.
  @exclusivity(unchecked) private(set) var endlessMoment: EndlessMoment?

  /// At one moment, for each request: more than ten thousand retries at once take.
  private static var mostEvents: Int { 25_000 }

  init(
    _ scenario: Scenario,
    agenda: Agenda,
    recorder: StormRecorder,
    requests: [AnyPublisher<Output, any Error>]
  ) {
    arrivals = scenario.arrivals
    self.agenda = agenda
    self.recorder = recorder
    self.requests = requests
    random = StormRandom(seed: scenario.seed, part: 0)
  }

  func play() {
    begin()
    while endlessMoment == nil, let event = agenda.next() { perform(event) }
  }

  /// Enters the first arrivals.
  func begin() {
    switch arrivals {
    case .closed(let clients, let thinkTime):
      for client in 0..<clients { agenda.enter(.client(client), afterSeconds: thinkTime.drawRest(&random)) }
    case .periodic(let clients, _):
      isBusy = Array(repeating: false, count: clients)
      agenda.enter(.arrival, afterSeconds: 0)
    case .constant, .poisson, .bursts, .daily: agenda.enter(.arrival, afterSeconds: pause())
    }
  }

  func perform(_ event: Agenda.Event) {
    countEvent()
    switch event {
    case .arrival: arrive()
    case .client(let client): begin(client)
    case .deliver(let attempt): attempt.deliver()
    case .workDone(let attempt): attempt.service.workDone(attempt)
    case .outageBegins(let service, let replica): service.outageBegins(at: replica)
    case .timer(let timer): timer.fire()
    }
  }

  /// Breaks the play off if more and more happens at one moment: time would never go on.
  private func countEvent() {
    let now = agenda.now
    if now > moment { (moment, eventCount) = (now, 0) }
    eventCount += 1
    guard eventCount > Self.mostEvents * max(open.count, 1) else { return }
    endlessMoment = EndlessMoment(seconds: agenda.seconds)
    agenda.close()
  }

  /// Until the next arrival.
  private func pause() -> Double {
    switch arrivals {
    case .periodic, .constant: return 1 / arrivals.rate
    case .poisson(let rate), .bursts(let rate, _): return random.exponential(mean: 1 / rate)
    case .daily(let rate, let amplitude, let period):
      // By thinning: Lewis and Shedler, "Simulation of Nonhomogeneous Poisson Processes", 1979.
      let most = rate * (1 + amplitude)
      var pause = 0.0
      while true {
        pause += random.exponential(mean: 1 / most)
        let now = rate * (1 + amplitude * sine(turns: (agenda.seconds + pause) / period))
        if random.unit() * most <= now { return pause }
      }
    case .closed: return .infinity
    }
  }

  private func arrive() {
    agenda.enter(.arrival, afterSeconds: pause())
    switch arrivals {
    case .periodic(let clients, _):
      let client = begun % clients
      begun += 1
      guard !isBusy[client] else { return }
      isBusy[client] = true
      begin(client)
    case .bursts(_, let size):
      for _ in 0..<size { beginNext() }
    case .constant, .poisson, .daily, .closed: beginNext()
    }
  }

  private func beginNext() {
    begun += 1
    begin(begun)
  }

  private func begin(_ client: Int) {
    recorder.begin(at: agenda.now)
    let place = freePlaces.popLast() ?? open.count
    if place == open.count { open.append(nil) }
    let request = StormRequest(client, at: agenda.now, place: place, of: self)
    open[place] = request
    requests[client % requests.count].subscribe(request)
  }

  /// How many requests are open for longer than any has taken that ended.
  ///
  /// - Parameter end: When, in seconds.
  func overdueCount(at end: Double) -> Int {
    let longest = recorder.longest
    return open.count { request in request.map { Int(end * 1e9) - $0.begin > longest } ?? false }
  }

  /// Cancels what has not ended when the play does: a request and its subscription hold each other, so it would stay for good.
  ///
  /// Who waits for another's end may begin an attempt then, so nothing counts that is recorded from here on.
  func cancelOpenRequests() {
    agenda.close()
    for place in open.indices { open[place]?.cancel() }
    open = []
  }

  fileprivate func end(_ request: StormRequest<Output>, isSuccess: Bool) {
    recorder.end(at: agenda.now, begunAt: request.begin, isSuccess: isSuccess)
    open[request.place] = nil
    freePlaces.append(request.place)
    if !isBusy.isEmpty { isBusy[request.client] = false }
    if case .closed(_, let thinkTime) = arrivals {
      agenda.enter(.client(request.client), afterSeconds: thinkTime.draw(&random))
    }
  }
}

/// One request of a client, with all that is made again for it.
private final class StormRequest<Output: Sendable>: Subscriber {
  let client: Int
  let begin: Int
  let place: Int
  private let crowd: ClientCrowd<Output>
  @exclusivity(unchecked) private var subscription: (any Subscription)?

  init(_ client: Int, at begin: Int, place: Int, of crowd: ClientCrowd<Output>) {
    self.client = client
    self.begin = begin
    self.place = place
    self.crowd = crowd
  }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.unlimited)
  }

  func receive(_ answer: Output) -> Subscribers.Demand { .none }

  func cancel() {
    let subscription = self.subscription
    self.subscription = nil
    subscription?.cancel()
  }

  func receive(completion: Subscribers.Completion<any Error>) {
    subscription = nil
    if case .finished = completion { crowd.end(self, isSuccess: true) } else { crowd.end(self, isSuccess: false) }
  }
}
