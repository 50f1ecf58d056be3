#if Curl && os(Linux)
  import CCurl
  import Foundation
  import StreamSupport

  /// Whom every connection of this process trusts beside those that the system trusts: for URLSession, which on Linux has no
  /// setting for that.
  ///
  /// It is the process's, so it is for a process that a test starts for itself.
  enum TrustedAuthority {
    private static let file = Locked<String?>(nil)

    /// Has all connections that are made from now on trust the authority of the tests' certificates.
    static func trustTests() throws {
      let path = try TestCertificates.file("ca.pem").path
      file.withLock { $0 = path }
    }

    /// Has a handle of libcurl trust it, if any is to be trusted.
    static func tell(_ handle: UnsafeMutableRawPointer) {
      guard let path = file.withLock({ $0 }) else { return }
      _ = rebound_curl_set_text(handle, CURLOPT_CAINFO, path)
    }
  }
#endif
