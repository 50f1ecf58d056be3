#if os(Linux)
  import Foundation
  import Rebound
  import Testing

  @testable import ReboundHTTP

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  @Suite("URLSessionPool")
  struct URLSessionPoolTests {
    private static let pool = URLSessionPool(.ephemeral, ManualReachability())

    private static func session(_ host: String) throws -> OwnedURLSession {
      let url = try #require(URL(string: "http://\(host).invalid/"))
      return pool.session(for: TransportRequest(url))
    }

    @Test("an origin keeps its session, until a request in it has taken too long")
    func givenUp() throws {
      let (first, other) = (try Self.session("a"), try Self.session("b"))
      #expect(try Self.session("a") === first)
      Self.pool.giveUp(first)
      let second = try Self.session("a")
      #expect(second !== first)
      #expect(try Self.session("b") === other)
      // A request in the old one that ends late.
      Self.pool.giveUp(first)
      #expect(try Self.session("a") === second)
    }

    @Test("what says that it is not idempotent gets a connection of its own, whatever its method")
    func notIdempotent() throws {
      let url = try #require(URL(string: "http://c.invalid/"))
      var request = TransportRequest(url)
      #expect(Self.pool.session(for: request) === Self.pool.session(for: request))
      request.isNotIdempotent = true
      #expect(Self.pool.session(for: request) !== Self.pool.session(for: request))
    }
  }
#endif
