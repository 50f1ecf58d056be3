import Foundation

extension HAR {
  /// The archive without secrets, whoever has written it, and without what has no place here: cookies, and what other
  /// programs keep in fields of their own.
  package func redacted(_ redaction: Redaction) throws(UndecodableBody) -> HAR {
    var entries: [Entry] = []
    for entry in log.entries { entries.append(try entry.redacted(redaction)) }
    return HAR(entries)
  }
}

extension HAR.Entry {
  fileprivate func redacted(_ redaction: Redaction) throws(HAR.UndecodableBody) -> HAR.Entry {
    var entry = self
    entry.request = try request.redacted(redaction)
    entry.response = try response.redacted(redaction)
    entry.cache = .object([:])
    entry.comment = comment.map(redaction.prose)
    entry.failure?.detail = failure?.detail.map(redaction.prose)
    return entry
  }
}

extension HAR.Request {
  fileprivate func redacted(_ redaction: Redaction) throws(HAR.UndecodableBody) -> HAR.Request {
    var request = self
    request.url = redaction.archived(address: url)
    request.headers = redaction.headers(HAR.headers(headers)).map { HAR.Pair(name: $0.name, value: $0.value) }
    request.cookies = .array([])
    // It says once more what the address says.
    request.queryString = []
    if let postData {
      let type = HAR.headers(headers)["Content-Type"] ?? postData.mimeType
      let (text, encoding) = HAR.text(of: redaction.archived(try postData.data(), type: type))
      request.postData = HAR.PostData(mimeType: postData.mimeType ?? type, text: text, encoding: encoding)
    }
    return request
  }
}

extension HAR.Response {
  fileprivate func redacted(_ redaction: Redaction) throws(HAR.UndecodableBody) -> HAR.Response {
    var response = self
    response.headers = redaction.headers(HAR.headers(headers)).map { HAR.Pair(name: $0.name, value: $0.value) }
    response.cookies = .array([])
    response.redirectURL = redirectURL.map(redaction.archived(address:))
    if let content, let body = try content.data(), !body.isEmpty {
      let type = HAR.headers(headers)["Content-Type"] ?? content.mimeType
      let archived = redaction.archived(body, type: type)
      let (text, encoding) = HAR.text(of: archived)
      response.content = HAR.Content(
        size: Int64(archived.count),
        mimeType: content.mimeType,
        text: text,
        encoding: encoding
      )
    }
    return response
  }
}
