internal import AuthRefreshInterface

/// How a sign-in ended that brought no tokens.
extension Refusal {
    static func signInCancelled(_ error: SignInCancelledError) -> Report {
        let again = "authctl login \(error.account)"
        return switch error.by {
        case "user":
            Report(status: .cancelled, message: "the sign-in of '\(error.account)' was cancelled by the user")
        case "superseded":
            Report(
                status: .tryAgainLater,
                message: "the sign-in of '\(error.account)' was superseded by another one, which is under way",
                hints: ["to follow that one: \(again)"]
            )
        case "removed":
            Report(status: .noSuchAccount, message: "the account '\(error.account)' was removed during its sign-in")
        // A newer daemon may know more reasons; that it stops is one of them.
        default:
            Report(
                status: .tryAgainLater,
                message: "the daemon ended the sign-in of '\(error.account)' (\(PlainText.line(error.by)))",
                hints: [again]
            )
        }
    }

    static func signInDenied(_ error: SignInDeniedError) -> Report {
        let words = Wording.serverWords(code: error.oauthError, description: error.oauthErrorDescription, finer: [])
        return Report(
            status: .interactionRequired,
            message: "'\(error.account)' was not signed in: denied by the authorization server"
                + (words.map { " (\($0))" } ?? ""),
            hints: [error.hint]
        )
    }

    static func signInTimedOut(_ error: SignInTimedOutError) -> Report {
        Report(
            status: .tryAgainLater,
            message: "the sign-in of '\(error.account)' timed out: nobody came back in time",
            hints: ["authctl login \(error.account)"]
        )
    }

    static func signInFailed(_ error: SignInFailedError) -> Report {
        let status: ExitStatus =
            switch error.kind {
            case "unavailable": .tryAgainLater
            case "misconfigured": .misconfigured
            // A newer daemon may know more kinds; what none of the others covers a person must see to.
            default: .interactionRequired
            }
        return Report(
            status: status,
            message: "'\(error.account)' was not signed in: " + Wording.joined(error.reason, error.failure),
            hints: [error.hint] + journal(error.failure?.correlationId)
        )
    }

    static func otherSubject(_ error: OtherSubjectError) -> Report {
        Report(
            status: .badData,
            message: "another person signed in than the one whose account '\(error.account)' is; nothing was stored",
            hints: [error.hint]
        )
    }

    static func noSuchSignIn(_: NoSuchSignInError) -> Report {
        Report(
            status: .badData,
            message: "no sign-in is under way that this belongs to",
            hints: ["it may be over, or have been begun anew: authctl login ACCOUNT"]
        )
    }
}
