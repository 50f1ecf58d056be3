#if Curl
  import Dispatch
  import Foundation
  import ReboundHTTPTesting
  import ReboundHTTP

  /// nginx on a free port of the loopback interface, with TLS and HTTP/2.
  ///
  /// What it answers: `/files/` keeps what is put there, `/large` is a file of 20 MB, `/slow` the same at a crawl,
  /// `/status` the number of requests, `/moved` leads to the other name of this host, all else is "hello". Fields named
  /// X-Connection, X-Protocol, X-Target and X-Client say how, for what and to whom.
  final class NginxServer: Sendable {
    let port: UInt16
    let folder: URL
    private let keeper: ShellKeeper

    static let largeCount = TestCertificates.largeCount

    /// Starts one.
    ///
    /// - Parameters:
    ///   - certificate: Which one it shows: server, other or expired.
    ///   - protocols: What it speaks beside HTTP/1.1.
    ///   - directives: For the server, beside those that are always there.
    static func start(
      certificate: String = "server",
      protocols: String = "http2",
      _ directives: String = ""
    ) async throws -> NginxServer {
      // It takes a while, during which the threads that the tests share have other things to do.
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(with: Result { try NginxServer(certificate, protocols, directives) })
        }
      }
    }

    private init(_ certificate: String, _ protocols: String, _ directives: String) throws {
      (port, keeper) = try NginxServer.keeper(certificate, protocols, directives, attempts: 5)
      folder = keeper.folder
    }

    /// Another process may have drawn the same port.
    private static func keeper(
      _ certificate: String,
      _ protocols: String,
      _ directives: String,
      attempts: Int
    ) throws -> (UInt16, ShellKeeper) {
      let port = try FreePort.draw()
      let text = configuration(port, try TestCertificates.folder.path, certificate, protocols, directives)
      do {
        return (port, try ShellKeeper(files: ["nginx.conf": text], script))
      } catch  where attempts > 1 {
        return try keeper(certificate, protocols, directives, attempts: attempts - 1)
      }
    }

    /// Ends it, and waits for that.
    func stop() {
      keeper.stop()
    }

    func url(_ path: String = "/", host: String = "127.0.0.1") throws -> URL {
      guard let url = URL(string: "https://\(host):\(port)\(path)") else { throw URLError(.badURL) }
      return url
    }

    /// How many requests have reached it, the one that asks for this included.
    func requestCount() async throws -> Int {
      let log = await CurlTransport(try .trustingTests()).outcome(of: try url("/status"))
      let counts = String(decoding: log.body, as: UTF8.self).split(separator: "\n").dropFirst(2).first
      return counts?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// It kills, since nginx inherits the signals that a thread of a test run blocks; and waits until that has closed what
    /// was open, or a connection might still be taken by the port of a server that is about to go.
    private static let script = """
      mkdir files temporary
      nginx -e errors -p "$PWD/" -c nginx.conf || { cat errors; exit 1; }
      until [ -s nginx.pid ]; do sleep 0.01; done
      echo ready
      read -r line
      number=$(cat nginx.pid)
      kill -KILL "$number"
      while [ -e "/proc/$number/fd/0" ]; do sleep 0.01; done
      """

    private static func configuration(
      _ port: UInt16,
      _ certificates: String,
      _ certificate: String,
      _ protocols: String,
      _ directives: String
    ) -> String {
      """
      daemon on;
      master_process off;
      pid nginx.pid;
      events { worker_connections 512; }
      http {
        access_log off;
        # A busy test may come back to a connection, or read on, long after the usual minute.
        keepalive_timeout 1h;
        send_timeout 1h;
        client_header_timeout 1h;
        client_body_timeout 1h;
        proxy_read_timeout 1h;
        client_body_temp_path temporary/body;
        proxy_temp_path temporary/proxy;
        fastcgi_temp_path temporary/fastcgi;
        uwsgi_temp_path temporary/uwsgi;
        scgi_temp_path temporary/scgi;
        server {
          listen 127.0.0.1:\(port) ssl \(protocols);
          ssl_certificate \(certificates)/\(certificate).pem;
          ssl_certificate_key \(certificates)/\(certificate).key;
          ssl_client_certificate \(certificates)/ca.pem;
          client_max_body_size 64m;
          root .;
          add_header X-Connection $connection always;
          add_header X-Protocol $server_protocol always;
          add_header X-Target "$host $request_uri" always;
          add_header X-Client "$ssl_client_s_dn" always;
          \(directives)
          location / { return 200 "hello"; }
          location /files/ { dav_methods PUT; }
          location = /large { root \(certificates); }
          location = /slow { limit_rate 1k; limit_rate_after 1k; root \(certificates); try_files /large =404; }
          location = /status { stub_status; }
          location = /moved { return 302 https://localhost:$server_port/; }
        }
      }
      """
    }
  }

  extension CurlTransport.Configuration {
    /// Trusts the authority of the test's certificates, and asks no proxy.
    static func trustingTests() throws -> CurlTransport.Configuration {
      var configuration = CurlTransport.Configuration()
      configuration.certificateAuthorities = try .system(and: TestCertificates.file("ca.pem"))
      configuration.proxy = .none
      return configuration
    }
  }

  extension CurlTransport {
    /// Sends a request, and waits for the end, however busy the machine is: who wants a limit of time says so.
    func outcome(of request: TransportRequest) async -> TransportLog {
      var request = request
      if request.limits == .standard { request.limits = .none }
      let log = TransportLog()
      let exchange = start(request, telling: log.add)
      await log.end()
      exchange.cancel()
      return log
    }

    /// Asks for an address, and waits for the end.
    func outcome(of url: URL) async -> TransportLog {
      await outcome(of: TransportRequest(url))
    }
  }
#endif
