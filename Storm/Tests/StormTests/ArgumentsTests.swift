import Testing
import storm

@Suite("The arguments of the command")
struct ArgumentsTests {
  private func complaint(_ line: String) -> String? {
    #expect(throws: Complaint.self) { try Arguments(line.split(separator: " ").map(String.init)) }?.description
  }

  @Test func areTakenInAnyOrder() throws {
    let arguments = try Arguments(["--tuned", "out.json", "own.json", "--tries", "80", "--seed", "7", "--front"])
    #expect(arguments.file == "own.json" && arguments.tuned == "out.json" && arguments.tries == 80)
    #expect(arguments.seed == 7 && arguments.judgesFront && arguments.clients == 20_000)
    #expect(try Arguments(["--clients", "50"]).scenario() == .minuteOfOutage(clients: 50))
  }

  @Test func areRefusedWhereTheyWouldHaveNoEffect() {
    #expect(
      complaint("own.json --clients 50") == "--clients is for the outage alone. Write into own.json how many there are."
    )
    #expect(complaint("--clients 20000 own.json")?.hasPrefix("--clients is for the outage alone.") == true)
    #expect(complaint("own.json other.json") == "There are two files, own.json and other.json. Give one scenario.")
    #expect(complaint("--tries 0") == "--tries is 0. Give a number from 1 to 1000000.")
    #expect(complaint("--front")?.hasPrefix("--front judges the policies that --tuned names") == true)
  }

  @Test func areRefusedWhereTheyMakeNoSense() {
    #expect(complaint("--clients many") == "--clients is many. Give a number from 1 to 100000000.")
    #expect(complaint("--seed") == "--seed needs a value.")
    #expect(complaint("--sky")?.hasPrefix("--sky is unknown.") == true)
  }
}
