internal import AuthRefreshInterface
internal import TestSupport

/// A way to give tokens to another program, and what it must do while something fails.
struct Integration: Sendable {
    /// The form in which a tool expects to learn that there is no token.
    enum Manner: Sendable {
        /// An exit status, no standard output, and the advice on standard error.
        case plain
        /// Like `plain`. If the account exists but has no token, standard output is `quit=1`, so that git asks no other
        /// helper.
        case git
        /// One line on standard output, and the exit status 1.
        case docker
        /// A JSON document with the error on standard output, and the exit status 0.
        case google
        /// The file is missing. The program that reads it reports that, and `authctl status` says why.
        case file
    }

    /// How a use must end.
    enum Verdict: Sendable {
        /// It gets the answer for which the integration exists.
        case answer
        /// There is no output, and the exit status is 0.
        case silence
        /// There is no token. `status` is the exit status of `authctl token`, and `told` is a part of the error text.
        case refusal(_ status: Int32, _ told: String, isFound: Bool = true)
        /// The use makes no sense with this fault.
        case leftOut(_ reason: String)
    }

    let name: String
    /// Its own account, which has the address `https://ACCOUNT.example.org/`.
    let account: String
    var manner = Manner.plain
    /// The account's settings besides its address.
    var settings: @Sendable (inout AccountSettings) -> Void = { _ in }
    let verdicts: [IntegrationFault: Verdict]
    /// Whether the account asks its user before a program gets a token.
    var asksFirst = false
    /// Whether the account is signed out when its time is over.
    var endsByItself = false
    /// Uses it once.
    let use: @Sendable (IntegrationUse) async throws -> CommandOutcome
    /// Whether an outcome means that the use works.
    let isAnswer: @Sendable (CommandOutcome, IntegrationUse) -> Bool

    /// What was not as `verdict` says.
    func surprises(in outcome: CommandOutcome, of use: IntegrationUse, _ verdict: Verdict) -> [String] {
        switch verdict {
        case .leftOut: []
        case .answer:
            isAnswer(outcome, use) && outcome.errors.isEmpty ? [] : ["not the answer: \(Self.shown(outcome))"]
        case .silence:
            outcome == CommandOutcome(output: "", errors: "", end: .exited(0))
                ? [] : ["not silent: \(Self.shown(outcome))"]
        case .refusal(let status, let told, let isFound):
            isRefusal(outcome, status, told, isFound) ? [] : ["not refused so: \(Self.shown(outcome))"]
        }
    }

    private func isRefusal(_ outcome: CommandOutcome, _ status: Int32, _ told: String, _ isFound: Bool) -> Bool {
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        switch manner {
        case .plain, .git:
            return outcome.end == .exited(status) && outcome.output == (manner == .git && isFound ? "quit=1" : "")
                && Self.isAdvice(outcome.errors, told)
        case .docker:
            return outcome.end == .exited(1) && lines.count == 1 && outcome.output.contains(told)
                && outcome.errors.isEmpty
        case .google:
            return outcome.end == .exited(0) && lines.count == 1 && outcome.errors.isEmpty
                && outcome.output.contains(#""success":false"#) && outcome.output.contains(told)
        case .file:
            return outcome.end == .exited(status) && outcome.output.isEmpty && outcome.errors.contains(told)
        }
    }

    /// One line with the error, followed only by lines that say what to do.
    private static func isAdvice(_ errors: String, _ told: String) -> Bool {
        let lines = errors.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.first?.hasPrefix("authctl: error: ") == true && lines.count > 1 && errors.contains(told)
            && lines.dropFirst().allSatisfy { $0.hasPrefix("authctl: hint: ") }
            && !errors.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" }
    }

    private static func shown(_ outcome: CommandOutcome) -> String {
        "\(outcome.end), output '\(outcome.output.prefix(300))', errors '\(outcome.errors.prefix(600))'"
    }
}

/// One use of an integration.
struct IntegrationUse: Sendable {
    let scene: IntegrationScene
    let fault: IntegrationFault
    /// The requested account; in the column of unknown accounts, a name without an account.
    let target: String
    /// The account's tokens before the fault.
    let tokens: IntegrationTokens

    /// The host of the account's address.
    var host: String { "\(target).example.org" }
}

/// The tokens of an account.
struct IntegrationTokens: Sendable {
    let access: AcquireToken.Reply
    let idToken: IdToken
    /// µs since 1970; nil if the account stays signed in.
    let signOutAtUSec: Int64?
}
