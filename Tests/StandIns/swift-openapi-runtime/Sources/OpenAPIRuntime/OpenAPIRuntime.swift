// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stands in for swift-openapi-runtime 1.11.0: the names and signatures that the adapter and its tests use.
import Foundation
import HTTPTypes

public protocol ClientMiddleware: Sendable {
  func intercept(
    _ request: HTTPRequest,
    body: HTTPBody?,
    baseURL: URL,
    operationID: String,
    next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
  ) async throws -> (HTTPResponse, HTTPBody?)
}

public protocol ClientTransport: Sendable {
  func send(
    _ request: HTTPRequest,
    body: HTTPBody?,
    baseURL: URL,
    operationID: String
  ) async throws -> (HTTPResponse, HTTPBody?)
}

public struct ClientError: Error {
  public var operationID: String
  public var underlyingError: any Error

  public init(operationID: String, operationInput: any Sendable, causeDescription: String, underlyingError: any Error) {
    (self.operationID, self.underlyingError) = (operationID, underlyingError)
  }
}

public enum IterationBehavior: Sendable {
  case single, multiple
}

public final class HTTPBody: Sendable, AsyncSequence {
  public typealias ByteChunk = ArraySlice<UInt8>
  public typealias Element = ByteChunk

  public enum Length: Sendable, Equatable {
    case unknown
    case known(Int64)
  }

  public let iterationBehavior: IterationBehavior
  public let length: Length
  private let makeStream: @Sendable () -> AsyncThrowingStream<ByteChunk, any Error>

  public init(_ bytes: ByteChunk, length: Length) {
    iterationBehavior = .multiple
    self.length = length
    makeStream = {
      AsyncThrowingStream { continuation in
        continuation.yield(bytes)
        continuation.finish()
      }
    }
  }

  public convenience init(_ data: Data) {
    self.init(ArraySlice(data), length: .known(Int64(data.count)))
  }

  public init(_ stream: AsyncThrowingStream<ByteChunk, any Error>, length: Length) {
    iterationBehavior = .single
    self.length = length
    makeStream = { stream }
  }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var chunks: AsyncThrowingStream<ByteChunk, any Error>.Iterator

    public mutating func next() async throws -> ByteChunk? { try await chunks.next() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(chunks: makeStream().makeAsyncIterator()) }
}

extension Data {
  public struct TooManyBytes: Error {}

  public init(collecting body: HTTPBody, upTo limit: Int) async throws {
    self.init()
    for try await chunk in body {
      guard count + chunk.count <= limit else { throw TooManyBytes() }
      append(contentsOf: chunk)
    }
  }
}
