import Foundation
import ReboundHTTP
import Testing

@Suite("TransportRequest+description")
struct TransportRequestDescriptionTests {
  @Test("printing or dumping a request shows what it asks for, and no secret")
  func secrets() throws {
    let url = try #require(URL(string: "https://me:s3cret@api.example/a?token=s3cret&q=Rome"))
    let request = TransportRequest(
      url,
      method: .post,
      headers: ["Authorization": "Bearer s3cret", "Accept": "*/*"],
      body: .data(Data("s3cret".utf8))
    )
    #expect("\(request)" == "POST https://…@api.example/a?token=…&q=Rome")
    var dumped = ""
    dump(request, to: &dumped)
    #expect(dumped.contains("*/*"))
    #expect(!"\(dumped) \([request]) \(String(reflecting: request))".contains("s3cret"))
    // The bytes of a short body are listed as numbers.
    #expect(!dumped.contains("- 115\n"))
  }
}
