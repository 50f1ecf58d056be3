import Expectations
import Foundation
import Testing

@testable import ReboundHTTP

@Suite("ExchangeMachine")
struct ExchangeMachineTests {
  static let url = URL(filePath: "/")
  static let head = ResponseHead(status: 200, url: url)

  static func make(_ limits: TransportLimits = .none, at start: Duration = .zero) -> ExchangeMachine {
    ExchangeMachine(limits: limits, start: start)
  }

  @Test("lets events through in their order alone")
  func order() {
    var machine = Self.make()
    #expect(machine.receive(Data([1]), at: .zero) == nil)
    expectEqual(machine.sent(5, at: .zero)?.isSent(5), true)
    #expect(machine.sent(5, at: .zero) == nil)
    #expect(machine.sent(3, at: .zero) == nil)
    #expect(machine.receive(Self.head, at: .zero) != nil)
    #expect(machine.receive(Self.head, at: .zero) == nil)
    #expect(machine.receive(Data(), at: .zero) == nil)
    #expect(machine.receive(Data([1]), at: .zero) != nil)
    #expect(machine.finish() != nil)
    #expect(machine.isOver)
    #expect(machine.finish() == nil)
    #expect(machine.fail(TransportFailure(.other)) == nil)
    #expect(machine.sent(9, at: .zero) == nil)
  }

  @Test(
    "takes no answer whose length is in doubt",
    arguments: [
      (["8"], true), (["8", "8"], true), (["8, 8"], true), ([" 8 "], true), (["9223372036854775807"], true),
      (["8", "4"], false), (["8, 4"], false), (["0x8"], false), (["+8"], false), (["-8"], false), ([""], false),
      (["8,"], false), (["9223372036854775808"], false), (["\u{0668}"], false),
    ] as [([String], Bool)]
  )
  func lengths(values: [String], isTaken: Bool) {
    var machine = Self.make()
    let fields = values.map { HTTPHeaders.Field("content-length", $0) }
    let event = machine.receive(ResponseHead(status: 200, headers: HTTPHeaders(fields), url: Self.url), at: .zero)
    expectEqual(event?.failure?.kind, isTaken ? nil : .protocol)
    #expect(machine.isOver != isTaken)
  }

  @Test("takes an end without a head for a broken connection")
  func endWithoutHead() {
    var machine = Self.make()
    expectEqual(machine.finish()?.failure?.kind, .reset)
  }

  @Test("calls a connection lost within the body a truncation, and adds up progress")
  func truncation() {
    var machine = Self.make()
    _ = machine.sent(7, at: .zero)
    _ = machine.receive(Self.head, at: .zero)
    _ = machine.receive(Data(count: 11), at: .zero)
    let failure = machine.fail(TransportFailure(.reset, detail: "broken"))?.failure
    expectEqual(failure?.kind, .truncated)
    expectEqual(failure?.bytesSent, 7)
    expectEqual(failure?.bytesReceived, 11)
    expectEqual(failure?.detail, "broken")
  }

  @Test(
    "a lost connection has its name from how far the answer had come",
    arguments: [TransportFailure.Kind.reset, .truncated]
  )
  func lost(kind: TransportFailure.Kind) {
    var machine = Self.make()
    machine.connected(at: .zero)
    expectEqual(machine.fail(TransportFailure(kind))?.failure?.kind, .reset)
    machine = Self.make()
    _ = machine.receive(Self.head, at: .zero)
    expectEqual(machine.fail(TransportFailure(kind))?.failure?.kind, .truncated)
  }

  @Test("knows that nothing was sent while no connection stands, if it is told of connections")
  func unsent() {
    for (knowsConnection, expected) in [(true, true), (false, nil)] as [(Bool, Bool?)] {
      var machine = ExchangeMachine(limits: .none, knowsConnection: knowsConnection, start: .zero)
      expectEqual(machine.fail(TransportFailure(.reset))?.failure?.isUnsent, expected)
    }
    var machine = Self.make()
    machine.connected(at: .zero)
    expectEqual(machine.fail(TransportFailure(.reset))?.failure?.isUnsent, false)
    machine = Self.make()
    machine.connected(at: .zero)
    expectEqual(machine.fail(TransportFailure(.proxy(.credentials), isUnsent: true))?.failure?.isUnsent, true)
  }

