import Foundation
import Rebound

/// One part of a multipart body.
public struct MultipartPart: Sendable {
  enum Content: Sendable {
    case data(Data)
    case file(URL)
  }

  let name: String
  let fileName: String?
  let contentType: String?
  let content: Content

  /// A field with a text.
  public static func field(_ name: String, _ value: String) -> MultipartPart {
    MultipartPart(name: name, fileName: nil, contentType: nil, content: .data(Data(value.utf8)))
  }

  /// Bytes that appear to the server as a file.
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - data: The bytes.
  ///   - fileName: The name of the file.
  ///   - contentType: What it is.
  public static func data(
    _ name: String,
    _ data: Data,
    fileName: String,
    contentType: String = "application/octet-stream"
  ) -> MultipartPart {
    MultipartPart(name: name, fileName: fileName, contentType: contentType, content: .data(data))
  }

  /// A file, which is read while it is sent.
  ///
  /// Its length is told when the request is made: of one that grows no more is sent, and one that gives way to another, before
  /// a retry, say, is a body that cannot be read (``TransportFailure/Kind-swift.enum/body``).
  ///
  /// - Parameters:
  ///   - name: The name of the field.
  ///   - url: Where the file is.
  ///   - fileName: The name that the server sees; the file's own unless told otherwise.
  ///   - contentType: What it is.
  public static func file(
    _ name: String,
    _ url: URL,
    fileName: String? = nil,
    contentType: String = "application/octet-stream"
  ) -> MultipartPart {
    MultipartPart(
      name: name,
      fileName: fileName ?? url.lastPathComponent,
      contentType: contentType,
      content: .file(url)
    )
  }

  /// The lines between the boundary and the content.
  var header: String {
    var header = "Content-Disposition: form-data; name=\"\(MultipartPart.escaped(name))\""
    if let fileName { header += "; filename=\"\(MultipartPart.escaped(fileName))\"" }
    if let contentType { header += "\r\nContent-Type: \(contentType)" }
    return header + "\r\n\r\n"
  }

  /// Quotes and line breaks would end the name; they are escaped as browsers do (HTML Standard, "multipart/form-data
  /// encoding algorithm").
  private static func escaped(_ name: String) -> String {
    name.replacing([UInt8(ascii: "\r"): "%0D", UInt8(ascii: "\n"): "%0A", UInt8(ascii: "\""): "%22"])
  }
}

/// A multipart body with a boundary that stands nowhere in it.
///
/// The boundary has 128 random bits. Data in memory is searched for it; files are not, since they may be large and may
/// change, and no file contains 128 bits that were drawn after it was written, except by a chance of one in 10³⁸.
struct Multipart {
  private static let drawsOfBoundary = 4

  let body: TransportBody
  let contentType: String

  init(_ parts: [MultipartPart], random: RandomSource) throws {
    let boundary = try Multipart.boundary(for: parts, random: random)
    contentType = "multipart/form-data; boundary=\(boundary)"
    var sections: [BodySection] = []
    for part in parts {
      guard part.contentType.map({ HTTPHeaders.Field("Content-Type", $0).isValid }) ?? true else {
        throw InvalidRequest.Reason.header("Content-Type")
      }
      sections.append(.data(Data("--\(boundary)\r\n\(part.header)".utf8)))
      switch part.content {
      case .data(let data): sections.append(.data(data))
      case .file(let url):
        // Found out now, not in the middle of the exchange.
        _ = try FileReader(url)
        sections.append(.file(MeasuredFile(url)))
      }
      sections.append(.data(Data("\r\n".utf8)))
    }
    sections.append(.data(Data("--\(boundary)--\r\n".utf8)))
    body = .stream(BodyStream(length: BodySection.length(of: sections)) { [sections] in SectionReader(sections) })
  }

  private static func boundary(for parts: [MultipartPart], random: RandomSource) throws -> String {
    for _ in 0..<drawsOfBoundary {
      let words = (0..<4).map { _ in UInt32(random.next() * 0x1p32) }
      let boundary = "rebound-" + words.map { String($0, radix: 16).leftPadded(to: 8) }.joined()
      let needle = Data(boundary.utf8)
      let isContained = parts.contains {
        if case .data(let data) = $0.content { data.range(of: needle) != nil } else { false }
      }
      if !isContained { return boundary }
    }
    throw InvalidRequest.Reason.boundary
  }
}

extension String {
  fileprivate func leftPadded(to length: Int) -> String {
    String(repeating: "0", count: max(length - count, 0)) + self
  }
}

enum BodySection: Sendable {
  case data(Data)
  case file(MeasuredFile)

  /// How long all sections are together; `nil` if a file does not say.
  static func length(of sections: [BodySection]) -> Int64? {
    var sum: Int64 = 0
    for section in sections {
      switch section {
      case .data(let data): sum += Int64(data.count)
      case .file(let file):
        guard let length = file.length else { return nil }
        sum += length
      }
    }
    return sum
  }
}

/// Reads one section after the other, each file opened when its turn comes.
private final class SectionReader: BodyReader {
  private var rest: ArraySlice<BodySection>
  private var current: (any BodyReader)?

  init(_ sections: [BodySection]) {
    rest = sections[...]
  }

  func read(upTo count: Int) throws -> Data {
    while true {
      if let current {
        let piece = try current.read(upTo: count)
        if !piece.isEmpty { return piece }
      }
      guard let next = rest.popFirst() else { return Data() }
      switch next {
      case .data(let data): current = DataReader(data)
      case .file(let file): current = try file.open()
      }
    }
  }
}
