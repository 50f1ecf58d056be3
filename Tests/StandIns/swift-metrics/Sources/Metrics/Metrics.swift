// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-metrics 2.10.1: the names and signatures that the adapter and its tests use.
public protocol MetricsFactory: Sendable {
  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler
}

public protocol CounterHandler: AnyObject, Sendable {
  func increment(by amount: Int64)
}

public protocol MeterHandler: AnyObject, Sendable {
  func set(_ value: Double)
}

public protocol RecorderHandler: AnyObject, Sendable {
  func record(_ value: Double)
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

private struct NothingIsMeasured: MetricsFactory {
  final class Handler: CounterHandler, MeterHandler, RecorderHandler {
    func increment(by amount: Int64) {}
    func set(_ value: Double) {}
    func record(_ value: Double) {}
  }

  func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { Handler() }
  func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { Handler() }
  func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    Handler()
  }
}
