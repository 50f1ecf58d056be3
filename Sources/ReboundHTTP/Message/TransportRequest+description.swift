extension TransportRequest: CustomStringConvertible, CustomReflectable {
  /// Method and address, secrets replaced as ``Redaction/standard`` says: "GET https://api.example/weather?q=Rome".
  public var description: String { "\(method) \(Redaction.standard.url(url))" }
  /// Shows no secrets either, and no body.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: ["method": method, "url": Redaction.standard.url(url), "headers": headers, "limits": limits]
    )
  }
}
