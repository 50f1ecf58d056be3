import Foundation
import StreamSupport

/// What a request sends along.
public enum TransportBody: Sendable {
  /// Nothing.
  case none
  /// These bytes.
  case data(Data)
  /// The content of a file, read while it is sent. What comes from a pipe or a device is a ``stream(_:)``.
  case file(URL)
  /// What a stream gives, read while it is sent.
  case stream(BodyStream)

  /// Whether the body can be sent more than once: by a retry, or after a redirect.
  public var isReplayable: Bool {
    switch self {
    case .none, .data, .file: true
    case .stream(let stream): stream.isReplayable
    }
  }

  /// How many bytes it has; `nil` if that is not known before it is sent, which means chunked coding.
  public var length: Int64? {
    switch self {
    case .none: 0
    case .data(let data): Int64(data.count)
    case .file(let url): MeasuredFile(url).length
    case .stream(let stream): stream.length
    }
  }

  /// The same body, of a length that stays what it is now.
  ///
  /// For a transport, which tells the length before it reads the body: it takes this once, and asks it for both. Of a file
  /// that grows later on, no more is read than there was, since a server takes what comes behind the Content-Length for the
  /// next request (RFC 9112 §6.3). Of one that has shrunk, or has given way to another file, opening or reading throws. What
  /// is no file stays as it is.
  ///
  /// Asks the file system for the length, which may block.
  public var measured: TransportBody {
    guard case .file(let url) = self else { return self }
    let file = MeasuredFile(url)
    return .stream(BodyStream(length: file.length) { try file.open() })
  }

  /// Opens the body for reading from its start.
  ///
  /// - Throws: What the file system says, or ``BodyStream/AlreadyRead``.
  public func open() throws -> any BodyReader {
    switch self {
    case .none: DataReader(Data())
    case .data(let data): DataReader(data)
    case .file(let url): try FileReader(url)
    case .stream(let stream): try stream.open()
    }
  }
}

/// Gives a body piece by piece.
public protocol BodyReader: AnyObject {
  /// The next bytes: at least one and at most `count`; none at the end.
  ///
  /// May block, as reading a file does. Called from one thread at a time, and not again after the end or an error.
  func read(upTo count: Int) throws -> Data
}

/// A body that is read while it is sent.
public struct BodyStream: Sendable {
  /// How many bytes it has; `nil` if that is not known.
  ///
  /// A reader that gives more or fewer fails: a server would take what is too much for the next request, or the next request
  /// for what is missing. So the last piece is sent once the reader has said that nothing is behind it; one that reads from
  /// another connection, say, counts, and says the end itself.
  public let length: Int64?
  /// Whether it can be opened more than once.
  public let isReplayable: Bool

  private let makeReader: @Sendable () throws -> any BodyReader

  /// Makes a stream that can be read any number of times.
  ///
  /// - Parameters:
  ///   - length: How many bytes it has, if that is known.
  ///   - open: Makes a reader that begins at the start.
  public init(length: Int64? = nil, open: @escaping @Sendable () throws -> any BodyReader) {
    self.length = length
    isReplayable = true
    makeReader = open
  }

  /// Makes a stream that can be read once, such as one that comes from a camera or another connection.
  ///
  /// Nothing retries a request with such a body: there is nothing left to send.
  ///
  /// - Parameters:
  ///   - length: How many bytes it has, if that is known.
  ///   - read: The next bytes, at most as many as asked for; none at the end. It is called by one thread at a time.
  public static func once(length: Int64? = nil, read: @escaping @Sendable (Int) throws -> Data) -> BodyStream {
    let source = OnceOnly(read)
    return BodyStream(length: length, isReplayable: false) { try source.take() }
  }

  private init(length: Int64?, isReplayable: Bool, makeReader: @escaping @Sendable () throws -> any BodyReader) {
    self.length = length
    self.isReplayable = isReplayable
    self.makeReader = makeReader
  }

  /// Opens it for reading from the start.
  ///
  /// What it returns keeps to the size of pieces that it is asked for, and to ``length``, whatever the stream's own reader
  /// does.
  ///
  /// - Throws: What making the reader throws; ``AlreadyRead`` for a second reading of a stream that has only one.
  public func open() throws -> any BodyReader { LengthCheckedReader(try makeReader(), length: length) }

  /// A stream that can be read once was to be read again.
  public struct AlreadyRead: Error, Hashable, CustomStringConvertible {
    /// What happened, and what to do instead.
    public var description: String {
      "The request's body is a stream that can be read once, and has been read. Send a file or data to allow a repetition."
    }
  }
}

