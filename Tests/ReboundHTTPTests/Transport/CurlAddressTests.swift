import Expectations

#if Curl
  import Foundation
  import Testing

  @testable import ReboundHTTP

  @Suite("CurlAddress")
  struct CurlAddressTests {
    @Test(
      "what is before the path tells where to ask, unless libcurl is to read more out of the address",
      arguments: [
        ("http://api.example/", "http://api.example"),
        ("https://api.example:8443/a/b?c=d@e/f", "https://api.example:8443"),
        ("http://[::1]:80/a?", "http://[::1]:80"),
        ("http://API_1.example//a", "http://API_1.example"),
        ("http://api.example", nil),
        ("http://api.example?a=/b", nil),
        ("http://me@api.example/", nil),
        ("http://me:secret@api.example/", nil),
        ("http://api.example/a#b", nil),
        ("http://api.example#/a", nil),
      ]
    )
    func origins(address: String, origin: String?) throws {
      expectEqual(CurlAddress(Address(try #require(URL(string: address)))).origin, origin)
    }

    @Test(
      "an address has the origin of another only where it is written in the same way",
      arguments: [
        ("http://api.example", true), ("http://api.exampl", false), ("http://api.example/", false),
        ("http://API.example", false), ("https://api.example", false), ("", false),
      ]
    )
    func spelling(origin: String, isSame: Bool) throws {
      expectEqual(CurlAddress(Address(try #require(URL(string: "http://api.example/a")))).hasOrigin(origin), isSame)
    }
  }
#endif
