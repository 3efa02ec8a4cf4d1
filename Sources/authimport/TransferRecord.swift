internal import AuthRefreshInterface
internal import Basics

/// The result for one account, for people and for programs.
struct TransferRecord {
    let name: String
    let source: SourceProgram
    /// `taken`, `settings`, `unproved` or `refused`.
    let outcome: String
    let message: Hint
    let notes: [Hint]
    /// How to remove the account from the source; empty if nothing was taken over.
    let retire: [Hint]
    let status: ExitStatus

    /// The record of an account that was added.
    init(
        _ found: FoundAccount,
        _ moved: MovableAccount,
        name: String,
        _ outcome: String,
        _ message: Hint,
        _ status: ExitStatus = .success
    ) {
        (self.name, source, self.outcome, self.message, self.status) = (name, found.source, outcome, message, status)
        notes = moved.notes
        retire = found.source.retire(moved, sourceName: found.sourceName, name: name)
    }

    init(_ found: FoundAccount, name: String, _ error: ProgramError) {
        self.name = name
        source = found.source
        outcome = "refused"
        message = Hint(error.message)
        (notes, retire) = ([], [])
        status = error.status
    }

    /// The lines for people, each with a newline.
    func text(by called: InvokedAs) -> String {
        var lines = ["\(name): \(message.text(by: called))"]
        lines += notes.map { "  note: \($0.text(by: called))" }
        lines += retire.map { "  to retire it there: \($0.text(by: called))" }
        return lines.map { PlainText.line($0) + "\n" }.joined()
    }

    /// The record for programs.
    func document(by called: InvokedAs) -> ImportDocument {
        ImportDocument(
            account: name,
            exitStatus: status.rawValue,
            message: message.text(by: called),
            notes: notes.map { $0.text(by: called) },
            outcome: outcome,
            program: source.rawValue,
            retire: retire.map { $0.text(by: called) }
        )
    }
}