extension BodyStream.AlreadyRead: LocalizedError {
  /// What happened, for people: what a client's failure for it says.
  public var errorDescription: String? { NetworkFailure(.transport(.body)).errorDescription }
  /// Why, for people.
  public var failureReason: String? { NetworkFailure(.transport(.body)).failureReason }
  /// What to do next, for people.
  public var recoverySuggestion: String? { NetworkFailure(.transport(.body)).recoverySuggestion }
}

/// Reads bytes that are there.
final class DataReader: BodyReader {
  private var rest: Data

  init(_ data: Data) {
    rest = data
  }

  func read(upTo count: Int) throws -> Data {
    let piece = rest.prefix(count)
    rest = rest.dropFirst(count)
    return piece
  }
}

/// Reads a file, and closes it when it goes.
final class FileReader: BodyReader {
  private let handle: FileHandle
  private var left: Int64

  /// - Parameter limit: How many bytes it gives at most.
  /// - Throws: What the file system says, or ``BodyNotAFile``.
  init(_ url: URL, atMost limit: Int64 = .max) throws {
    #if !os(Windows)
      // Whoever opens a pipe waits until somebody writes there.
      var status = stat()
      if stat(url.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG { throw BodyNotAFile() }
    #endif
    handle = try FileHandle(forReadingFrom: url)
    left = limit
  }

  deinit {
    // Nothing was written, so there is nothing that closing could lose.
    try? handle.close()
  }

  func read(upTo count: Int) throws -> Data {
    let piece = try handle.read(upToCount: Int(min(Int64(count), left))) ?? Data()
    left -= Int64(piece.count)
    return piece
  }
}

/// A file whose length was told: it is read no further than it went then, and not at all if another is in its place.
struct MeasuredFile: Sendable {
  private let url: URL
  /// How many bytes it has; `nil` for what is no file, such as a pipe.
  let length: Int64?
  /// The numbers of its device and of itself, where there are such numbers.
  ///
  /// When it was changed is no part of it: a log is the same file after the next line. A file system may give the number of
  /// a file that was removed to the next one, which is then taken for the same.
  private let identity: [UInt64]

  /// Measures what is there now.
  init(_ url: URL) {
    self.url = url
    // Those of a link would be its own.
    let path = url.resolvingSymlinksInPath().path
    let attributes = (try? FileManager.default.attributesOfItem(atPath: path)) ?? [:]
    guard attributes[.type] as? FileAttributeType == .typeRegular else {
      (length, identity) = (nil, [])
      return
    }
    length = (attributes[.size] as? NSNumber)?.int64Value
    identity = [.systemNumber, .systemFileNumber].compactMap { (attributes[$0] as? NSNumber)?.uint64Value }
  }

  /// Opens it for reading from its start.
  ///
  /// - Throws: What the file system says, or ``BodyFileReplaced``.
  func open() throws -> any BodyReader {
    let reader = try FileReader(url, atMost: length ?? .max)
    // Looked at behind the opening, so that whatever was opened in the file's place shows.
    guard identity.isEmpty || MeasuredFile(url).identity == identity else { throw BodyFileReplaced() }
    return reader
  }
}

/// What a request's body is to be read from is a folder, a pipe or a device.
struct BodyNotAFile: Error, Hashable, CustomStringConvertible {
  var description: String {
    "The request's body is to be read from something that is no regular file. Send what comes from elsewhere as a stream."
  }
}

/// Another file stands where one of a request's body was measured.
struct BodyFileReplaced: Error, Hashable, CustomStringConvertible {
  var description: String {
    """
    Another file has taken the place of one of the request's body, whose length was announced. Leave a file where it is \
    until it is sent, or make the request again.
    """
  }
}

/// Hands out its reader once.
private final class OnceOnly: Sendable {
  private let unread: Locked<(@Sendable (Int) throws -> Data)?>

  init(_ read: @escaping @Sendable (Int) throws -> Data) {
    unread = Locked(read)
  }

  func take() throws -> any BodyReader {
    guard let read = unread.exchange(nil) else { throw BodyStream.AlreadyRead() }
    return ClosureReader(read)
  }
}

private final class ClosureReader: BodyReader {
  private let next: @Sendable (Int) throws -> Data

  init(_ next: @escaping @Sendable (Int) throws -> Data) {
    self.next = next
  }

  func read(upTo count: Int) throws -> Data { try next(count) }
}
