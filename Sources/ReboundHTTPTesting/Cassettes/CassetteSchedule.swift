import Foundation
import ReboundHTTP

/// What a replay tells, and how long it waits before each event, within the limits of the request.
///
/// A replay cannot tell when a connection stands, so that limit is left to the idle limit, as ``TransportLimits`` allows.
struct CassetteSchedule {
  typealias Step = (pause: Duration, event: TransportEvent)

  private(set) var steps: [Step] = []
  /// When all must be over.
  let total: Duration?

  private let idle: Duration?
  private let responseBytes: Int64?
  private var elapsed = Duration.zero
  private var sent: Int64 = 0
  private var received: Int64 = 0

  /// - Parameters:
  ///   - timeline: What was told and when, in order.
  ///   - limits: Those of the request.
  ///   - keepsPace: Whether it is told when it was told then, or at once.
  init(_ timeline: [CassetteRecording.Moment], limits: TransportLimits, keepingPace keepsPace: Bool) {
    total = limits.total
    idle = limits.idle
    responseBytes = limits.responseBytes
    if let connect = limits.connect, connect <= .zero {
      fail(.timeout(.connect), after: .zero)
      return
    }
    var last = Duration.zero
    for (time, event) in timeline {
      let pause = keepsPace ? max(time - last, .zero) : .zero
      last = max(time, last)
      guard add(event, after: pause) else { return }
    }
    // The recording was cancelled here, so nothing comes any more.
    fallSilent()
  }

  /// Says whether the exchange goes on.
  private mutating func add(_ event: TransportEvent, after pause: Duration) -> Bool {
    if let (phase, left) = nextLimit, left <= pause {
      fail(.timeout(phase), after: left)
      return false
    }
    elapsed += pause
    switch event {
    case .sent(let count): sent = count
    case .chunk(let chunk): received += Int64(chunk.count)
    case .head, .finished, .failed: break
    }
    if let responseBytes, received > responseBytes {
      fail(.tooLarge, after: pause, detail: "more than \(responseBytes) bytes")
      return false
    }
    steps.append((pause, event))
    return !event.isEnd
  }

  private mutating func fallSilent() {
    guard let (phase, left) = nextLimit else { return }
    fail(.timeout(phase), after: left, detail: "the recording ends here: it was cancelled")
  }

  /// The limit that passes next if nothing comes, and when.
  private var nextLimit: (TransportFailure.TimeoutPhase, Duration)? {
    let left = total.map { $0 - elapsed }
    guard let idle, idle < left ?? idle + .nanoseconds(1) else { return left.map { (.total, max($0, .zero)) } }
    return (.idle, max(idle, .zero))
  }

  private mutating func fail(_ kind: TransportFailure.Kind, after pause: Duration, detail: String? = nil) {
    let failure = TransportFailure(kind, bytesSent: sent, bytesReceived: received, detail: detail)
    steps.append((pause, .failed(failure)))
  }
}
