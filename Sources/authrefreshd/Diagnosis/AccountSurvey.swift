internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore

/// Checks accounts: which of them have problems, and which servers they depend on.
struct AccountSurvey {
    /// How many accounts are named. Of the rest, only the number is reported.
    static let namedMax = 50

    private let total: Int
    private var settings: RefreshConfiguration
    private let now: Moment

    /// How many accounts were checked.
    private(set) var seen = 0
    private(set) var servers = SurveyedServers()
    private var wellCount = 0
    private var inNeed: [Finding] = []
    private var inNeedCount = 0

    /// Begins a survey.
    ///
    /// - Parameter total: how many accounts there are.
    init(total: Int, settings: RefreshConfiguration, now: Moment) {
        self.total = total
        self.settings = settings
        self.now = now
    }

    mutating func look(at account: ShownAccount) {
        seen += 1
        guard let finding = look(into: account) else {
            wellCount += 1
            return
        }
        inNeedCount += 1
        if inNeed.count < Self.namedMax { inNeed.append(finding) }
    }

    /// The finding for an account; nil if it has no problem.
    private mutating func look(into account: ShownAccount) -> Finding? {
        switch account {
        case .whole(let snapshot):
            servers.add(snapshot, profile: settings.profile(for: snapshot.account))
            return finding(of: snapshot)
        case .damaged(let account):
            let status = account.wireStatus
            return .error(
                .account,
                status.failure?.summary ?? "the store cannot read it",
                of: account.name,
                needs: .repair,
                advice: status.hint ?? "authctl store check"
            )
        }
    }

    /// The findings about accounts, then those about all of them.
    var findings: [Finding] {
        var findings = inNeed
        if inNeedCount > inNeed.count {
            let rest = inNeedCount - inNeed.count
            findings.append(.note(.accounts, "\(rest) more have problems", advice: "authctl status"))
        }
        if wellCount > 0 { findings.append(.ok(.accounts, "\(Self.count(wellCount)) well")) }
        if total == 0 {
            findings.append(.note(.accounts, "there are no accounts", advice: "authctl account add --help"))
        }
        if seen < total {
            findings.append(
                .note(
                    .accounts,
                    "only \(seen) of \(total) were checked",
                    advice: "name others: authctl doctor ACCOUNT…"
                )
            )
        }
        if let unseen = servers.unseenNote { findings.append(unseen) }
        return findings
    }

    private static func count(_ count: Int) -> String {
        count == 1 ? "1 account is" : "\(count) accounts are"
    }

    /// `hint`, with the provider profile's note about when grants end. Many sign-ins after a week mean something else
    /// than a single one.
    private mutating func advice(_ hint: String, onEndOf snapshot: AccountSnapshot) -> String {
        let note = settings.profile(for: snapshot.account)?.note(about: .lifetime)
        return hint + (note.map { " (\($0))" } ?? "")
    }

    private mutating func finding(of snapshot: AccountSnapshot) -> Finding? {
        let name = snapshot.account.name.text
        let hint = snapshot.hint ?? "authctl status \(name)"
        let because = snapshot.failure.map { ": \($0.detail.summary)" } ?? ""
        switch snapshot.shown {
        case .fresh where snapshot.lacksRefreshToken:
            let text = "the server gave no refresh token: you have to sign in each time the access token expires"
            return .warning(.account, text, of: name, needs: .signIn, advice: hint)
        case .fresh, .refreshing:
            guard let end = snapshot.account.registration.clientSecretExpiresAt, snapshot.needsClientSecret else {
                return nil
            }
            let rest = end - now.wall
            let text = rest > .zero ? "the client secret expires in \(rest.words)" : "the client secret has expired"
            return .warning(.account, text, of: name, needs: .repair, advice: hint)
        case .retrying:
            let failures = snapshot.state.failures
            let times = failures == 1 ? "the last refresh failed" : "the last \(failures) refreshes failed"
            guard let remaining = snapshot.state.accessToken?.remaining(at: now), remaining > .zero else {
                return .error(.account, "no valid token\(because)", of: name, needs: .time, advice: hint)
            }
            let text = "\(times)\(because); the token is valid for \(remaining.words)"
            return .warning(.account, text, of: name, needs: .time, advice: hint)
        case .interactionRequired:
            guard let interaction = snapshot.state.interaction else { return nil }
            let text = "it has needed a sign-in for \((now.wall - interaction.since).words)\(because)"
            let advice = interaction.reason == .grantEnded ? advice(hint, onEndOf: snapshot) : hint
            return .error(.account, text, of: name, needs: .signIn, advice: advice)
        case .refreshTokenExpiring:
            if let signOut = snapshot.state.firstSignOut {
                let text = "it signs out by itself in \((signOut - now.wall).words)"
                return .note(.account, text, of: name, advice: hint)
            }
            let end = snapshot.state.refreshToken.map { ($0.expiresAt - now.wall).words } ?? "days"
            let advice = advice(hint, onEndOf: snapshot)
            return .warning(.account, "the refresh token expires in \(end)", of: name, needs: .signIn, advice: advice)
        case .signedOut:
            return .note(.account, "it is signed out", of: name, advice: hint)
        case .parked:
            return .note(.account, "it is parked: exported to be moved, and not refreshed here", of: name, advice: hint)
        case .misconfigured:
            return .error(.account, "it is misconfigured\(because)", of: name, needs: .repair, advice: hint)
        }
    }
}
