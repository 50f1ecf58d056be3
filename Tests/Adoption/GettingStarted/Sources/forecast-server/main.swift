import Foundation

// Each line of the input is a request.
let arguments = Array(CommandLine.arguments.dropFirst())
guard let address = arguments.first, let baseURL = URL(string: address) else {
  print("usage: forecast-server https://api.example < cities")
  exit(64)  // EX_USAGE
}
let services = try Services(baseURL: baseURL)
while let city = readLine() { print(await services.answer(city: city)) }
