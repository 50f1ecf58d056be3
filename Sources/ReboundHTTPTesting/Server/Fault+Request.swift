extension Fault {
  /// The body of the request is never read.
  public static let unreadUpload = Fault("unread upload", at: .request, [.stall, .reset])
  /// The connection is reset while the body of the request is on its way.
  public static let resetInUpload = Fault("reset in upload", at: .request, [.readSome(atMost: 1024), .reset])
  /// The body is refused before it is read, and the connection closed.
  public static let refusedUpload = Fault(
    "refused upload",
    at: .request,
    [.send(head(413, length: 0, fields: ["Connection: close"])), .close]
  )
  /// The body is read, slowly, and all is well.
  public static let slowlyReadUpload = Fault(
    "slowly read upload",
    at: .request,
    Array(repeating: .readSome(atMost: 512), count: 4) + [.readBody, .send(head(200, length: 2) + "ok")]
  )
}
