internal import AuthRefreshInterface
internal import CommandLineProgram
internal import MovingIn
internal import StrictJSON
internal import Terminal
internal import VarlinkClient

/// Why an account could not be taken over.
enum ImportError: Error {
    /// The program was started by hand with wrong arguments. The command is `authctl import`.
    case usage
    /// No account with this name was found.
    case noSuchAccount(name: String)
    /// Several programs have an account with this name.
    case ambiguous(name: String, programs: [SourceProgram])
    /// `--as` is for a single account, and there are several or none.
    case oneAccountOnly(count: Int)
    case reading(MovingInError)
    /// Processes that use the account are running.
    case stillRunning(SourceProgram, processes: [ProcessTable.Entry], sourceName: String)
    /// The source lacks something that an account needs. `note` is what it said about that last.
    case incomplete(Lack, note: MovingNote?)
    case exists(name: String, source: SourceProgram)
    case noDaemon(path: String)
    case notPermitted(path: String)
    /// The daemon does not answer, or its answer cannot be understood.
    case noAnswer
    /// The daemon answers with an error about the settings or itself.
    case refused(DaemonRefusal)
    /// The server refuses the grant. The account was removed again.
    case grantRefused(name: String, DaemonRefusal)
    /// The server refuses the grant, and the account could not be removed.
    case notRemoved(name: String)
    case cannotWriteOutput
    case cancelled

    /// What a source may lack.
    enum Lack: String, CaseIterable {
        case client = "the client id"
        case server = "the authorization server"
    }
}

extension ImportError {
    var status: ExitStatus {
        switch self {
        case .usage, .exists, .ambiguous, .oneAccountOnly: .usage
        case .noSuchAccount: .noSuchAccount
        case .reading(let error): error.status
        case .stillRunning: .tryAgainLater
        case .incomplete: .badData
        case .noDaemon: .daemonUnreachable
        case .notPermitted: .notPermitted
        case .noAnswer: .tryAgainLater
        case .refused(let refusal): refusal.status
        case .grantRefused(_, let refusal): refusal.status
        case .notRemoved: .tryAgainLater
        case .cannotWriteOutput: .tryAgainLater
        case .cancelled: .cancelled
        }
    }

    /// The error text: lower case, no full stop.
    var message: String {
        switch self {
        case .usage: "authimport cannot be used alone: 'authctl import' runs it"
        case .noSuchAccount(let name): "no account named '\(name)' was found in another program"
        case .ambiguous(let name, let programs):
            "'\(name)' is an account of \(programs.map(\.rawValue).joined(separator: " and of "))"
        case .oneAccountOnly(let count): "'--as' names one account, and \(count) are to be taken over"
        case .reading(let error): error.message
        case .stillRunning(let program, let processes, _):
            "\(program.title) is running (\(processes.map(\.description).joined(separator: ", ")))"
        case .incomplete(let lack, _): "\(lack.rawValue) is missing"
        case .exists(let name, _): "an account named '\(name)' exists already"
        case .noDaemon(let path): "authrefreshd does not answer at '\(path)'"
        case .notPermitted(let path): "permission denied for the socket '\(path)'"
        case .noAnswer: "authrefreshd sent no answer, or one that cannot be read"
        case .refused(let refusal): refusal.message
        case .grantRefused(let name, let refusal):
            "the grant of '\(name)' does not work: \(refusal.message); the account was removed again"
        case .notRemoved(let name): "the grant of '\(name)' does not work, and the account could not be removed"
        case .cannotWriteOutput: "cannot write to standard output"
        case .cancelled: "cancelled"
        }
    }

    /// What the user can do.
    var hint: String? {
        switch self {
        case .usage: "authctl import --help"
        case .noSuchAccount: "to see the accounts: authctl import --dry-run"
        case .ambiguous(let name, let programs):
            programs.first.map { "authctl import --from \($0.rawValue) \(name)" }
        case .oneAccountOnly: "authctl import NAME --as NEWNAME"
        case .reading(let error): error.hint
        case .stillRunning(let program, _, let sourceName):
            "\(program.stop(sourceName)); a server that detects reuse revokes a grant that two programs use"
        case .incomplete(_, let note): note?.asHint ?? "see 'authctl account add --help'"
        case .exists(let name, let source): "authctl import --from \(source.rawValue) \(name) --as NEWNAME"
        case .noDaemon: "authctl doctor"
        case .notPermitted: "authctl doctor"
        case .noAnswer: "to see whether the account was added: authctl status"
        case .refused(let refusal): refusal.hint
        case .grantRefused: "it may have been used or revoked elsewhere; sign in to a new account: authctl login --help"
        case .notRemoved(let name): "authctl account remove \(name)"
        case .cannotWriteOutput, .cancelled: nil
        }
    }

    /// One line for programs.
    var json: String {
        JSONText.object([
            ("error", JSONText.quote("authctl.Import")),
            ("exitStatus", String(status.rawValue)),
            ("hints", "[" + (hint.map { JSONText.quote(PlainText.line($0)) } ?? "") + "]"),
            ("message", JSONText.quote(PlainText.line(message))),
        ]) + "\n"
    }
}

extension MovingInError {
    fileprivate var status: ExitStatus {
        switch self {
        case .wrongFormat, .encrypted, .tooLarge, .tooManyAccounts, .unreadable: .badData
        case .programMissing: .misconfigured
        case .programFailed, .programTimedOut: .tryAgainLater
        }
    }

    /// The error text: lower case, no full stop.
    var message: String {
        switch self {
        case .wrongFormat(let origin, let expected): "'\(origin)' cannot be read: expected \(expected.text)"
        case .encrypted(let origin, _): "'\(origin)' is encrypted"
        case .tooLarge(let origin, let most): "'\(origin)' has more than \(most) bytes"
        case .tooManyAccounts(let origin, let most): "'\(origin)' has more than \(most) accounts"
        case .unreadable(let origin, let number): "cannot read '\(origin)': \(systemText(number))"
        case .programMissing(_, let program): "'\(program)' is not installed"
        case .programFailed(let origin, let program, let status):
            "'\(origin)' cannot be read: '\(program)' failed with status \(status)"
        case .programTimedOut(let origin, let program, let seconds):
            "'\(origin)' cannot be read: '\(program)' did not end within \(seconds) s"
        }
    }

    fileprivate var hint: String? {
        switch self {
        case .encrypted(_, let hint): hint.text
        case .programFailed(let origin, "oidc-gen", _):
            "try it yourself: \(origin); without a terminal: --password-file FILE"
        case .programFailed(let origin, _, _): "try it yourself: \(origin)"
        case .wrongFormat, .tooLarge, .tooManyAccounts, .unreadable, .programMissing, .programTimedOut: nil
        }
    }
}

extension MovingNote {
    /// The note as a hint, which has no full stop.
    fileprivate var asHint: String { text.hasSuffix(".") ? String(text.dropLast()) : text }
}
