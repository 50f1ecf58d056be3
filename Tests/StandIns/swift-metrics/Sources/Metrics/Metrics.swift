// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-metrics 2.10.1: the names and signatures that the adapter and its tests use.
public protocol MetricsFactory: Sendable {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler
  func destroyCounter(_ handler: any CounterHandler)
  func destroyMeter(_ handler: any MeterHandler)
  func destroyRecorder(_ handler: any RecorderHandler)
  func destroyTimer(_ handler: any TimerHandler)
}

public protocol CounterHandler: AnyObject, Sendable {
  func increment(by amount: Int64)
  func reset()
}

public protocol MeterHandler: AnyObject, Sendable {
  func set(_ value: Int64)
  func set(_ value: Double)
  func increment(by amount: Double)
  func decrement(by amount: Double)
}

public protocol RecorderHandler: AnyObject, Sendable {
  func record(_ value: Int64)
  func record(_ value: Double)
}

public protocol TimerHandler: AnyObject, Sendable {
  func recordNanoseconds(_ duration: Int64)
}

public enum MetricsSystem {
  public static var factory: any MetricsFactory { NothingIsMeasured() }
}

public final class Counter: Sendable {
  private let handler: any CounterHandler

  public init(label: String, dimensions: [(String, String)], factory: any MetricsFactory) {
    handler = factory.makeCounter(label: label, dimensions: dimensions)
  }

  public func increment(by amount: some BinaryInteger) { handler.increment(by: Int64(amount)) }
}

public final class Meter: Sendable {
  private let handler: any MeterHandler

  public init(label: String, dimensions: [(String, String)], factory: any MetricsFactory) {
    handler = factory.makeMeter(label: label, dimensions: dimensions)
  }

  public func set(_ value: some BinaryFloatingPoint) { handler.set(Double(value)) }
}

public final class Recorder: Sendable {
  private let handler: any RecorderHandler

  public init(label: String, dimensions: [(String, String)], aggregate: Bool, factory: any MetricsFactory) {
    handler = factory.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
  }

  public func record(_ value: some BinaryFloatingPoint) { handler.record(Double(value)) }
}

public final class Timer: Sendable {
  private let handler: any TimerHandler

  public init(label: String, dimensions: [(String, String)], factory: any MetricsFactory) {
    handler = factory.makeTimer(label: label, dimensions: dimensions)
  }

  public func recordNanoseconds(_ duration: Int64) { handler.recordNanoseconds(duration) }
}

private struct NothingIsMeasured: MetricsFactory {
  final class Handler: CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    func increment(by amount: Int64) {}
    func reset() {}
    func set(_ value: Int64) {}
    func set(_ value: Double) {}
    func increment(by amount: Double) {}
    func decrement(by amount: Double) {}
    func record(_ value: Int64) {}
    func record(_ value: Double) {}
    func recordNanoseconds(_ duration: Int64) {}
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Handler() }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Handler() }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    Handler()
  }
  func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { Handler() }
  func destroyCounter(_ handler: any CounterHandler) {}
  func destroyMeter(_ handler: any MeterHandler) {}
  func destroyRecorder(_ handler: any RecorderHandler) {}
  func destroyTimer(_ handler: any TimerHandler) {}
}
