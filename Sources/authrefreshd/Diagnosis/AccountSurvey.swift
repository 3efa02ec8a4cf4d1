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
            return AccountFinding.damaged(reason: status.failure?.summary)
                .finding(of: account.name, advice: status.hint ?? "authctl store check")
        }
    }

    /// The findings about accounts, then those about all of them.
    var findings: [Finding] {
        var rest: [AccountsFinding] = []
        if inNeedCount > inNeed.count { rest.append(.moreWithProblems(inNeedCount - inNeed.count)) }
        if wellCount > 0 { rest.append(.well(wellCount)) }
        if total == 0 { rest.append(.none) }
        if seen < total { rest.append(.someUnchecked(seen: seen, total: total)) }
        if servers.hasUnseen { rest.append(.serversUnchecked(limit: Diagnosis.serversMax)) }
        return inNeed + rest.map(\.finding)
    }

    /// `hint`, with the provider profile's note about when grants end. Many sign-ins after a week mean something else
    /// than a single one.
    private mutating func advice(_ hint: String, onEndOf snapshot: AccountSnapshot) -> String {
        let note = settings.profile(for: snapshot.account)?.note(about: .lifetime)
        return hint + (note.map { " (\($0))" } ?? "")
    }

    private mutating func finding(of snapshot: AccountSnapshot) -> Finding? {
        let name = snapshot.account.name.text
        guard let finding = problem(of: snapshot) else { return nil }
        let hint = snapshot.hint ?? "authctl status \(name)"
        return finding.finding(of: name, advice: Self.isEndOfGrant(snapshot) ? advice(hint, onEndOf: snapshot) : hint)
    }

    /// Whether the profile's note about when grants end explains the finding.
    private static func isEndOfGrant(_ snapshot: AccountSnapshot) -> Bool {
        switch snapshot.shown {
        case .interactionRequired: snapshot.state.interaction?.reason == .grantEnded
        case .refreshTokenExpiring: snapshot.state.firstSignOut == nil
        case .fresh, .refreshing, .retrying, .signedOut, .parked, .misconfigured: false
        }
    }

    private func problem(of snapshot: AccountSnapshot) -> AccountFinding? {
        let reason = snapshot.failure?.detail.summary
        switch snapshot.shown {
        case .fresh where snapshot.lacksRefreshToken: return .noRefreshToken
        case .fresh, .refreshing:
            guard let end = snapshot.account.registration.clientSecretExpiresAt, snapshot.needsClientSecret else {
                return nil
            }
            let rest = end - now.wall
            return rest > .zero ? .clientSecretExpires(in: rest) : .clientSecretExpired
        case .retrying:
            guard let remaining = snapshot.state.accessToken?.remaining(at: now), remaining > .zero else {
                return .retryingWithoutToken(reason: reason)
            }
            return .retrying(failures: snapshot.state.failures, reason: reason, validFor: remaining)
        case .interactionRequired:
            return snapshot.state.interaction.map { .needsSignIn(for: now.wall - $0.since, reason: reason) }
        case .refreshTokenExpiring:
            if let signOut = snapshot.state.firstSignOut { return .signsOut(in: signOut - now.wall) }
            return .refreshTokenExpires(in: snapshot.state.refreshToken.map { $0.expiresAt - now.wall })
        case .signedOut: return .signedOut
        case .parked: return .parked
        case .misconfigured: return .misconfigured(reason: reason)
        }
    }
}
