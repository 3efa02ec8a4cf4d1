internal import AuthRefreshInterface
internal import RefreshCore
internal import SignIn
internal import Varlink

extension SignInEnd {
    /// Why there are no tokens, for the journal: constant text, none of it the server's.
    var reason: String {
        switch self {
        case .completed: "completed"
        case .cancelled(let canceller): "cancelled (\(canceller.rawValue))"
        case .denied: "declined at the server"
        case .timedOut: "nobody came back in time"
        case .failed(let failure): failure.reason
        case .otherSubject: "another person signed in than the one whose account it is"
        }
    }

    /// What the callers of `StartSignIn` are told of an end without tokens.
    func error(of account: AccountName) -> VarlinkError {
        let name = account.text
        switch self {
        case .completed: preconditionFailure("a completed sign-in is told by a reply")
        case .cancelled(let canceller):
            return VarlinkError(SignInCancelledError(account: name, by: canceller.rawValue))
        case .denied(let refusal):
            return VarlinkError(
                SignInDeniedError(
                    account: name,
                    oauthError: refusal.error,
                    oauthErrorDescription: refusal.description,
                    hint: "authctl login \(name)"
                )
            )
        case .timedOut: return VarlinkError(SignInTimedOutError(account: name))
        case .failed(let failure): return VarlinkError(failure, of: account)
        case .otherSubject:
            let hint = "sign in as the person whose account it is, or 'authctl login \(name) --replace'"
            return VarlinkError(OtherSubjectError(account: name, hint: hint))
        }
    }
}

extension VarlinkError {
    init(_ failure: SignInFailure, of account: AccountName) {
        let again = "authctl login \(account)"
        let hint =
            switch failure.kind {
            case .refused, .unavailable: again
            case .misconfigured: failure.detail?.remedy(for: account) ?? "authctl account edit \(account)"
            }
        self.init(
            SignInFailedError(
                account: account.text,
                kind: failure.kind.rawValue,
                reason: failure.reason,
                failure: failure.detail.map(Failure.init),
                hint: hint
            )
        )
    }

    /// What was brought, and is no answer.
    init(_ refusal: ResponseRefusal) {
        let (reason, hint): (String, String) =
            switch refusal {
            case .wrongState:
                (
                    "it has not the 'state' of this sign-in: it belongs to another one, or was made up",
                    "copy the address from the window that this sign-in opened"
                )
            case .noAnswer:
                (
                    "there is no answer of the server in it",
                    "sign in in the browser first; then copy the whole address that it was sent to"
                )
            case .needsWholeAddress:
                ("a code alone is not enough for this server", "copy the whole address that the browser was sent to")
            case .alreadyAnswered: ("the answer has come before, and counts once", "wait for the end of the sign-in")
            case .notAwaited: ("this sign-in waits for no answer by a browser", "wait for the end of the sign-in")
            }
        self.init(InvalidSettingsError(field: "redirect", reason: reason, hint: hint))
    }
}
