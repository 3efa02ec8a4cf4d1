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
    let status: Int32

    init(_ found: FoundAccount, name: String, _ outcome: Transfer.Outcome) {
        self.name = name
        source = found.source
        let moved: MovableAccount
        switch outcome {
        case .taken(let account):
            (moved, self.outcome, status) = (account, "taken", 0)
            message = "taken over from \(found.source.title), and refreshed once"
        case .settingsOnly(let account):
            (moved, self.outcome, status) = (account, "settings", 0)
            message = "settings taken over from \(found.source.title); sign in: authctl login \(name)"
        case .unproved(let account, let refusal):
            (moved, self.outcome, status) = (account, "unproved", refusal?.status ?? 75)
            let reason = refusal?.message ?? "the daemon gave no answer"
            let next = refusal?.hint ?? "the daemon tries again"
            message = "taken over from \(found.source.title), but not refreshed yet: \(reason); \(next)"
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
            exitStatus: status,
            message: message,
            notes: notes,
            outcome: outcome,
            program: source.rawValue,
            retire: retire
        )
    }

    /// Orders statuses like authctl: what a person must do comes before what passes by itself.
    static func urgency(_ status: Int32) -> Int {
        [0, 75, 5, 4, 78, 3, 77, 65, 64, 69, 130].firstIndex(of: status) ?? 0
    }
}
