internal import MovingIn

/// What `authctl import` tells and asks beside its errors.
enum ImportText {
    /// Accounts were found, and nobody can be asked which ones are meant.
    case nothingTaken
    case nothingFound
    /// The question before an account is taken over.
    case question(account: String, SourceProgram, server: String)
    case programMustStop(SourceProgram, account: String)
    case taken(SourceProgram)
    case settingsTaken(SourceProgram, account: String)
    case unproved(SourceProgram, DaemonRefusal?)

    /// One line. Lower case, no full stop.
    var text: String {
        switch self {
        case .nothingTaken: "nothing was taken over: name accounts, or use --all"
        case .nothingFound: "no account was found in another program"
        case .question(let account, let program, let server):
            "Take over '\(account)' from \(program.title) (\(server))? [y/N] "
        case .programMustStop(let program, let account):
            "\(program.title) must no longer use '\(account)'; looking for \(program.processes.joined(separator: ", "))"
        case .taken(let program): "taken over from \(program.title), and refreshed once"
        case .settingsTaken(let program, let account):
            "settings taken over from \(program.title); sign in: authctl login \(account)"
        case .unproved(let program, let refusal):
            "taken over from \(program.title), but not refreshed yet: "
                + (refusal?.message ?? "the daemon did not answer") + "; "
                + (refusal?.hint ?? "the daemon tries again")
        }
    }
}
