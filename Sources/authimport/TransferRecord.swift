internal import CommandLineProgram
internal import MovingIn
internal import Terminal

/// The result for one account, for people and for programs.
struct TransferRecord {
    let name: String
    let source: SourceProgram
    /// `taken`, `settings`, `unproved` or `refused`.
    let outcome: String
    let message: String
    let notes: [String]
    /// How to remove the account from the source; empty if nothing was taken over.
    let retire: [String]
    let status: ExitStatus

    init(_ found: FoundAccount, name: String, _ outcome: Transfer.Outcome) {
        self.name = name
        source = found.source
        let program = found.source.title
        let moved: MovableAccount
        switch outcome {
        case .taken(let account):
            (moved, self.outcome, status) = (account, "taken", .success)
            message = "taken over from \(program), and refreshed once"
        case .settingsOnly(let account):
            (moved, self.outcome, status) = (account, "settings", .success)
            message = "settings taken over from \(program); sign in: authctl login \(name)"
        case .unproved(let account, let refusal):
            let error = refusal?.error ?? ImportError(.tryAgainLater, "the daemon did not answer")
            (moved, self.outcome, status) = (account, "unproved", error.status)
            let next = error.hint ?? "the daemon tries again"
            message = "taken over from \(program), but not refreshed yet: \(error.message); \(next)"
        }
        notes = moved.notes
        retire = found.source.retire(moved, sourceName: found.sourceName, name: name)
    }

    init(_ found: FoundAccount, name: String, _ error: ImportError) {
        self.name = name
        source = found.source
        outcome = "refused"
        message = error.message
        (notes, retire) = ([], [])
        status = error.status
    }

    /// The lines for people, each with a newline.
    var text: String {
        var lines = ["\(name): \(message)"]
        lines += notes.map { "  note: \($0)" }
        lines += retire.map { "  to retire it there: \($0)" }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }

    /// The record for programs.
    var document: ImportDocument.Account {
        ImportDocument.Account(
            account: name,
            exitStatus: status.rawValue,
            message: message,
            notes: notes,
            outcome: outcome,
            program: source.rawValue,
            retire: retire
        )
    }
}