  @Test("a server that has begun to answer has looked at the request")
  func unprocessed() {
    let refusal = TransportFailure(.reset, isUnprocessed: true)
    var machine = Self.make()
    machine.connected(at: .zero)
    expectEqual(machine.fail(refusal)?.failure?.isUnprocessed, true)
    machine = Self.make()
    _ = machine.receive(Self.head, at: .zero)
    expectEqual(machine.fail(refusal)?.failure?.isUnprocessed, false)
  }

  @Test("leaves the connect limit to the idle limit where nobody says when a connection stands")
  func unknownConnection() {
    let limits = TransportLimits(connect: .seconds(10), idle: .seconds(30))
    let machine = ExchangeMachine(limits: limits, knowsConnection: false, start: .zero)
    expectEqual(machine.check(at: .seconds(10)), .again(at: .seconds(30)))
  }

  @Test("allows exactly the bytes of the limit")
  func responseBytes() {
    var machine = Self.make(TransportLimits(responseBytes: 10))
    _ = machine.receive(Self.head, at: .zero)
    #expect(machine.receive(Data(count: 10), at: .zero)?.failure == nil)
    let failure = machine.receive(Data(count: 1), at: .zero)?.failure
    expectEqual(failure?.kind, .tooLarge)
    expectEqual(failure?.bytesReceived, 11)
    expectEqual(failure?.responseLimit, 10)
    expectEqual(
      failure?.description,
      """
      the answer is larger than allowed, after 11 bytes; if more than 10 are to be expected, raise \
      TransportLimits.responseBytes
      """
    )
    #expect(machine.isOver)
  }

  @Test("allows 64 MiB by default, and anything without a limit")
  func defaultResponseBytes() {
    let size = 64 << 20
    var standard = Self.make(.standard)
    var unlimited = Self.make(.none)
    for count in [size, 1] {
      _ = standard.receive(Self.head, at: .zero)
      _ = unlimited.receive(Self.head, at: .zero)
      expectEqual(standard.receive(Data(count: count), at: .zero)?.failure == nil, count == size)
      #expect(unlimited.receive(Data(count: count), at: .zero)?.failure == nil)
    }
  }

  @Test("names the limit that passes first, and says when to look again")
  func limits() {
    let limits = TransportLimits(connect: .seconds(10), idle: .seconds(30), total: .seconds(35))
    var machine = Self.make(limits, at: .seconds(100))
    expectEqual(machine.check(at: .seconds(100)), .again(at: .seconds(110)))
    expectEqual(machine.check(at: .seconds(110)), .expired(.connect))
    machine.connected(at: .seconds(104))
    expectEqual(machine.check(at: .seconds(110)), .again(at: .seconds(134)))
    expectEqual(machine.check(at: .seconds(134)), .expired(.idle))
    machine.stirred(at: .seconds(120))
    expectEqual(machine.check(at: .seconds(134)), .again(at: .seconds(135)))
    expectEqual(machine.check(at: .seconds(135)), .expired(.total))
  }

  @Test("counts no pause as idleness, but as time")
  func pause() {
    var machine = Self.make(TransportLimits(idle: .seconds(30), total: .seconds(100)))
    machine.connected(at: .zero)
    machine.pause()
    expectEqual(machine.check(at: .seconds(99)), .again(at: .seconds(100)))
    machine.resume(at: .seconds(60))
    expectEqual(machine.check(at: .seconds(89)), .again(at: .seconds(90)))
    expectEqual(machine.check(at: .seconds(90)), .expired(.idle))
  }

  @Test("has nothing to look at without limits, or after the end")
  func nothing() {
    var machine = Self.make()
    expectEqual(machine.check(at: .seconds(1_000_000)), .again(at: nil))
    machine = Self.make(.standard)
    machine.cancel()
    expectEqual(machine.check(at: .seconds(1_000_000)), .again(at: nil))
    #expect(machine.finish() == nil)
  }
}

extension TransportEvent {
  fileprivate var failure: TransportFailure? { if case .failed(let failure) = self { failure } else { nil } }
  fileprivate func isSent(_ count: Int64) -> Bool { if case .sent(count) = self { true } else { false } }
}
