import Expectations

#if Foundation
  import Combine
  import Foundation
  import ReboundTesting
  import Testing

  @Suite("Timer.publish")
  struct TimerPublisherTests {
    private let interval = 0.001

    private func makePublisher() -> Timer.TimerPublisher {
      Timer.publish(every: interval, on: .current, in: .default)
    }

    @Test("the static method drops the tolerance, and the initialiser keeps all it is given")
    func properties() {
      let made = Timer.publish(every: 2, tolerance: 1, on: .current, in: .common)
      #expect(made.interval == 2 && made.tolerance == nil && made.runLoop === RunLoop.current && made.mode == .common)
      let initialised = Timer.TimerPublisher(interval: 3, tolerance: 1, runLoop: .current, mode: .default)
      #expect(initialised.interval == 3 && initialised.tolerance == 1 && initialised.options == nil)
    }

    @Test("nothing is kept of who cancels")
    func releasesWhoCancels() {
      expectNothingKeptOfWhoCancels(makePublisher())
    }

    @Test("each subscriber gets the dates that it asked for, the same ones, once there is a connection")
    func publishes() {
      let publisher = makePublisher()
      let all = Recorder<Date, Never>()
      let two = Recorder<Date, Never>(
        requesting: .max(1),
        answering: { _, recorder in
          recorder.values.count == 1 ? .max(1) : .none
        }
      )
      publisher.subscribe(all)
      publisher.subscribe(two)
      two.request(.none)
      let start = Date()
      let connection = publisher.connect()

      #expect(turnRunLoop { all.values.count >= 4 })
      connection.cancel()

      expectEqual(two.values, Array(all.values.prefix(2)))
      #expect(zip(all.values, all.values.dropFirst()).allSatisfy { $0 < $1 })
      #expect(all.values[0] >= start.addingTimeInterval(interval))
      #expect(all.completions.isEmpty)
    }

    @Test("nothing comes before a connection, or the first subscriber where that connects")
    func starts() {
      let publisher = makePublisher()
      let (waiting, connecting) = (Recorder<Date, Never>(), Recorder<Date, Never>())
      publisher.subscribe(waiting)
      let autoconnected = makePublisher().autoconnect()
      autoconnected.subscribe(connecting)
      #expect(turnRunLoop { connecting.values.count >= 3 })
      #expect(waiting.values.isEmpty)
      connecting.cancel()
    }

    @Test("dates of the main loop come on the main queue where an asynchronous main has left nobody to run that loop")
    func mainThreadIsGone() {
      // The main of test runs is asynchronous.
      let came = Signal()
      for mode in [RunLoop.Mode.common, .default] {
        let cancellable = Timer.publish(every: interval, on: .main, in: mode).autoconnect().sink { _ in came.send() }
        #expect(came.wait(times: 3))
        cancellable.cancel()
      }
      // A connection goes on until it is cancelled, also if nobody keeps it.
      let publisher = Timer.publish(every: interval, on: .main, in: .common)
      let cancellable = publisher.sink { _ in came.send() }
      _ = publisher.connect()
      #expect(came.wait(times: 3))
      cancellable.cancel()
    }

    @Test("an interval that is not above 0 counts as a short one")
    func oddIntervals() {
      for interval in [0, -1, -.infinity, .nan] as [TimeInterval] {
        let recorder = Recorder<Date, Never>()
        Timer.publish(every: interval, on: .current, in: .default).autoconnect().subscribe(recorder)
        #expect(turnRunLoop { recorder.values.count >= 3 })
        recorder.cancel()
      }
    }

    @Test("cancelling one connection ends the subscriptions of all")
    func cancelsConnection() {
      let publisher = makePublisher()
      let recorder = Recorder<Date, Never>()
      publisher.subscribe(recorder)
      let (first, second) = (publisher.connect(), publisher.connect())
      #expect(turnRunLoop { recorder.values.count >= 2 })

      first.cancel()
      first.cancel()
      let last = recorder.values.count
      let later = Recorder<Date, Never>()
      publisher.subscribe(later)
      #expect(turnRunLoop { later.values.count >= 2 })
      second.cancel()

      expectEqual(recorder.values.count, last)
    }

    @Test("cancelling a subscription ends that one only, and lets go of its subscriber")
    func cancelsSubscription() {
      let publisher = makePublisher()
      let other = Recorder<Date, Never>()
      publisher.subscribe(other)
      weak var observed: Recorder<Date, Never>?
      let connection = publisher.connect()
      do {
        let recorder = Recorder<Date, Never>(answering: { _, recorder in
          recorder.cancel()
          return .none
        })
        observed = recorder
        publisher.subscribe(recorder)
        #expect(turnRunLoop { other.values.count >= 3 })
        expectEqual(recorder.values.count, 1)
      }
      #expect(observed == nil)
      connection.cancel()
    }

    @Test("a publisher lives as long as its connection and no longer")
    func lifetime() {
      weak var observed: Timer.TimerPublisher?
      let connection: any Cancellable
      do {
        let publisher = makePublisher()
        observed = publisher
        connection = publisher.connect()
      }
      #expect(observed != nil)
      connection.cancel()
      #expect(observed == nil)
    }

    @Test("neither subscription nor connection has a form of its own, and a connection is no subscription")
    func forms() throws {
      let publisher = makePublisher()
      let subscription = try #require(publisher.subscriptionForTesting())
      let connection = publisher.connect()
      for subject in [subscription as Any, connection as Any] {
        #expect(!(subject is any CustomStringConvertible) && !(subject is any CustomReflectable))
        #expect(!(subject is any CustomPlaygroundDisplayConvertible))
      }
      #expect(!((connection as Any) is any Subscription))
      connection.cancel()
    }

    @Test("a subscription does not keep its publisher")
    func weakPublisher() {
      weak var observed: Timer.TimerPublisher?
      let keeper = Keeper<Date, Never>(Recorder<Date, Never>())
      do {
        let publisher = makePublisher()
        observed = publisher
        publisher.subscribe(keeper)
      }
      #expect(keeper.subscription != nil)
      #expect(observed == nil)
    }
  }
#endif
