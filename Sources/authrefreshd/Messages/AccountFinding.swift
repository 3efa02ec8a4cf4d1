internal import AuthRefreshInterface

/// What `authctl doctor` finds of one account. A reason is the failure's, in one line; nil if none is known.
enum AccountFinding {
    case damaged(reason: String?)
    case noRefreshToken
    case clientSecretExpires(in: Duration)
    case clientSecretExpired
    case retryingWithoutToken(reason: String?)
    case retrying(failures: Int, reason: String?, validFor: Duration)
    case needsSignIn(for: Duration, reason: String?)
    case signsOut(in: Duration)
    case refreshTokenExpires(in: Duration?)
    case signedOut
    case parked
    case misconfigured(reason: String?)

    /// The finding, in the words of `authctl doctor`.
    ///
    /// - Parameter advice: the command that helps this account.
    func finding(of account: String, advice: String) -> Finding {
        switch self {
        case .damaged(let reason): error(reason ?? "the store cannot read it", account, .repair, advice)
        case .noRefreshToken:
            warning(
                "the server gave no refresh token: you have to sign in each time the access token expires",
                account,
                .signIn,
                advice
            )
        case .clientSecretExpires(let rest):
            warning("the client secret expires in \(rest.words)", account, .repair, advice)
        case .clientSecretExpired: warning("the client secret has expired", account, .repair, advice)
        case .retryingWithoutToken(let reason): error("no valid token" + Self.because(reason), account, .time, advice)
        case .retrying(let failures, let reason, let rest):
            warning(
                (failures == 1 ? "the last refresh failed" : "the last \(failures) refreshes failed")
                    + "\(Self.because(reason)); the token is valid for \(rest.words)",
                account,
                .time,
                advice
            )
        case .needsSignIn(let time, let reason):
            error("it has needed a sign-in for \(time.words)" + Self.because(reason), account, .signIn, advice)
        case .signsOut(let rest):
            .note(.account, "it signs out by itself in \(rest.words)", of: account, advice: advice)
        case .refreshTokenExpires(let rest):
            warning("the refresh token expires in \(rest?.words ?? "days")", account, .signIn, advice)
        case .signedOut: .note(.account, "it is signed out", of: account, advice: advice)
        case .parked:
            .note(
                .account,
                "it is parked, because another machine may use its grant",
                of: account,
                advice: advice
            )
        case .misconfigured(let reason): error("it is misconfigured" + Self.because(reason), account, .repair, advice)
        }
    }

    private static func because(_ reason: String?) -> String { reason.map { ": \($0)" } ?? "" }

    private func warning(_ text: String, _ account: String, _ need: Finding.Need, _ advice: String) -> Finding {
        .warning(.account, text, of: account, needs: need, advice: advice)
    }

    private func error(_ text: String, _ account: String, _ need: Finding.Need, _ advice: String) -> Finding {
        .error(.account, text, of: account, needs: need, advice: advice)
    }
}

/// What `authctl doctor` finds of all accounts together.
enum AccountsFinding {
    case well(Int)
    /// How many have problems beside those that are named.
    case moreWithProblems(Int)
    case none
    case someUnchecked(seen: Int, total: Int)
    case serversUnchecked(limit: Int)

    /// The finding, in the words of `authctl doctor`.
    var finding: Finding {
        switch self {
        case .well(1): .ok(.accounts, "1 account is well")
        case .well(let count): .ok(.accounts, "\(count) accounts are well")
        case .moreWithProblems(let count):
            .note(.accounts, "\(count) more \(count == 1 ? "has" : "have") problems", advice: "authctl status")
        case .none: .note(.accounts, "there are no accounts", advice: "authctl login work --provider google")
        case .someUnchecked(let seen, let total):
            .note(
                .accounts,
                "only \(seen) of \(total) accounts were checked",
                advice: "name others: authctl doctor ACCOUNT…"
            )
        case .serversUnchecked(let limit):
            .note(
                .servers,
                "only \(limit) authorization servers are checked",
                advice: "name accounts of the others: authctl doctor ACCOUNT…"
            )
        }
    }
}
