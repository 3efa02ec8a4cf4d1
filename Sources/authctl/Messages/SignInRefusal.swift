internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Terminal

/// The end of a sign-in without tokens.
extension Refusal {
    static func signInCancelled(_ error: SignInCancelledError) -> Report {
        let again = "authctl login \(error.account)"
        return switch error.by {
        case "user":
            Report(status: .cancelled, message: "the sign-in of '\(error.account)' was cancelled by the user")
        case "superseded":
            Report(
                status: .tryAgainLater,
                message: "the sign-in of '\(error.account)' was replaced by a newer one, which is under way",
                hints: ["to follow the newer one: \(again)"]
            )
        case "removed":
            Report(status: .noSuchAccount, message: "the account '\(error.account)' was removed during its sign-in")
        case "changed":
            Report(
                status: .tryAgainLater,
                message: "the sign-in of '\(error.account)' has ended, because its server or client was changed",
                hints: [again]
            )
        case "stopping":
            Report(
                status: .tryAgainLater,
                message: "the sign-in of '\(error.account)' has ended, because the daemon is stopping",
                hints: [again]
            )
        // A newer daemon may know more reasons.
        default:
            Report(
                status: .tryAgainLater,
                message: "the daemon ended the sign-in of '\(error.account)'",
                hints: [again]
            )
        }
    }

    static func signInDenied(_ error: SignInDeniedError) -> Report {
        let words = Wording.serverWords(code: error.oauthError, description: error.oauthErrorDescription, finer: [])
        return Report(
            status: .interactionRequired,
            message: "'\(error.account)' was not signed in: the authorization server denied it"
                + (words.map { " (\($0))" } ?? ""),
            hints: [error.hint]
        )
    }

    static func signInTimedOut(_ error: SignInTimedOutError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "the sign-in of '\(error.account)' timed out: nobody completed it in time",
            hints: ["authctl login \(error.account)"]
        )
    }

    static func signInFailed(_ error: SignInFailedError) -> Report {
        let status: ExitStatus =
            switch error.kind {
            case "unavailable": .tryAgainLater
            case "misconfigured": .misconfigured
            // A newer daemon may know more kinds. An unknown one needs a person.
            default: .interactionRequired
            }
        return Report(
            status: status,
            message: "'\(error.account)' was not signed in: " + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure?.correlationId)
        )
    }

    static func otherSubject(_ error: OtherSubjectError) -> Report {
        // An older daemon sends neither name.
        let people = error.signedIn.flatMap { signedIn in error.owner.map { (signedIn, $0) } }
        let message =
            people.map { "you signed in as '\($0)', but '\(error.account)' belongs to '\($1)'; nothing was stored" }
            ?? "you signed in as another person than the owner of '\(error.account)'; nothing was stored"
        return Report(status: .badData, message: message, hints: [error.hint])
    }

    static func noSuchSignIn(_: NoSuchSignInError) -> Report {
        Report(
            status: .badData,
            message: "this address belongs to no sign-in that is under way",
            hints: ["the sign-in may be over; to begin again: authctl login ACCOUNT"]
        )
    }

    static func webSessionNotStarted(_ error: WebSessionNotStartedError) -> Report {
        Report(
            // A newer daemon may know more kinds.
            status: error.kind == "misconfigured" ? .misconfigured : .tryAgainLater,
            message: "cannot wait for the callback '\(PlainText.line(error.callback))' now: \(error.reason)",
            hints: [error.hint]
        )
    }

    static func webSessionEnded(_ error: WebSessionEndedError) -> Report {
        let callback = PlainText.line(error.callback)
        let message =
            switch error.reason {
            case "timedOut": "timed out: no browser came back to '\(callback)'"
            case "stopping": "the session at '\(callback)' has ended, because the daemon is stopping"
            // A newer daemon may know more reasons.
            default: "the daemon ended the session at '\(callback)'"
            }
        return Report(status: .tryAgainLater, message: message)
    }
}
