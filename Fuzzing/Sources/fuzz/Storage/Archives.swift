import Foundation

@testable import Rebound
@testable import ReboundHTTP
@testable import ReboundHTTPTesting

extension FuzzTarget {
  /// Files of HTTP Archive, from any program, as a cassette reads them.
  static let archives = FuzzTarget(
    "archives",
    seeds: [
      #"""
      {"log":{"version":"1.2","entries":[{"time":12.5,"request":{"method":"POST","url":"https://me:pw@a.example/p?token=x&q=1",
      "headers":[{"name":"Content-Type","value":"multipart/form-data; boundary=b"},{"name":":path","value":"/"}],
      "postData":{"mimeType":"a/b","text":"--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nx\r\n--b--\r\n"}},
      "response":{"status":200,"headers":[{"name":"Set-Cookie","value":"a=1\nb=2"}],"redirectURL":"/x",
      "content":{"size":3,"text":"YWJj","encoding":"base64"}},"timings":{"blocked":-1,"wait":1e300},
      "_events":[{"kind":"head","time":1},{"kind":"chunk","time":1e999,"bytes":-5},{"kind":"end","time":-1}]}]}}
      """#,
      #"{"log":{"entries":[{"request":{"method":"GET","url":"//"},"response":{"status":0,"_error":"net::ERR_CERT_X"}}]}}"#,
      #"{"log":{"entries":[{"request":{"method":"GET","url":"a"},"response":{"status":0},"_failure":{"kind":"proxy.refused.9"}}]}}"#,
    ],
    words: [
      #""_events":"#, #""kind":"#, #""chunk""#, #""bytes":9223372036854775807"#, #""time":1e308"#, #""text":"#,
      #""encoding":"base64""#, #""params":"#, #""postData":"#, #""redirectURL":"#, #""_failure":"#, #""status":0"#,
    ]
  ) { input in
    let data = Data(input.rest())
    guard let archive = try? JSONDecoder().decode(HAR.self, from: data) else { return }
    for entry in archive.log.entries.prefix(50) {
      guard let recording = try? CassetteRecording(entry, .standard) else { continue }
      check(recording, entry)
    }
    guard let written = try? archive.encoded() else { return expect(false, "an archive cannot be written") }
    let again = try? JSONDecoder().decode(HAR.self, from: written)
    expectEqual(try? again?.encoded(), written, "an archive comes back changed")
  }

  private static func check(_ recording: CassetteRecording, _ entry: HAR.Entry) {
    let request = TransportRequest(
      anyURL,
      limits: TransportLimits(connect: .seconds(1), idle: .seconds(1), total: .seconds(9))
    )
    let timeline = recording.timeline(for: request)
    let body = timeline.reduce(0) { sum, moment in
      if case .chunk(let chunk) = moment.event { sum + chunk.count } else { sum }
    }
    let content = (try? entry.response.content?.data())?.map(\.count) ?? 0
    expect(body <= content, "\(body) bytes of a body of \(content)")
    expect(timeline.allSatisfy { $0.time >= .zero }, "something comes before the start")
    for keepsPace in [true, false] {
      let schedule = CassetteSchedule(timeline, limits: request.limits, keepingPace: keepsPace)
      expect(schedule.steps.last?.event.isEnd ?? false, "a replay without an end")
      expect(schedule.steps.allSatisfy { $0.pause >= .zero }, "a pause below zero")
      expect(schedule.steps.reduce(.zero) { $0 + $1.pause } <= .seconds(9), "longer than its limit")
    }
    let sent = CassetteRequest(request, body: Data(), .standard)
    for rule in [CassetteRule].standard { _ = rule.differences(sent, recording.request) }
    for rule in [CassetteRule].standard {
      expectEqual(rule.differences(recording.request, recording.request), [], "a request differs from itself")
    }
  }
}
