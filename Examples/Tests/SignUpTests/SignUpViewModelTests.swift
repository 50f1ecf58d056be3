import Attempts
import Combine
import Foundation
import Rebound
import ReboundHTTP
import ReboundTelemetry
import ReboundTesting
import Testing

@testable import SignUp

@Suite("The sign-up form")
struct SignUpViewModelTests {
  private let scheduler = TestScheduler()
  private let server = ScriptedServer()
  private let form: SignUpViewModel<TestScheduler>

  init() {
    // Full jitter with a draw of one half, so that delays are known.
    form = SignUpViewModel(
      service: server,
      log: AttemptLog(scheduler: scheduler, now: { Date(timeIntervalSince1970: 0) }),
      scheduler: scheduler,
      policy: .userNameCheck(random: RandomSource { 0.5 }),
      makeKey: { [server] in server.nextKey() }
    )
  }

  /// Types a text letter by letter, 0.1 s apart.
  private func type(_ text: String) {
    for end in text.indices {
      form.userName = String(text[...end])
      scheduler.advance(by: .milliseconds(100))
    }
  }

  private func pause() { scheduler.advance(by: .milliseconds(800)) }

  private func typePasswords(_ text: String = "correct horse") {
    form.password = text
    form.passwordConfirmation = text
  }

  // MARK: One question per pause

  @Test("one pause in the typing makes one request, and no keystroke makes another")
  func onePause() {
    type("somebody")
    pause()
    #expect(server.askedNames == ["somebody"])
    #expect(server.checks[0].subscriptionCount == 1)
  }

  @Test("an untouched form asks nothing")
  func untouched() {
    scheduler.advance(by: .seconds(10))
    #expect(server.askedNames.isEmpty)
    #expect(form.userNameMessage == "")
  }

  @Test("a name that is changed and changed back before the pause is over is not asked for again")
  func backAgain() {
    type("somebody")
    pause()
    server.answer(.success(false))
    scheduler.advance()
    form.userName = "somebodyx"
    #expect(form.userNameMessage == "")
    form.userName = "somebody"
    #expect(form.userNameMessage == "This username is not available")
    pause()
    #expect(server.askedNames == ["somebody"])
  }

  @Test("an answer to an older name never wins")
  func stale() {
    type("page")
    pause()
    type("rs")
    pause()
    #expect(server.askedNames == ["page", "rs"])
    #expect(server.checks[0].cancelCount == 1)
    server.answer(.success(true), to: 1)
    server.answer(.success(false), to: 0)
    scheduler.advance()
    #expect(form.isUserNameValid)
    #expect(form.userNameMessage == "")
  }

  @Test("an answer that comes in the pause after an edit says nothing about the new name", arguments: [true, false])
  func staleInPause(isAvailable: Bool) {
    typePasswords()
    type("page")
    pause()
    form.userName = "pages"
    server.answer(.success(isAvailable))
    scheduler.advance()
    #expect(form.userNameMessage == "")
    #expect(!form.isUserNameValid)
    #expect(!form.isUserNameAvailable)
    form.submit()
    #expect(server.signUps.isEmpty)
    pause()
    #expect(server.askedNames == ["page", "pages"])
  }

  @Test("an answer that came in the pause after an edit is there when the old name is back")
  func staleThenBack() {
    type("page")
    pause()
    form.userName = "pages"
    server.answer(.success(false))
    scheduler.advance()
    form.userName = "page"
    #expect(form.userNameMessage == "This username is not available")
    #expect(!form.isCheckingUserName)
    scheduler.advance(by: .seconds(60))
    #expect(server.askedNames == ["page"])
  }

