#if Curl
  import Foundation
  import ReboundHTTP
  import ReboundHTTPTesting
  import Testing

  /// A server for HTTP/2 that answers each request with frames that were written down before (RFC 9113 §6).
  ///
  /// OpenSSL has the connection, and a shell behind it reads the client's frames. One connection at a time.
  final class FrameServer: Sendable {
    let port: UInt16
    private let keeper: ShellKeeper

    /// Starts one.
    ///
    /// - Parameter answers: For each request in turn, whichever connection it comes over; the last is for all that follow.
    static func start(_ answers: [Frame]...) async throws -> FrameServer { try await start(answers) }

    /// Starts one, as ``start(_:)`` does.
    static func start(_ answers: [[Frame]]) async throws -> FrameServer {
      let lines = answers.map { $0.map(\.text).joined() }.joined(separator: "\n")
      return try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try FrameServer(lines) }) }
      }
    }

    private init(_ lines: String) throws {
      port = try FreePort.draw()
      keeper = try ShellKeeper(files: ["answers": lines + "\n"], Self.script(port, try TestCertificates.folder.path))
    }

    func url() throws -> URL {
      guard let url = URL(string: "https://127.0.0.1:\(port)/") else { throw URLError(.badURL) }
      return url
    }

    /// How many requests have come.
    var requestCount: Int { requests.count }

    /// What the streams of the requests weigh, where they say so (RFC 7540 §6.2).
    var weights: [Int?] {
      requests.map { line -> Int? in
        let parts = line.split(separator: " ")
        guard let flags = Int(parts[0], radix: 16), flags & 0x28 == 0x20, parts.count == 2 else { return nil }
        return Int(parts[1].suffix(2), radix: 16).map { $0 + 1 }
      }
    }

    /// For each, the flags of its HEADERS frame, and the first five bytes.
    private var requests: [Substring] {
      let lines = try? String(contentsOf: keeper.folder.appending(path: "requests"), encoding: .utf8)
      return lines?.split(separator: "\n") ?? []
    }

    /// A frame is nine bytes (its length, type and flags, and the stream's number) and what they announce.
    private static func script(_ port: UInt16, _ certificates: String) -> String {
      """
      mkfifo up down
      exec 3<>up 4<>down
      take() { head -c "$1" <&3 | od -An -v -tx1 | tr -d ' \\n'; }
      send() { printf "$(sed 's/../\\\\x&/g' <<<"$1")" >&4; }
      go() {
        part=${rest%%P*}
        if [ "$part" = "$rest" ]; then rest=; else rest=${rest#*P}; fi
        if [ "$part" = close ]; then kill -KILL "$server"; else send "${part//D/}"; fi
        case $part in *D*) exec cat <&3 >/dev/null ;; esac
      }
      serve() {
        set +m
        openssl s_server -quiet -alpn h2 -accept 127.0.0.1:\(port) \\
          -cert \(certificates)/server.pem -key \(certificates)/server.key <down >up 3>&- 4>&- &
        server=$!
        mapfile -t answers <answers
        next=0
        rest=
        while true; do
          frame=$(take 9)
          if [ "${frame:0:6}" = 505249 ]; then
            take 15 >/dev/null
            send 000000040000000000
            continue
          fi
          length=$((16#${frame:0:6}))
          payload=
          [ "$length" -eq 0 ] || payload=$(take "$length")
          case ${frame:6:4} in
            0400) send 000000040100000000 ;;
            0601) [ -z "$rest" ] || go ;;
            01*)
              echo "${frame:8:2} ${payload:0:10}" >>requests
              answer=${answers[next]}
              [ "$((next + 1))" -eq "${#answers[@]}" ] || next=$((next + 1))
              rest=${answer//S/${frame:10:8}}
              go
              ;;
          esac
        done
      }
      # In a group of its own, with all that it starts: whoever of it still runs is ended at once, and nobody else.
      set -m
      serve 0</dev/null &
      set +m
      until grep -q ":$(printf %04X \(port)) 00000000:0000 0A" /proc/net/tcp; do sleep 0.01; done
      echo ready
      read -r line
      kill -KILL -- "-$!"
      """
    }
  }

  extension FrameServer {
    /// One frame, for the stream of the request.
    struct Frame: Sendable, CustomTestStringConvertible {
      let testDescription: String
      /// Hexadecimal digits, and marks.
      ///
      /// An S stands for the number of the stream; what is behind a P waits for the answer to a ping, and with a D no more is
      /// read by frames.
      fileprivate let text: String

      private init(_ name: String, _ text: String) {
        (testDescription, self.text) = (name, text)
      }

      private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      }

      /// The status 200 alone, as the static table of RFC 7541 has it.
      static let head = Frame("HEADERS", "0000010104S88")
      /// A part of the body.
      static func data(_ text: String, isLast: Bool = false) -> Frame {
        Frame(
          "DATA",
          "0000" + hexadecimal([UInt8(text.utf8.count)]) + "00" + (isLast ? "01" : "00") + "S" + hexadecimal(text.utf8)
        )
      }
      /// The stream is ended.
      static func reset(_ code: UInt8) -> Frame {
        Frame("RST_STREAM \(code)", "0000040300S000000" + hexadecimal([code]))
      }
      /// The connection is about to end; none but the streams up to that number are dealt with.
      static func goAway(last: UInt8, _ code: UInt8 = 0) -> Frame {
        Frame("GOAWAY \(last)", "000008070000000000" + "000000" + hexadecimal([last]) + "000000" + hexadecimal([code]))
      }
      /// A ping; what is behind it is sent once the client has answered, and so has read what is before.
      static let ping = Frame("PING", "0000080600000000000000000000000000P")
      /// So many pings at once, each of which wants an answer.
      static func pings(_ count: Int) -> Frame {
        Frame("PING", String(repeating: "0000080600000000000000000000000000", count: count) + "D")
      }
      /// So many changes of settings at once, each of which wants an answer.
      static func settings(_ count: Int) -> Frame {
        Frame("SETTINGS", String(repeating: "000000040000000000", count: count) + "D")
      }
      /// What is no frame of a client's taste: data for a stream that nobody has opened.
      static let nonsense = Frame("DATA for nobody", "00000100000000006361")
      /// The connection is closed; behind a ping, or alone.
      static let close = Frame("close", "close")
    }
  }
#endif
