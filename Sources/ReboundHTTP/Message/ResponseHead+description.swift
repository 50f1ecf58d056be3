extension ResponseHead: CustomStringConvertible, CustomReflectable {
  /// Status and address, secrets replaced as ``Redaction/standard`` says: "200 from https://api.example/weather?q=Rome".
  public var description: String { "\(status) from \(Redaction.standard.url(url))" }
  /// Shows no secrets either.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "status": status, "headers": headers, "url": Redaction.standard.url(url), "httpVersion": httpVersion as Any,
      ]
    )
  }
}
