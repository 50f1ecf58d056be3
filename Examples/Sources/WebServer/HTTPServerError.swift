import Foundation

/// Why a server couldn't start.
public enum HTTPServerError: Error, Equatable, CustomStringConvertible, LocalizedError {
  /// Another program listens there already.
  case portTaken(address: String, port: UInt16)
  /// The system keeps this port for privileged programs.
  case portForbidden(port: UInt16)
  /// The address isn't an IPv4 address of this machine.
  case addressUnavailable(String)
  /// Something else went wrong.
  case system(operation: String, reason: String)

  /// What happened, and what to do, as a sentence without its full stop.
  public var description: String {
    switch self {
    case .portTaken(let address, let port):
      "Port \(port) is taken: another program listens on \(address):\(port) already"
    case .portForbidden(let port):
      "Port \(port) is reserved by the system: choose one from 1024 on"
    case .addressUnavailable(let address):
      "'\(address)' isn't an IPv4 address of this machine"
    case .system(let operation, let reason):
      "The web server couldn't start: \(operation) failed: \(reason)"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
