#if Foundation
  import Combine
  import Foundation
  import Testing

  @Suite("Foundation and Combine alone")
  struct FoundationNetworkingTests {
    @Test("they show URLSession on every platform")
    func showsURLSession() {
      #expect(URLSession.shared.dataTaskPublisher(for: URL(fileURLWithPath: "/")).session === URLSession.shared)
    }
  }
#endif
