internal import AuthRefreshInterface
internal import TestSupport

/// Something that people use to get tokens into another program, and what it must do while something is wrong.
struct Integration: Sendable {
    /// How a tool wants to be told that there is no token.
    enum Manner: Sendable {
        /// An exit status, nothing on standard output, and on standard error what to do.
        case plain
        /// As `plain`; if there is an account that has no token, standard output is `quit=1`, and git asks nobody else.
        case git
        /// One line on standard output, and the exit status 1.
        case docker
        /// A JSON document on standard output that says so, and the exit status 0.
        case google
        /// A file that is not there: the program that reads it says so, and `authctl status` says why.
        case file
    }

    /// What is to come of a use.
    enum Verdict: Sendable {
        /// What the integration is there for.
        case answer
        /// Nothing is said, and the exit status is 0.
        case silence
        /// There is no token. `status` is what `authctl token` ends with, `told` a piece of what is said.
        case refusal(_ status: Int32, _ told: String, isFound: Bool = true)
        /// The use makes no sense with this fault.
        case leftOut(_ reason: String)
    }

    let name: String
    /// Its own account, which has the address `https://ACCOUNT.example.org/`.
    let account: String
    var manner = Manner.plain
    /// What the account is set up with beside its address.
    var settings: @Sendable (inout AccountSettings) -> Void = { _ in }
    let verdicts: [IntegrationFault: Verdict]
    /// Whether the account asks its user before a program gets a token.
    var asksFirst = false
    /// Whether the account is signed out when its time is over.
    var endsByItself = false
    /// Uses it once.
    let use: @Sendable (IntegrationUse) async throws -> CommandOutcome
    /// Whether an outcome is what the integration is there for.
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

    /// One line that says what is wrong, and then only what to do.
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
    /// The account that is asked for; in the column of unknown accounts, one that is none.
    let target: String
    /// What the account had when it was last well.
    let tokens: IntegrationTokens

    /// The host of the account's address.
    var host: String { "\(target).example.org" }
}

/// The tokens of an account.
struct IntegrationTokens: Sendable {
    let access: AcquireToken.Reply
    let idToken: AcquireToken.IDToken
    /// µs since 1970; nil if the account stays signed in.
    let signOutAtUSec: Int64?
}
