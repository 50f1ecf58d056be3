import Combine
import ReboundTesting

/// Runs streams in virtual time, and writes down what each subscription gets.
final class StreamStage {
  let scheduler = TestScheduler()
  private var inputs: [StreamPicture.Row] = []
  private var outputs: [(label: String, start: Duration, row: () -> StreamPicture.Row)] = []

  /// A source whose first subscriber hears the first row of marbles, the second one the second, and later ones the last.
  func source(_ label: String, _ rows: String...) throws -> AnyPublisher<String, MarbleFailure> {
    let sources = try rows.map { try MarblePublisher(cold: $0, on: scheduler) }
    var count = 0
    return Deferred { [self] in
      let source = sources[min(count, sources.count - 1)]
      count += 1
      return tapped(source, rows.count > 1 ? "\(label) \(count)" : label)
    }
    .eraseToAnyPublisher()
  }

  private func tapped(
    _ source: some Publisher<String, MarbleFailure>,
    _ label: String
  ) -> AnyPublisher<String, MarbleFailure> {
    let index = inputs.count
    inputs.append(StreamPicture.Row(label: label, start: now))
    let note = { [self] (mark: StreamPicture.Row.Mark) in inputs[index].marks.append((now, mark)) }
    return source.handleEvents(
      receiveOutput: { note(.value($0.first ?? "•")) },
      receiveCompletion: { if case .finished = $0 { note(.finish) } else { note(.failure) } },
      receiveCancel: { note(.cancel) }
    )
    .eraseToAnyPublisher()
  }

  private var now: Duration { VirtualTime.start.distance(to: scheduler.now).duration }

  /// Subscribes now.
  func listen<Output, Failure>(
    _ label: String,
    to publisher: some Publisher<Output, Failure>,
    naming name: @escaping (Output) -> Character = { "\($0)".first ?? "•" }
  ) {
    let recorder = Recorder<Output, Failure>(on: scheduler)
    let start = now
    publisher.subscribe(recorder)
    outputs.append(
      (
        label, start,
        {
          var row = StreamPicture.Row(label: label, start: start)
          for entry in recorder.entries {
            let time = VirtualTime.start.distance(to: entry.time).duration
            switch entry.event {
            case .subscription: break
            case .value(let value): row.marks.append((time, .value(name(value))))
            case .completion(.finished): row.marks.append((time, .finish))
            case .completion(.failure): row.marks.append((time, .failure))
            }
          }
          return row
        }
      )
    )
  }

  /// Lets time run until nothing waits, and draws what was.
  func picture(_ title: String, _ code: String) throws -> String {
    try scheduler.run()
    return StreamPicture(title: title, code: code, inputs: inputs, outputs: outputs.map { $0.row() }).svg
  }
}
