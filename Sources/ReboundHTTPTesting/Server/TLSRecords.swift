import Foundation

/// The few bytes of TLS 1.2 (RFC 5246) that it takes to fail a handshake.
enum TLSRecords {
  /// A fatal alert: handshake_failure.
  static let handshakeFailure: [UInt8] = [0x15, 3, 3, 0, 2, 2, 40]

  /// A server's first flight, up to where a client judges the certificate.
  ///
  /// With the exchange of keys by RSA the server has to sign nothing, so these bytes are the same for every client; and
  /// the private key is not needed, because no client gets further.
  static let selfSignedFlight: [UInt8] = handshake(2, serverHello) + handshake(11, certificates) + handshake(14, [])

  private static let serverHello: [UInt8] =
    [3, 3] + (1...32).map { UInt8($0) } + [0]
    // TLS_RSA_WITH_AES_128_GCM_SHA256, no compression, and the empty renegotiation_info that clients insist on.
    + [0x00, 0x9C, 0, 0, 5, 0xFF, 0x01, 0, 1, 0]

  private static let certificates = vector(vector(certificate))

  private static func handshake(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
    let message = [type] + vector(body)
    return [0x16, 3, 3, UInt8(message.count >> 8), UInt8(message.count & 0xFF)] + message
  }

  /// Bytes behind their count, which takes three.
  private static func vector(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8(bytes.count >> 16), UInt8(bytes.count >> 8 & 0xFF), UInt8(bytes.count & 0xFF)] + bytes
  }

  /// For "localhost" and 127.0.0.1, valid for a hundred years, signed with its own key.
  private static let certificate = [UInt8](
    Data(
      base64Encoded: """
        MIIDOzCCAiOgAwIBAgIUTjDPlhu/k/4X1EQfUOSqtF+VB2YwDQYJKoZIhvcNAQELBQAwHjEcMBoGA1UEAwwTbWlzYmVoYXZpbmcu\
        aW52YWxpZDAgFw0yNjExMjEyMjUzNTRaGA8yMTI2MTAyODIyNTM1NFowHjEcMBoGA1UEAwwTbWlzYmVoYXZpbmcuaW52YWxpZDCC\
        ASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBANQiHpI53TzZuBPqpp+a6XDGfhiAn+Lc1j1Ms29Chz2efEH3xo82LI8Kv/Iw\
        zI+Nq5uid8PZ0TkDnUtPVSKqVxuzCqbHiAKoY0LiNM0VgzY2KmGaW2od7Jyo3XTKP1OhG4xY5UB/d2Tyrl0wxSBFOaTvT/iyqIC7\
        zFJJFrv6KePmM6opEQIOY6C1tqTibdd09jyz4ZzaLvo8VwRRCkCEeBB6pS/68hsvkpeO+et1g0XW0mCTv3Y1j3QNV5kw3Gv3Uo5U\
        gpk7WIScNFlafbDNSgN686BDJMtEJOfCWqJA6QIrQ5CaLkQyx0MvjFl65yizM2beuy0K3/s2PhFcAKD3MksCAwEAAaNvMG0wHQYD\
        VR0OBBYEFKd6R8eoKkI0o8QgPvdUqhLmzyyuMB8GA1UdIwQYMBaAFKd6R8eoKkI0o8QgPvdUqhLmzyyuMA8GA1UdEwEB/wQFMAMB\
        Af8wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA0GCSqGSIb3DQEBCwUAA4IBAQA2stAViyWLqe/CHtjD8RFeO4rQF79Bde0P\
        4ZAKoiyMo6NUzY9umOApz1AiY+9BeHOSwh9A/6sZwm5V68fuNptwd9swK15EkgbCqEMZaIdvMtli6wZwmlzVirvMhBbd3QTJgikV\
        5CalPKV+KYSVkGPwQYL+viSvZUScaeCaqccVYnPpWSroLpgQvRJPQzgFUwevgV73yofmJw0RMglKYBwtXn22Kg8/lsiBtmUF2Mwy\
        9aHs5WbMKWGZsGB+MXXzurOZuyEn9sMvjpkuc0y7iv94WvMWfyrcASfE+P52U/8wGBrVgiNkX0q6qpEkPnqLQ2rl9XYeD3xYC+jb\
        gJCORwXX
        """
    ) ?? Data()
  )
}
