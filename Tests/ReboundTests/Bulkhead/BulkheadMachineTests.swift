import Rebound
import Testing

@Suite("BulkheadMachine")
struct BulkheadMachineTests {
  /// What the machine should do, as plainly as it can be said.
  private struct Model {
    let maxQueue: Int
    let order: BulkheadPolicy.Order
    var limit: Int
    var running = 0
    var queue: [(number: Int, priority: Int)] = []
    var last = 0

    mutating func enter(_ priority: Int) -> BulkheadMachine.Admission {
      if running < limit && queue.isEmpty {
        running += 1
        return .granted
      }
      if queue.count >= maxQueue { return .rejected }
      last += 1
      queue.append((last, priority))
      return .queued(last)
    }

    mutating func letIn() -> [Int] {
      var granted: [Int] = []
      while running < limit, !queue.isEmpty {
        let index: Int
        switch order {
        case .fifo: index = 0
        case .lifo: index = queue.count - 1
        case .priority, .earliestDeadline:
          let highest = queue.map(\.priority).max()
          index = queue.firstIndex { $0.priority == highest } ?? 0
        }
        granted.append(queue.remove(at: index).number)
        running += 1
      }
      return granted
    }
  }

  private enum Step: CaseIterable {
    case enter, enterUrgent, leave, abandonFirst, abandonLast, shrink, grow
  }

  @Test(
    "does what a plain list does, in every sequence of six steps",
    arguments: [BulkheadPolicy.Order.fifo, .lifo, .priority, .earliestDeadline]
  )
  func exhaustive(order: BulkheadPolicy.Order) {
    var sequences = 0
    func explore(_ machine: BulkheadMachine, _ model: Model, _ depth: Int) {
      guard depth > 0 else { return }
      for step in Step.allCases {
        var (machine, model) = (machine, model)
        var isSame = true
        switch step {
        case .enter: isSame = machine.enter() == model.enter(0)
        case .enterUrgent: isSame = machine.enter(priority: 1) == model.enter(1)
        case .leave:
          guard model.running > 0 else { continue }
          model.running -= 1
          isSame = machine.leave() == model.letIn()
        case .abandonFirst, .abandonLast:
          guard let number = step == .abandonFirst ? model.queue.first?.number : model.queue.last?.number else {
            isSame = !machine.abandon(99)
            break
          }
          model.queue.removeAll { $0.number == number }
          isSame = machine.abandon(number) && !machine.abandon(number)
        case .shrink:
          guard model.limit > 1 else { continue }
          model.limit -= 1
          isSame = machine.change(limit: model.limit) == model.letIn()
        case .grow:
          guard model.limit < 3 else { continue }
          model.limit += 1
          isSame = machine.change(limit: model.limit) == model.letIn()
        }
        isSame = isSame && machine.running == model.running && machine.queued == model.queue.count
        if !isSame { Issue.record("\(order): \(step) differs at depth \(depth): \(machine) \(model)") }
        // While someone waits all places are taken.
        if machine.queued > 0, machine.running < machine.limit {
          Issue.record("\(order): waits for nothing: \(machine)")
        }
        sequences += 1
        explore(machine, model, depth - 1)
      }
    }
    explore(
      BulkheadMachine(limit: 2, maxQueue: 2, order: order),
      Model(maxQueue: 2, order: order, limit: 2),
      6
    )
    #expect(sequences > 10_000)
  }
}
