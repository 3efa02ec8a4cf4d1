internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore

/// A server that accounts depend on.
struct SurveyedServer: Sendable {
    let issuer: Issuer
    /// What is known about it beyond its metadata; nil if nothing.
    let profile: ProviderProfile?
    /// One registration of each kind that its accounts have, with an account that has it.
    fileprivate(set) var registrations: [(account: AccountName, registration: ClientRegistration)] = []
}

/// The servers of the accounts that were looked at.
struct SurveyedServers {
    /// Two accounts of one kind are told apart by nothing that a server's metadata speaks of.
    private struct Kind: Hashable {
        let authentication: ClientAuthentication?
        let hasSecret: Bool
    }

    private struct Place: Hashable {
        let issuer: Issuer
        let profile: ProviderProfile?
    }

    private var servers: [Place: SurveyedServer] = [:]
    private var kinds: [Place: Set<Kind>] = [:]
    private var hasUnseen = false

    mutating func add(_ snapshot: AccountSnapshot, profile: ProviderProfile?) {
        let (account, registration) = (snapshot.account, snapshot.account.registration)
        let place = Place(issuer: account.issuer, profile: profile)
        guard servers[place] != nil || servers.count < Diagnosis.serversMax else {
            hasUnseen = true
            return
        }
        let kind = Kind(authentication: registration.authentication, hasSecret: registration.clientSecret != nil)
        guard kinds[place, default: []].insert(kind).inserted else { return }
        servers[place, default: SurveyedServer(issuer: account.issuer, profile: profile)].registrations
            .append((account.name, registration))
    }

    /// In the order of their URLs.
    var sorted: [SurveyedServer] {
        servers.values.sorted { ($0.issuer.url, $0.profile?.name ?? "") < ($1.issuer.url, $1.profile?.name ?? "") }
    }

    /// Says that there are more; nil if there are not.
    var unseenNote: Finding? {
        guard hasUnseen else { return nil }
        return .note(
            .servers,
            "only \(Diagnosis.serversMax) authorization servers are asked",
            advice: "name accounts of others: authctl doctor ACCOUNT…"
        )
    }
}
