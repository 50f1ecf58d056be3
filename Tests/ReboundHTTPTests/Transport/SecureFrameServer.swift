#if Curl
  import Foundation
  import ReboundHTTPTesting

  /// A server of frames behind TLS, as clients want it.
  struct SecureFrameServer {
    private let frames: FrameServer
    private let listener: any TLSListener

    /// Starts one, as ``FrameServer/init(_:)`` does.
    static func start(_ answers: [FrameServer.Frame]...) async throws -> SecureFrameServer {
      let frames = try FrameServer(answers)
      let listener = try await OpenSSLTerminator().listen(before: frames.port, offering: ["h2"])
      return SecureFrameServer(frames: frames, listener: listener)
    }

    func url() throws -> URL {
      guard let url = URL(string: "https://127.0.0.1:\(listener.port)/") else { throw URLError(.badURL) }
      return url
    }

    var requestCount: Int { frames.requestCount }
    var weights: [Int?] { frames.weights }
  }
#endif
