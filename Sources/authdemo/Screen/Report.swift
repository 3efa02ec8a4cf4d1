internal import AuthRefreshInterface
internal import Basics

/// An event in the show.
struct Report: Sendable {
    enum Kind: Sendable {
        /// A new part of the story begins.
        case chapter
        /// A command line that is executed.
        case command
        /// The output of a command.
        case answer
        /// A change that the daemon announced.
        case change
        /// A successful check.
        case proof
        /// The account needs a person.
        case alarm
    }

    let atUSec: Int64
    let kind: Kind
    let text: String

    init(_ kind: Kind, _ text: String, atUSec: Int64 = WallClock.nowUSec) {
        self.kind = kind
        self.text = PlainText.line(text)
        self.atUSec = atUSec
    }

    /// The mark before the text. All marks have the same width.
    var mark: String {
        switch kind {
        case .chapter: "──"
        case .command: " $"
        case .answer: "  "
        case .change: " •"
        case .proof: " ✓"
        case .alarm: " !"
        }
    }

    var colour: TerminalStyle.Colour? {
        switch kind {
        case .chapter: .bold
        case .command: nil
        case .answer: .faint
        case .change: .cyan
        case .proof: .green
        case .alarm: .red
        }
    }
}

extension Report {
    /// The reports about a change; empty for changes that only begin the subscription.
    static func reports(of change: Subscribe.Reply) -> [Report] {
        guard change.news != nil, let status = change.accounts.first else { return [] }
        let opening = "\(status.account)  \(change.event)"
        if change.news == .interactionRequired {
            return [
                Report(.alarm, "\(opening): \(serverWords(status))", atUSec: change.atUSec),
                Report(.alarm, "\(status.account)  run: \(status.hint ?? "")", atUSec: change.atUSec),
            ]
        }
        if change.news == .refreshStarted {
            return [Report(.change, "\(opening): generation \(status.generation) is sent", atUSec: change.atUSec)]
        }
        if change.news == .tokenRefreshed {
            // Short enough for 80 columns.
            let expires = status.expiresAtUSec.map { "expires \(WallClock.countdown(to: $0, from: change.atUSec))" }
            let next = status.nextAttemptAtUSec.map { "next \(WallClock.countdown(to: $0, from: change.atUSec))" }
            let words = ["generation \(status.generation)", expires, next].compactMap(\.self).joined(separator: ", ")
            return [Report(.change, "\(opening): \(words)", atUSec: change.atUSec)]
        }
        let failure = status.failure.map { ": \($0.summary)" } ?? ""
        return [Report(.change, opening + failure, atUSec: change.atUSec)]
    }

    /// Why an account is in its state, in the authorization server's text if there is one.
    static func serverWords(_ status: AccountStatus) -> String {
        guard let failure = status.failure else { return status.reason ?? "no reason given" }
        let words = [failure.oauthError, failure.oauthErrorDescription].compactMap(\.self).joined(separator: ": ")
        let code = failure.httpStatus.map { " (HTTP \($0))" } ?? ""
        return (words.isEmpty ? failure.summary : words) + code
    }
}