  @Test("an alert about an older name waits until that name is back, and comes up once")
  func staleAlert() throws {
    type("somebody")
    pause()
    form.userName = "somebodyelse"
    server.answer(.failure(.decoding(URLError(.cannotDecodeRawData))))
    scheduler.advance()
    #expect(form.alert == nil)
    form.userName = "somebody"
    form.choose("later", on: try #require(form.alert?.id))
    form.userName = "somebodyelse"
    form.userName = "somebody"
    #expect(form.alert == nil)
  }

  @Test("a lost connection under an older name asks again for the new one only")
  func staleOffline() {
    type("page")
    pause()
    form.userName = "pages"
    server.answer(.failure(.transport(URLError(.notConnectedToInternet))))
    pause()
    scheduler.advance(by: .seconds(60))
    #expect(server.askedNames == ["page", "pages"])
    #expect(form.isCheckingUserName)
  }

  @Test("the spinner runs from the request to the answer")
  func spinner() {
    type("somebody")
    #expect(!form.isCheckingUserName)
    pause()
    #expect(form.isCheckingUserName)
    server.answer(.success(true))
    scheduler.advance()
    #expect(!form.isCheckingUserName)
    #expect(form.isUserNameAvailable)
  }

  // MARK: What each answer means

  @Test(
    "message, validity and alert for each answer",
    arguments: [
      (Result<Bool, APIError>.success(true), "", true, false),
      (.success(false), "This username is not available", false, false),
      (.failure(.validation("Username is too short.")), "Username is too short.", false, false),
      (.failure(.transport(URLError(.cannotConnectToHost))), "", true, false),
      (
        .failure(.decoding(URLError(.cannotDecodeRawData))),
        "The server's answer has a form that this version does not know. Please update the app to the latest version.",
        false, true
      ),
      (
        .failure(.captivePortal),
        "This network wants you to log in first. Open a browser, log in to the network, and try again.", false, false
      ),
      (
        .failure(.invalidRequest("no host")),
        "This can't be sent to the server. Check what you typed, and try again.", false, false
      ),
      (
        .failure(.invalidResponse), "The server gave an answer that isn't one. Please try again later.", false, false
      ),
      (
        .failure(.server(status: 500, reason: "The database is corrupted", retryAfter: nil)),
        "The database is corrupted", false, false
      ),
      (.failure(.server(status: 500, reason: nil, retryAfter: nil)), "Server error", false, false),
    ]
  )
  func answers(result: Result<Bool, APIError>, message: String, isValid: Bool, showsUpdate: Bool) {
    type("somebody")
    pause()
    server.answer(result)
    scheduler.advance()
    #expect(form.userNameMessage == message)
    #expect(form.isUserNameValid == isValid)
    #expect(form.showUpdateDialog == showsUpdate)
    #expect((form.alert?.title == "Please update") == showsUpdate)
    #expect(form.alert?.choices.map(\.title).first == (showsUpdate ? "Upgrade" : form.alert.map { _ in "Try again" }))
  }

  @Test("a captive portal gets advice of its own")
  func captivePortal() {
    type("somebody")
    pause()
    server.answer(.failure(.captivePortal))
    scheduler.advance()
    #expect(form.alert?.title == "Log in to this network")
  }

  @Test("the update alert is dismissed once and for all, and only by its own choices")
  func dismissal() throws {
    type("somebody")
    pause()
    server.answer(.failure(.decoding(URLError(.cannotDecodeRawData))))
    scheduler.advance()
    let alert = try #require(form.alert)
    #expect(alert.choices.map(\.title) == ["Upgrade", "Not now"])
    form.choose("later", on: "another surface")
    #expect(form.alert == alert)
    form.choose("later", on: alert.id)
    form.choose("later", on: alert.id)
    #expect(form.alert == nil)
  }

  @Test("typing through a name that called for an update does not raise the alert again")
  func alertOnce() throws {
    type("somebody")
    pause()
    server.answer(.failure(.decoding(URLError(.cannotDecodeRawData))))
    scheduler.advance()
    form.choose("later", on: try #require(form.alert?.id))
    form.userName = ""
    type("somebodyelse")
    #expect(form.alert == nil)
  }

  // MARK: Offline

  @Test("offline while typing is no message: local rules decide, and a sign says that nothing is in sync yet")
  func offlineWhileTyping() {
    type("somebody")
    pause()
    server.answer(.failure(.transport(URLError(.notConnectedToInternet))))
    scheduler.advance()
    typePasswords()
    #expect(form.userNameMessage == "")
    #expect(!form.isInSync)
    #expect(form.canSubmit)
  }

  @Test("offline, a name that local rules refuse can't be submitted")
  func offlineLocalRules() {
    type("abc")
    pause()
    server.answer(.failure(.transport(URLError(.notConnectedToInternet))))
    scheduler.advance()
    typePasswords()
    #expect(!form.canSubmit)
  }

  @Test("offline, the name is asked for again ever less often until the server answers")
  func recheck() {
    type("page")
    pause()
    let offline = Result<Bool, APIError>.failure(.transport(URLError(.notConnectedToInternet)))
    for (count, delay) in [1, 2, 3, 5, 5].enumerated() {
      server.answer(offline)
      scheduler.advance()
      scheduler.advance(by: .milliseconds(delay * 1000 - 1))
      #expect(server.askedNames.count == count + 1)
      scheduler.advance(by: .milliseconds(1))
      #expect(server.askedNames.count == count + 2)
    }
    server.answer(.success(false))
    scheduler.advance(by: .seconds(60))
    #expect(server.askedNames.count == 6)
    #expect(form.isInSync)
    #expect(form.userNameMessage == "This username is not available")
  }

  @Test("offline on submit is shown, and nothing that was typed is lost")
  func offlineOnSubmit() {
    submit(failingWith: URLError(.cannotConnectToHost))
    #expect(form.toast?.text.contains("offline") == true)
    #expect(form.userName == "somebody")
    #expect(form.password == "correct horse")
    #expect(form.canSubmit)
  }

  @Test("a lost answer to a sign-up is no answer: the account may be there, and the same wish is sent again")
  func lostAnswerOnSubmit() {
    submit(failingWith: NetworkFailure(.transport(.truncated), underlying: TransportFailure(.truncated)))
    #expect(form.toast?.text.contains("not known whether your account was made") == true)
    #expect(form.isInSync)
    // The account that was made would have the name.
    scheduler.advance(by: .seconds(60))
    #expect(server.askedNames == ["somebody"])
    #expect(form.canSubmit)
    form.submit()
    #expect(server.signUps.map(\.key) == ["key 1", "key 1"])
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance()
    #expect(form.account?.userName == "somebody")
    #expect(form.isInSync)
  }

  @Test("a sign-up that has not reached the server was not made")
  func refusedOnSubmit() {
    submit(failingWith: NetworkFailure(.transport(.connect), underlying: TransportFailure(.connect)))
    #expect(form.toast?.text.contains("your account was not made") == true)
    scheduler.advance(by: .seconds(1))
    #expect(server.askedNames == ["somebody", "somebody"])
  }

  @Test("offline on submit, the sign that nothing is in sync goes when the server is back")
  func syncAfterSubmit() {
    submit(failingWith: URLError(.cannotConnectToHost))
    #expect(!form.isInSync)
    scheduler.advance(by: .seconds(1))
    server.answer(.success(true))
    scheduler.advance()
    #expect(form.isInSync)
    #expect(form.canSubmit)
  }

  @Test("the sign that nothing is in sync goes by itself, also after an edit that was taken back")
  func syncAfterEdit() {
    submit(failingWith: URLError(.cannotConnectToHost))
    form.userName = "somebodyx"
    form.userName = "somebody"
    #expect(!form.isInSync)
    scheduler.advance(by: .seconds(3))
    #expect(server.askedNames == ["somebody", "somebody"])
    server.answer(.success(true))
    scheduler.advance()
    #expect(form.isInSync)
  }

  @Test(
    "a server that answers a sign-up is in sync, whatever it says",
    arguments: [
      Result<Account, APIError>.success(Account(userName: "somebody")), .failure(.validation("no")),
      .failure(.server(status: 503, reason: nil, retryAfter: .seconds(60))),
    ]
  )
  func syncBySubmit(answer: Result<Account, APIError>) {
    submit(failingWith: URLError(.cannotConnectToHost))
    form.submit()
    #expect(!form.isInSync)
    server.answerSignUp(answer)
    scheduler.advance()
    #expect(form.isInSync)
  }

  // MARK: Retries

  @Test(
    "a refused name is never asked for again by itself",
    arguments: [
      APIError.validation("no"), .decoding(URLError(.cannotDecodeRawData)), .captivePortal,
      .server(status: 500, reason: "The database is corrupted", retryAfter: nil),
    ]
  )
  func neverRetried(error: APIError) {
    type("somebody")
    pause()
    server.answer(.failure(error))
    scheduler.advance(by: .seconds(60))
    #expect(server.checks[0].subscriptionCount == 1)
    #expect(server.askedNames.count == 1)
  }

  @Test("maintenance is waited for as long as the server asks and a little longer, twice at the most")
  func retryAfter() {
    type("maintenance")
    pause()
    let maintenance = APIError.server(status: 500, reason: "Temporarily unavailable", retryAfter: .seconds(2))
    // On top of the two seconds comes the back-off's share, so that not everybody comes back at once.
    for (attempt, delay) in [(1, 2_250), (2, 2_500)] {
      #expect(server.checks[0].subscriptionCount == attempt)
      server.answer(.failure(maintenance))
      scheduler.advance(by: .milliseconds(delay - 1))
      #expect(server.checks[0].subscriptionCount == attempt)
      scheduler.advance(by: .milliseconds(1))
    }
    #expect(server.checks[0].subscriptionCount == 3)
    server.answer(.failure(maintenance))
    scheduler.advance(by: .seconds(60))
    #expect(server.checks[0].subscriptionCount == 3)
    #expect(form.userNameMessage == "Temporarily unavailable")
    #expect(form.attempts.map(\.number) == [1, 2, 3])
    #expect(
      form.attempts.map(\.next)
        == ["retrying in 2.2 s (Retry-After)", "retrying in 2.5 s (Retry-After)", "giving up after 3 attempts"]
    )
  }

  @Test("an overloaded server is given the back-off's time")
  func backoff() {
    type("somebody")
    pause()
    server.answer(.failure(.server(status: 503, reason: nil, retryAfter: nil)))
    scheduler.advance()
    #expect(form.attempts.last?.next == "retrying in 0.2 s (back-off)")
    scheduler.advance(by: .milliseconds(250))
    server.answer(.success(true))
    scheduler.advance()
    #expect(form.attempts.map(\.outcome) == ["503 Server error", "200 available"])
    #expect(form.isUserNameAvailable)
  }

  @Test("a new name ends the retries of the old one")
  func retriesEnd() {
    type("maintenance")
    pause()
    server.answer(.failure(.server(status: 500, reason: nil, retryAfter: .seconds(2))))
    scheduler.advance()
    form.userName = "somebody"
    scheduler.advance(by: .seconds(30))
    #expect(server.checks[0].subscriptionCount == 1)
    #expect(server.askedNames == ["maintenance", "somebody"])
  }

  // MARK: Submitting

  private func fillForm() {
    type("somebody")
    pause()
    server.answer(.success(true))
    scheduler.advance()
    typePasswords()
  }

  private func submit(failingWith error: any Error) {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.transport(error)))
    scheduler.advance()
  }

  @Test("the form can be sent only when every rule holds")
  func rules() {
    type("somebody")
    pause()
    #expect(!form.canSubmit)
    server.answer(.success(true))
    scheduler.advance()
    #expect(!form.canSubmit)
    typePasswords("short")
    #expect(form.passwordMessage == "Password must have at least 8 characters")
    #expect(!form.canSubmit)
    form.password = "correct horse"
    #expect(form.confirmationMessage == "The passwords do not match")
    #expect(!form.canSubmit)
    form.passwordConfirmation = "correct horse"
    #expect(form.canSubmit)
    form.userName = "somebodyelse"
    #expect(!form.canSubmit)
  }

  @Test("a second press while the account is being made sends nothing")
  func once() {
    fillForm()
    form.submit()
    form.submit()
    #expect(server.signUps.count == 1)
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance()
    #expect(form.account == Account(userName: "somebody"))
  }

  @Test("a name that was taken meanwhile is refused beside its field")
  func takenMeanwhile() {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.validation("This username is not available")))
    scheduler.advance()
    #expect(form.userNameMessage == "This username is not available")
    #expect(!form.canSubmit)
  }

  @Test("a refused password is refused beside its field until it is changed")
  func refusedPassword() {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.validation("Password must not be a sentence")))
    scheduler.advance()
    #expect(form.passwordMessage == "Password must not be a sentence")
    typePasswords("correct stable")
    #expect(form.passwordMessage == "")
    #expect(form.canSubmit)
  }

  @Test("maintenance takes the screen, counts down, tries again by itself with the same key, and goes")
  func outage() {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.server(status: 503, reason: "Maintenance", retryAfter: .seconds(3))))
    scheduler.advance()
    #expect(form.outage?.secondsLeft == 3)
    scheduler.advance(by: .seconds(1))
    #expect(form.outage?.secondsLeft == 2)
    scheduler.advance(by: .seconds(1))
    #expect(form.outage?.secondsLeft == 1)
    #expect(server.signUps.count == 1)
    scheduler.advance(by: .seconds(1))
    #expect(server.signUps.count == 2)
    #expect(form.outage?.isRetrying == true)
    #expect(server.signUps[0].key == server.signUps[1].key)
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance(by: .seconds(60))
    #expect(form.outage == nil)
    #expect(form.account != nil)
    #expect(server.signUps.count == 2)
  }

  @Test("the wait can be cut short, or left for the form with everything kept")
  func outageChoices() throws {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .seconds(60))))
    scheduler.advance()
    form.choose("retry", on: try #require(form.outage?.id))
    #expect(server.signUps.count == 2)
    server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .seconds(60))))
    scheduler.advance()
    form.choose("back", on: try #require(form.outage?.id))
    #expect(form.outage == nil)
    #expect(form.canSubmit)
    scheduler.advance(by: .seconds(120))
    #expect(server.signUps.count == 2)
  }

  @Test("a server that asks for no pause gets one of a second all the same, and its outage stays the same one")
  func noPause() throws {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .zero)))
    scheduler.advance()
    let outage = try #require(form.outage)
    #expect(outage.secondsLeft == 1)
    for count in 1...3 {
      #expect(server.signUps.count == count)
      scheduler.advance(by: .milliseconds(999))
      #expect(server.signUps.count == count)
      scheduler.advance(by: .milliseconds(1))
      #expect(server.signUps.count == count + 1)
      server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .zero)))
      scheduler.advance()
      #expect(form.outage == outage)
    }
    form.choose("back", on: outage.id)
    scheduler.advance(by: .seconds(60))
    #expect(form.outage == nil)
    #expect(server.signUps.count == 4)
  }

  @Test("an edit ends the wait of an outage: what was never checked is not signed up", arguments: [true, false])
  func editInOutage(ofName isName: Bool) {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .seconds(3))))
    scheduler.advance(by: .milliseconds(2_900))
    if isName { form.userName = "maintenance" } else { form.password = "correct stable" }
    #expect(form.outage == nil)
    scheduler.advance(by: .seconds(60))
    #expect(server.signUps.map(\.userName) == ["somebody"])
    #expect(!form.canSubmit)
  }

  @Test("an outage after an edit tries again with what was submitted, and with its key")
  func editBeforeOutage() {
    fillForm()
    form.submit()
    form.userName = "maintenance"
    server.answerSignUp(.failure(.server(status: 503, reason: nil, retryAfter: .seconds(3))))
    scheduler.advance(by: .seconds(3))
    #expect(server.signUps.map(\.userName) == ["somebody", "somebody"])
    #expect(server.signUps.map(\.key) == ["key 1", "key 1"])
  }

  @Test("a name that is refused after an edit is no message beside the new one")
  func refusedAfterEdit() {
    fillForm()
    form.submit()
    form.userName = "maintenance"
    server.answerSignUp(.failure(.validation("This username is not available")))
    scheduler.advance()
    #expect(form.userNameMessage == "")
    #expect(form.toast?.text == "This username is not available")
  }

  @Test("an account that is made is not made again")
  func madeOnce() {
    fillForm()
    form.submit()
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance()
    #expect(!form.canSubmit)
    form.submit()
    #expect(server.signUps.count == 1)
  }

  @Test("once an account is made, its name is not asked for again")
  func notAskedAgain() {
    submit(failingWith: URLError(.cannotConnectToHost))
    form.submit()
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance(by: .seconds(60))
    #expect(server.askedNames == ["somebody"])
  }

  @Test(
    "once an account is made, a late answer about its name changes nothing",
    arguments: [
      Result<Bool, APIError>.success(false), .failure(.transport(URLError(.cannotConnectToHost))),
      .failure(.captivePortal),
    ]
  )
  func lateAnswer(answer: Result<Bool, APIError>) {
    submit(failingWith: URLError(.cannotConnectToHost))
    scheduler.advance(by: .seconds(1))
    form.submit()
    server.answerSignUp(.success(Account(userName: "somebody")))
    scheduler.advance()
    server.answer(answer)
    scheduler.advance(by: .seconds(60))
    #expect(form.isInSync)
    #expect(form.userNameMessage == "")
    #expect(form.alert == nil)
    #expect(server.askedNames.count == 2)
  }

  @Test("a changed form is another wish and gets another key")
  func keys() {
    fillForm()
    form.submit()
    server.answerSignUp(.failure(.transport(URLError(.networkConnectionLost))))
    scheduler.advance()
    typePasswords("correct stable")
    form.submit()
    #expect(server.signUps.map(\.key) == ["key 1", "key 2"])
  }

  @Test("a toast goes by itself")
  func toast() {
    form.showToast("hello", tone: .info)
    scheduler.advance(by: .milliseconds(9_999))
    #expect(form.toast != nil)
    scheduler.advance(by: .milliseconds(1))
    #expect(form.toast == nil)
  }

  @Test("a form that is dropped goes at once, whatever is under way, and takes its request along")
  func release() {
    let server = ScriptedServer()
    let scheduler = TestScheduler()
    var form: SignUpViewModel? = SignUpViewModel(
      service: server,
      log: AttemptLog(scheduler: scheduler),
      scheduler: scheduler
    )
    weak let released = form
    form?.userName = "somebody"
    scheduler.advance(by: .seconds(1))
    #expect(server.checks.count == 1)
    form = nil
    #expect(released == nil)
    #expect(server.checks[0].cancelCount == 1)
  }

  // MARK: What is measured

  @Test("a check that gives up is two retries with their pauses, and the name is no label")
  func metrics() throws {
    let events = PolicyEvents()
    let metrics = MetricsTable()
    let reports = events.report(to: metrics)
    let form = SignUpViewModel(
      service: server,
      log: AttemptLog(scheduler: scheduler, source: "signUp", events: events),
      scheduler: scheduler,
      policy: .userNameCheck(after: .constant(.seconds(2)))
    )
    form.userName = "somebody"
    scheduler.advance(by: .milliseconds(800))
    for _ in 1...3 {
      server.answer(.failure(.server(status: 503, reason: "somebody", retryAfter: nil)))
      scheduler.advance(by: .seconds(2))
    }
    let labels = metrics.snapshot.counters.map { ($0.key.labels.map(\.value), $0.value) }
    #expect(
      Dictionary(uniqueKeysWithValues: labels)
        == [["signUp", "retry", "retrying"]: 2, ["signUp", "retry", "attempts_exhausted"]: 1]
    )
    let delays = Metric("rebound_retry_delay_seconds", .init("source", "signUp"), .init("from", "computed"))
    #expect(metrics.snapshot.histograms[delays]?.sum == 4)
    #expect(!metrics.openMetrics().contains("somebody"))
    reports.cancel()
  }
}
