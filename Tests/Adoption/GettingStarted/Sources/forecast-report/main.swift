// A user of the library of the article "A library".
import Forecasts
import Rebound

let policies = try Pipeline<Forecast>("forecasts") {
  Fallback(to: Forecast(city: "anywhere", degrees: 12))
  Timeout(total: .seconds(2))
  Retry(.init(clamping: 1), when: ForecastFailure.isTransient)
}
let forecasts = Forecasts(policies: policies) { city in Forecast(city: city, degrees: 21) }
print(try await forecasts.forecast(for: "Rome").degrees)
