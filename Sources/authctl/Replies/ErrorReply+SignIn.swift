internal import AuthRefreshInterface
internal import Basics

/// The end of a sign-in without tokens.
extension ErrorReply {
    func signInCancelled(_ error: SignInCancelledError) -> Report {
        let again = Command("login", error.account)
        return switch error.by {
        case "user":
            report(.cancelled, "the sign-in of '\(error.account)' was cancelled by the user")
        case "superseded":
            report(
                .tryAgainLater,
                "the sign-in of '\(error.account)' was replaced by a newer one, which is under way",
                "to follow the newer one: \(again)"
            )
        case "removed":
            report(.noSuchAccount, "the account '\(error.account)' was removed during its sign-in")
        case "changed":
            report(
                .tryAgainLater,
                "the sign-in of '\(error.account)' has ended, because the account was changed",
                Hint(again)
            )
        case "stopping":
            report(
                .tryAgainLater,
                "the sign-in of '\(error.account)' has ended, because the daemon is stopping",
                Hint(again)
            )
        // A newer daemon may know more reasons.
        default:
            report(.tryAgainLater, "the daemon ended the sign-in of '\(error.account)'", Hint(again))
        }
    }

    func signInDenied(_ error: SignInDeniedError) -> Report {
        let words = Wording.serverWords(code: error.oauthError, description: error.oauthErrorDescription, finer: [])
        return report(
            .interactionRequired,
            "'\(error.account)' was not signed in: the authorization server denied it"
                + (words.map { " (\($0))" } ?? ""),
            error.help
        )
    }

    func signInTimedOut(_ error: SignInTimedOutError) -> Report {
        report(
            .tryAgainLater,
            "the sign-in of '\(error.account)' timed out: nobody completed it in time",
            "\(Command("login", error.account))"
        )
    }

    func signInFailed(_ error: SignInFailedError) -> Report {
        report(
            // An unknown kind needs a person.
            Self.status(ofKind: error.kind, otherwise: .interactionRequired),
            "'\(error.account)' was not signed in: " + Wording.joined(error.reason, error.failure)
                + (error.port.flatMap(PortHolder.words) ?? ""),
            error.help,
            Self.journal(error.failure?.correlationId)
        )
    }

    func otherSubject(_ error: OtherSubjectError) -> Report {
        // An older daemon sends neither name.
        let people = error.signedIn.flatMap { signedIn in error.owner.map { (signedIn, $0) } }
        let message =
            people.map { "you signed in as '\($0)', but '\(error.account)' belongs to '\($1)'; nothing was stored" }
            ?? "you signed in as another person than the owner of '\(error.account)'; nothing was stored"
        return report(.badData, message, error.help)
    }

    func noSuchSignIn(_: NoSuchSignInError) -> Report {
        report(
            .badData,
            "this address belongs to no sign-in that is under way",
            "the sign-in may be over; to begin again: \(Command("login", "ACCOUNT"))"
        )
    }

    func webSessionNotStarted(_ error: WebSessionNotStartedError) -> Report {
        report(
            Self.status(ofKind: error.kind, otherwise: .tryAgainLater),
            "cannot wait for the callback '\(PlainText.line(error.callback))' now: \(error.reason)",
            error.help
        )
    }

    func webSessionEnded(_ error: WebSessionEndedError) -> Report {
        let callback = PlainText.line(error.callback)
        let message =
            switch error.reason {
            case "timedOut": "timed out: no browser came back to '\(callback)'"
            case "stopping": "the session at '\(callback)' has ended, because the daemon is stopping"
            // A newer daemon may know more reasons.
            default: "the daemon ended the session at '\(callback)'"
            }
        return report(.tryAgainLater, message)
    }
}
