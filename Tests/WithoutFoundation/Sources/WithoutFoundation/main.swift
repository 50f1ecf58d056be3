import Combine
import Dispatch

// Operators, subjects, a scheduler of Dispatch, properties and async sequences: linked, and seen to work.
final class Model: ObservableObject {
  @Published var number = 0
}

let model = Model()
let numbers = PassthroughSubject<Int, Never>()
let assigned = numbers.map { $0 * 2 }.filter { $0 > 2 }.assign(to: \.number, on: model)
for number in 1...3 { numbers.send(number) }
precondition(model.number == 6)

let queue = DispatchQueue(label: "values")
let groups = (1...5).publisher.receive(on: queue).collect(2).delay(for: 0, scheduler: queue)
var received: [[Int]] = []
for await group in groups.values { received.append(group) }
precondition(received == [[1, 2], [3, 4], [5]])
print("works")
assigned.cancel()
