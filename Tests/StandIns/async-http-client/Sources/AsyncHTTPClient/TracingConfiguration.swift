// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import NIOHTTP1
import Tracing

extension HTTPClient {
  public struct TracingConfiguration: Sendable {
    public var tracer: (any Tracer)? = InstrumentationSystem.tracer
  }
}

extension HTTPClientRequest {
  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout HTTPHeaders) {
      carrier.add(name: key, value: value)
    }
  }

  /// Begins a span for the request, and has it carry the tracer's fields.
  mutating func begin(with tracer: (any Tracer)?) -> (any Tracing.Span)? {
    guard let tracer else { return nil }
    let span = tracer.startSpan(method.rawValue, ofKind: .client)
    tracer.inject(span.context, into: &headers, using: FieldInjector())
    return span
  }
}
