import Combine
import Expectations
import Foundation
import ReboundTesting
import Testing

@testable import ReboundHTTP

@Suite("Reachability")
struct ReachabilityTests {
  enum Failure: Error {
    case offline
    case other
  }

  let reachability = ManualReachability(.offline)

  @Test("waits with the next attempt until the network is back")
  func retry() {
    let attempts = PassthroughSubject<Int, Failure>()
    var subscriptions = 0
    let recorder = Recorder<Int, Failure>()
    let upstream = Deferred { () -> AnyPublisher<Int, Failure> in
      subscriptions += 1
      return subscriptions == 1 ? Fail(error: Failure.offline).eraseToAnyPublisher() : attempts.eraseToAnyPublisher()
    }
    upstream.retry(whenBackOn: reachability) { $0 == .offline }.subscribe(recorder)
    expectEqual(subscriptions, 1)
    reachability.current = .online
    expectEqual(subscriptions, 2)
    attempts.send(1)
    reachability.current = .offline
    reachability.current = .online
    expectEqual(subscriptions, 2)
    attempts.send(completion: .finished)
    expectEqual(recorder.values, [1])
  }

  @Test("tries again at once when the network is back before the failure has come")
  func alreadyBack() {
    reachability.current = .online
    var subscriptions = 0
    let recorder = Recorder<Int, Failure>()
    Deferred { () -> AnyPublisher<Int, Failure> in
      subscriptions += 1
      return subscriptions < 4
        ? Fail<Int, Failure>(error: Failure.offline).eraseToAnyPublisher()
        : Just(7).setFailureType(to: Failure.self).eraseToAnyPublisher()
    }
    .retry(whenBackOn: reachability) { $0 == .offline }
    .subscribe(recorder)
    expectEqual(subscriptions, 4)
    expectEqual(recorder.values, [7])
  }

  @Test("passes other failures on")
  func otherFailure() {
    var failure: Failure?
    let subscription = Fail<Int, Failure>(error: .other)
      .retry(whenBackOn: reachability) { $0 == .offline }
      .sink(receiveCompletion: { if case .failure(let error) = $0 { failure = error } }, receiveValue: { _ in })
    expectEqual(failure, .other)
    subscription.cancel()
  }

  @Test("stops waiting when it is cancelled")
  func cancel() {
    var subscriptions = 0
    let subscription = Deferred { () -> Fail<Int, Failure> in
      subscriptions += 1
      return Fail<Int, Failure>(error: Failure.offline)
    }
    .retry(whenBackOn: reachability) { $0 == .offline }
    .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    subscription.cancel()
    reachability.current = .online
    expectEqual(subscriptions, 1)
  }

  @Test("tells of a return, not of what holds at the start")
  func restored() {
    reachability.current = .online
    var returns = 0
    let subscription = reachability.restored.sink { returns += 1 }
    expectEqual(returns, 0)
    reachability.current = .offline
    expectEqual(returns, 0)
    reachability.current = .online
    expectEqual(returns, 1)
    subscription.cancel()
  }

  @Test("makes nothing of what comes and goes within the settling time")
  func flapping() {
    let scheduler = TestScheduler()
    let changes = PassthroughSubject<Connectivity, Never>()
    var told: [Connectivity] = []
    let subscription = changes.settled(from: { .online }, for: .milliseconds(500), on: scheduler).sink {
      told.append($0)
    }
    expectEqual(told, [.online])
    for _ in 0..<10 {
      changes.send(.offline)
      scheduler.advance(by: 0.2)
      changes.send(.online)
      scheduler.advance(by: 0.2)
    }
    scheduler.advance(by: 1)
    expectEqual(told, [.online])
    changes.send(.offline)
    scheduler.advance(by: 0.499)
    expectEqual(told, [.online])
    scheduler.advance(by: 0.001)
    expectEqual(told, [.online, .offline])
    changes.send(.offline)
    scheduler.advance(by: 1)
    expectEqual(told, [.online, .offline])
    subscription.cancel()
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("what changes upon the first look, or while that is being told, is not missed")
  func changeMeanwhile() {
    let scheduler = TestScheduler()
    let changes = PassthroughSubject<Connectivity, Never>()
    var told: [Connectivity] = []
    let meanwhile = changes.settled(from: { .online }, for: .milliseconds(500), on: scheduler).sink {
      told.append($0)
      if told.count == 1 { changes.send(.offline) }
    }
    scheduler.advance(by: 1)
    expectEqual(told, [.online, .offline])
    meanwhile.cancel()
    told = []
    let outdated = { () -> Connectivity in
      changes.send(.offline)
      return .online
    }
    let subscription = changes.settled(from: outdated, for: .milliseconds(500), on: scheduler).sink { told.append($0) }
    scheduler.advance(by: 1)
    expectEqual(told, [.online, .offline])
    subscription.cancel()
    expectEqual(scheduler.pendingCount, 0)
  }

  @Test("tells who was not asking what holds by now, and nothing that was over before")
  func demand() {
    let scheduler = TestScheduler()
    let changes = PassthroughSubject<Connectivity, Never>()
    let recorder = Recorder<Connectivity, Never>(requesting: .max(1), on: scheduler)
    changes.settled(from: { .online }, for: .milliseconds(500), on: scheduler).subscribe(recorder)
    for change in [Connectivity.offline, .online, .offline] {
      changes.send(change)
      scheduler.advance(by: 1)
    }
    expectEqual(recorder.values, [.online])
    recorder.request(.max(1))
    expectEqual(recorder.values, [.online, .offline])
    recorder.cancel()
  }

  @Test("of the system says the same twice, and at once to a subscriber")
  func system() {
    let system = SystemReachability()
    var told: [Connectivity] = []
    let subscription = system.connectivity.sink { told.append($0) }
    expectEqual(told, [system.current])
    subscription.cancel()
  }

  @Test(
    "knows which addresses lead beyond their link",
    arguments: [
      (.v4([192, 168, 1, 2]), true), (.v4([10, 0, 0, 1]), true), (.v4([169, 254, 3, 4]), false),
      (.v4([127, 0, 0, 1]), false), (.v4([0, 0, 0, 0]), false),
      (.v6([0x20, 0x01] + Array(repeating: 1, count: 14)), true),
      (.v6([0xFD, 0x00] + Array(repeating: 1, count: 14)), true),
      (.v6([0xFE, 0x80] + Array(repeating: 1, count: 14)), false),
      (.v6([0xFE, 0xBF] + Array(repeating: 1, count: 14)), false),
      (.v6(Array(repeating: 0, count: 15) + [1]), false),
    ] as [(InterfaceAddress, Bool)]
  )
  func addresses(address: InterfaceAddress, leadsOut: Bool) {
    expectEqual(address.leadsBeyondItsLink, leadsOut)
  }

  #if os(Linux)
    @Test("gets a socket from the kernel that has nothing to say while nothing changes")
    func netlink() throws {
      let descriptor = try #require(NetlinkSocket.open())
      NetlinkSocket.drain(descriptor)
      var byte: UInt8 = 0
      expectEqual(recv(descriptor, &byte, 1, 0), -1)
      close(descriptor)
    }
  #endif
}
