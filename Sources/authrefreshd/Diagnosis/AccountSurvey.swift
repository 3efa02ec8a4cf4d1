internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
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
    private(set) var servers: [SurveyedServer] = []
    /// Whether there are more servers.
    private var hasUnseenServers = false
    private var wellCount = 0
    private var inNeed: [Finding] = []
    private var inNeedCount = 0
    private var unused: [Finding] = []

    /// Begins a survey.
    ///
    /// - Parameter total: how many accounts there are.
    init(total: Int, settings: RefreshConfiguration, now: Moment) {
        self.total = total
        self.settings = settings
        self.now = now
    }

    /// Checks an account.
    ///
    /// - Parameter addresses: its addresses for which tools use another account.
    mutating func look(at account: ShownAccount, unused addresses: [Finding] = []) {
        seen += 1
        unused += addresses.prefix(Self.namedMax - unused.count)
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
            let profile = settings.profile(for: snapshot.account)
            addServer(of: snapshot.account, profile)
            return problem(of: snapshot, advice(to: snapshot, profile))
        case .damaged(let account):
            return .error(.account, account.reason, of: account.name, needs: .repair, advice: account.hint)
        }
    }

    private mutating func addServer(of account: Account, _ profile: ProviderProfile?) {
        let known = servers.firstIndex { $0.issuer == account.issuer && $0.profile == profile }
        guard known != nil || servers.count < Diagnosis.serversMax else { return hasUnseenServers = true }
        if known == nil { servers.append(SurveyedServer(issuer: account.issuer, profile: profile)) }
        servers[known ?? servers.count - 1].add(account.registration, of: account.name)
    }

    /// The findings about accounts, then those about all of them.
    var findings: [Finding] {
        var findings = inNeed + unused
        if inNeedCount > inNeed.count {
            let count = inNeedCount - inNeed.count
            let text = "\(count) more \(count == 1 ? "has" : "have") problems"
            findings.append(.note(.accounts, text, advice: Hint(Command("status"))))
        }
        if wellCount > 0 {
            findings.append(
                .ok(.accounts, wellCount == 1 ? "1 account is well" : "\(wellCount) accounts are well")
            )
        }
        if total == 0 {
            findings.append(
                .note(
                    .accounts,
                    "there are no accounts",
                    advice: Hint(Command("login", "work", "--provider", "google"))
                )
            )
        }
        if seen < total {
            let text = "only \(seen) of \(total) accounts were checked"
            findings.append(.note(.accounts, text, advice: "name others: \(Command("doctor", "ACCOUNT…"))"))
        }
        if hasUnseenServers {
            let text = "only \(Diagnosis.serversMax) authorization servers are checked"
            findings.append(
                .note(.servers, text, advice: "name accounts of the others: \(Command("doctor", "ACCOUNT…"))")
            )
        }
        return findings
    }

    private func advice(to snapshot: AccountSnapshot, _ profile: ProviderProfile?) -> Hint {
        let advice = snapshot.hint ?? Hint(Command("status", snapshot.account.name.text))
        // Many sign-ins after a week mean something else than a single one.
        guard Self.isEndOfGrant(snapshot), let note = profile?.note(about: .lifetime) else { return advice }
        return advice + " (\(note))"
    }

    /// Whether the profile's note about when grants end explains the finding.
    private static func isEndOfGrant(_ snapshot: AccountSnapshot) -> Bool {
        switch snapshot.shown {
        case .interactionRequired: snapshot.state.interaction?.reason == .grantEnded
        case .fresh, .refreshing, .refreshTokenExpiring: snapshot.grantEnd != nil
        case .retrying, .signedOut, .parked, .misconfigured: false
        }
    }

    private func problem(of snapshot: AccountSnapshot, _ advice: Hint) -> Finding? {
        let name = snapshot.account.name.text
        let because = snapshot.failure.map { ": \($0.detail.summary)" } ?? ""
        switch snapshot.shown {
        case .fresh where snapshot.lacksRefreshToken:
            return .warning(
                .account,
                "the server gave no refresh token: you have to sign in each time the access token expires",
                of: name,
                needs: .signIn,
                advice: advice
            )
        case .fresh where snapshot.lacksScopes:
            let declined = snapshot.account.grantFacts.scope?.declined.joined(separator: " ") ?? ""
            return .warning(
                .account,
                "the sign-in asked for scopes that were not granted: \(declined)",
                of: name,
                needs: .signIn,
                advice: advice
            )
        case .fresh, .refreshing: return endOfClientSecret(of: snapshot, advice) ?? endOfGrant(of: snapshot, advice)
        case .retrying: return failing(snapshot, because, advice)
        case .interactionRequired:
            guard snapshot.state.interaction != nil || !snapshot.hasLostScopes else {
                let lost = snapshot.account.grantFacts.scope?.missing.joined(separator: " ") ?? ""
                let text = "the server no longer gives scopes that were granted: \(lost)"
                return .error(.account, text, of: name, needs: .signIn, advice: advice)
            }
            guard let since = snapshot.state.interaction?.since else { return nil }
            let time = (now.wall - since).words
            guard snapshot.failure?.failureClass != .refusedHere else {
                // A sign-in here would be refused as well.
                return .error(
                    .account,
                    "it has been refused for \(time)\(because)",
                    of: name,
                    needs: .repair,
                    advice: advice
                )
            }
            return .error(
                .account,
                "it has needed a sign-in for \(time)\(because)",
                of: name,
                needs: .signIn,
                advice: advice
            )
        case .refreshTokenExpiring: return endOfRefreshToken(of: snapshot, advice)
        case .signedOut: return .note(.account, "it is signed out", of: name, advice: advice)
        case .parked:
            let text = "it is parked, because another machine may use its grant"
            return .note(.account, text, of: name, advice: advice)
        case .misconfigured:
            return .error(.account, "it is misconfigured\(because)", of: name, needs: .repair, advice: advice)
        }
    }

    private func endOfClientSecret(of snapshot: AccountSnapshot, _ advice: Hint) -> Finding? {
        guard let end = snapshot.account.registration.clientSecretExpiresAt, snapshot.needsClientSecret else {
            return nil
        }
        let rest = end - now.wall
        return .warning(
            .account,
            rest > .zero ? "the client secret expires in \(rest.words)" : "the client secret has expired",
            of: snapshot.account.name.text,
            needs: .repair,
            advice: advice
        )
    }

    /// The end of a grant that nothing moves, while it is not near yet.
    private func endOfGrant(of snapshot: AccountSnapshot, _ advice: Hint) -> Finding? {
        guard let end = snapshot.state.grantEnd else { return nil }
        let text =
            snapshot.grantEnd == nil
            ? "it signs out by itself in \((end - now.wall).words)"
            : "the refresh token expires in \((end - now.wall).words), and no use extends it"
        return .note(.account, text, of: snapshot.account.name.text, advice: advice)
    }

    private func endOfRefreshToken(of snapshot: AccountSnapshot, _ advice: Hint) -> Finding {
        let name = snapshot.account.name.text
        if let signOut = snapshot.state.firstSignOut {
            let text = "it signs out by itself in \((signOut - now.wall).words)"
            return .note(.account, text, of: name, advice: advice)
        }
        let rest = snapshot.state.refreshToken.map { ($0.expiresAt - now.wall).words } ?? "days"
        return .warning(.account, "the refresh token expires in \(rest)", of: name, needs: .signIn, advice: advice)
    }

    private func failing(_ snapshot: AccountSnapshot, _ because: String, _ advice: Hint) -> Finding {
        let name = snapshot.account.name.text
        guard let rest = snapshot.state.accessToken?.remaining(at: now), rest > .zero else {
            return .error(.account, "no valid token\(because)", of: name, needs: .time, advice: advice)
        }
        let failures = snapshot.state.failures
        return .warning(
            .account,
            (failures == 1 ? "the last refresh failed" : "the last \(failures) refreshes failed")
                + "\(because); the token is valid for \(rest.words)",
            of: name,
            needs: .time,
            advice: advice
        )
    }
}

extension RefreshCoordinator {
    /// The addresses of an account that another account has, too, with the same user name. Tools never use this one for
    /// them.
    func unusedAddresses(of account: ShownAccount) throws(StoreError) -> [Finding] {
        guard case .whole(let snapshot) = account else { return [] }
        let delivery = snapshot.account.delivery
        var found: [Finding] = []
        for url in delivery.urls {
            guard let address = ServiceAddress(url),
                let used = try store.accounts(for: address, username: delivery.username).first, used != account.name
            else { continue }
            found.append(
                .note(
                    .account,
                    "git and docker use '\(used)' for '\(url)', because it was added first",
                    of: account.name,
                    advice: "to tell them apart: \(Command("account", "edit", account.name, "--username", "NAME"))"
                )
            )
        }
        return found
    }
}
