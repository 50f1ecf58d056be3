#if Curl
  import CCurl
  import Foundation

  extension CurlTransport {
    /// Who may vouch for servers.
    public struct CertificateAuthorities: Hashable, Sendable {
      enum Choice: Hashable {
        case system
        case systemAnd(String)
        case only(String)
      }

      let choice: Choice

      private init(_ choice: Choice) {
        self.choice = choice
      }

      /// Those that the system trusts.
      public static let system = CertificateAuthorities(.system)

      /// Those that the system trusts, and those in a file.
      ///
      /// - Parameter file: Certificates in PEM; read again for each connection, so it must stay where it is.
      /// - Throws: ``InvalidCertificateFile``, also if libcurl was built without a folder of the system's authorities: the
      ///   file would stand in their place.
      public static func system(and file: URL) throws(InvalidCertificateFile) -> CertificateAuthorities {
        guard CurlTransport.hasFolderOfAuthorities else { throw .noSystemFolder }
        return CertificateAuthorities(.systemAnd(try pem("CERTIFICATE", in: file)))
      }

      /// Those in a file, and nobody else.
      ///
      /// - Parameter file: Certificates in PEM; read again for each connection, so it must stay where it is.
      /// - Throws: ``InvalidCertificateFile`` if it cannot be read, or holds no certificate.
      public static func only(_ file: URL) throws(InvalidCertificateFile) -> CertificateAuthorities {
        CertificateAuthorities(.only(try pem("CERTIFICATE", in: file)))
      }
    }

    /// What shows a server who asks, if the server wants to know.
    ///
    /// Every server of the transport that asks for a certificate gets to see it.
    public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
      let certificateFile: String
      let keyFile: String
      let password: String?

      /// Names a certificate and its key; both are read again for each connection.
      ///
      /// - Parameters:
      ///   - certificate: The certificate in PEM, with those between it and an authority behind it.
      ///   - key: Its private key in PEM.
      ///   - password: What the key is encrypted with, if it is.
      /// - Throws: ``InvalidCertificateFile`` if one cannot be read, or holds nothing of its kind.
      public init(certificate: URL, key: URL, password: String? = nil) throws(InvalidCertificateFile) {
        certificateFile = try pem("CERTIFICATE", in: certificate)
        keyFile = try pem("PRIVATE KEY", in: key)
        self.password = password
      }

      /// Where it is; never the password.
      public var description: String { "client certificate \(certificateFile)" }
      /// Shows no password either.
      public var customMirror: Mirror { Mirror(self, children: ["certificate": certificateFile]) }
    }

    /// Whether libcurl looks for the system's authorities in a folder, which it does beside any file.
    private static let hasFolderOfAuthorities: Bool = {
      guard let handle = CurlHandle() else { return false }
      defer { handle.free() }
      var path: UnsafePointer<CChar>?
      return rebound_curl_get_text(handle.easy, CURLINFO_CAPATH, &path) == CURLE_OK && path != nil
    }()
  }

  /// Why a file of certificates or keys cannot be used.
  public enum InvalidCertificateFile: Error, Hashable, Sendable {
    /// It cannot be read.
    case unreadable(path: String)
    /// It holds nothing of the kind in PEM.
    case missing(String, path: String)
    /// libcurl was built without a folder of the system's authorities, so that a file cannot add to them.
    case noSystemFolder
  }

  extension InvalidCertificateFile: LocalizedError, CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String {
      switch self {
      case .unreadable(let path): "'\(path)' cannot be read: check the path and the rights"
      case .missing(let kind, let path): "'\(path)' has no '-----BEGIN … \(kind)-----': it should be in PEM"
      case .noSystemFolder:
        "this libcurl keeps the system's authorities in one file, to which none can be added: name all in one file"
      }
    }

    /// What is wrong, and what to do.
    public var errorDescription: String? { description }
  }

  /// The path of a file once it is known that something of a kind stands in it.
  private func pem(_ kind: String, in file: URL) throws(InvalidCertificateFile) -> String {
    let path = file.path
    guard let data = FileManager.default.contents(atPath: path) else { throw .unreadable(path: path) }
    let text = String(decoding: data, as: UTF8.self)
    let isThere = text.split(separator: "\n").contains { $0.hasPrefix("-----BEGIN ") && $0.contains("\(kind)-----") }
    guard isThere else { throw .missing(kind, path: path) }
    return path
  }
#endif
