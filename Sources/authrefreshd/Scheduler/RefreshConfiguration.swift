internal import OAuthMessages
internal import RefreshCore

/// What the configuration says about refreshing; replaced whole by a reload.
struct RefreshConfiguration: Sendable {
    var profiles = ProviderProfiles()
    var issuerLimits = IssuerGate.Limits()
    var maxAccounts = CallerLimits.accountsMax
    var maxSubscribers = CallerLimits.subscribersMax(connections: CallerLimits.connectionsMax)
    /// Whether the store's key is to be kept in the Secret Service.
    var usesSecretService = false
    /// The browser for accounts that name none; nil leaves it to whoever signs in.
    var loginBrowser: String?
    /// What is run when an account has changed; nil: nothing.
    var changeCommand: ChangeCommand?

    /// Profiles with settings of accounts in them, or what stands for those that cannot be, each read once; a bounded memory.
    private(set) var adapted: [ProfileChoice: ProviderProfile] = [:]
    /// Where accounts are whose settings their profile takes no more: not at the addresses that they mean to leave. The top level domain
    /// `.invalid` is nobody's (RFC 6761 §6.4), and the name says in the journal what is wrong. A profile with a token endpoint has no
    /// others beside its own, so nothing is looked up.
    static let leadingNowhere = ProviderProfile(
        name: "account",
        tokenEndpoint: Endpoint("https://provider-settings-cannot-be-used.invalid/")
    )
    /// Beyond it all are forgotten: accounts with settings of their own are few, and share them.
    private static let adaptedLimit = 256

    mutating func profile(for account: Account) -> ProviderProfile? {
        profile(for: ProfileChoice(account))
    }

    /// The profile as it is for an account that has chosen so.
    mutating func profile(for choice: ProfileChoice) -> ProviderProfile? {
        let profile = unresolvedProfile(for: choice)
        guard let profile, !profile.variables.isEmpty else { return profile }
        // A profile that was changed under its accounts, and has other variables now, leads them nowhere.
        return (try? profile.resolved(with: choice.variables)) ?? profile.unfilled
    }

    /// The same before the account's variables are filled in.
    private mutating func unresolvedProfile(for choice: ProfileChoice) -> ProviderProfile? {
        let profile = profiles.profile(provider: choice.provider, issuer: choice.issuer)
        guard !choice.settings.isEmpty else { return profile }
        if let known = adapted[choice] { return known }
        let own = (try? profiles.profile(profile, with: choice.settings)) ?? Self.leadingNowhere
        if adapted.count >= Self.adaptedLimit { adapted = [:] }
        adapted[choice] = own
        return own
    }

    /// `account` as its server is asked for another policy than the account's own; the same if it cannot have this one.
    mutating func account(_ account: Account, running policy: String) -> Account {
        let own = profile(for: account)
        guard let variables = own?.variables(account.providerVariables, running: policy) else { return account }
        var other = account
        other.providerVariables = variables
        // The policy may stand in the issuer as well.
        if own?.issuer == account.issuer, let issuer = profile(for: other)?.issuer { other.issuer = issuer }
        return other
    }

    /// How people sign in to `account`: what its client is registered with goes before what the provider takes.
    mutating func signIn(for account: Account) -> SignInProfile {
        (profile(for: account)?.signIn ?? SignInProfile()).registered(with: account.registration.redirect)
    }

    /// The account's own policy; where it says nothing, its provider's.
    mutating func policy(of account: Account) -> RefreshPolicy {
        let profile = unresolvedProfile(for: ProfileChoice(account))
        return RefreshPolicy(
            leadTime: account.policy.leadTime,
            rotationGrace: account.policy.rotationGrace ?? profile?.rotationGrace?.duration,
            refreshTokenLifetime: account.policy.refreshTokenLifetime ?? profile?.refreshTokenLifetime?.duration,
            isRefreshTokenLifetimeAbsolute: profile?.refreshTokenLifetimeStart == .signIn,
            isServiceAccount: account.registration.serviceGrant != nil,
            forgetAfter: account.policy.forgetAfter
        )
    }

    mutating func limits(for account: Account) -> IssuerGate.Limits {
        guard let profile = profile(for: account) else { return issuerLimits }
        return IssuerGate.Limits(
            concurrent: profile.maxConcurrentRefreshes ?? issuerLimits.concurrent,
            perSecond: profile.maxRefreshesPerSecond ?? issuerLimits.perSecond
        )
    }
}
