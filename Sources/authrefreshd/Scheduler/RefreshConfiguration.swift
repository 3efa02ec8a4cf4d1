internal import OAuthMessages
internal import RefreshCore

/// The part of the configuration about refreshing. A reload replaces it as a whole.
struct RefreshConfiguration: Sendable {
    var profiles = ProviderProfiles() {
        didSet { adapted = [:] }
    }
    var issuerLimits = IssuerGate.Limits()
    var maxAccounts = CallerLimits.accountsMax
    /// Whether the store's key belongs in the Secret Service.
    var usesSecretService = false
    /// The command that runs after a change of an account; nil for none.
    var changeCommand: ChangeCommand?

    /// A limited cache of profiles with accounts' settings inserted, or with a substitute if the settings are invalid.
    private(set) var adapted: [ProfileChoice: ProviderProfile] = [:]
    /// The substitute for an account whose settings no longer fit its profile. Its requests must not go to the
    /// addresses that the settings would replace. Nobody owns the top level domain `.invalid` (RFC 6761 §6.4), and the
    /// name shows the problem in the journal. Because the profile has a token endpoint, no metadata is fetched.
    static let leadingNowhere = ProviderProfile(
        name: "account",
        tokenEndpoint: Endpoint("https://provider-settings-cannot-be-used.invalid/")
    )
    /// When there are more, all are removed. Few accounts have settings of their own, and they share entries.
    private static let adaptedLimit = 256

    mutating func profile(for account: Account) -> ProviderProfile? {
        profile(for: ProfileChoice(account))
    }

    /// The profile for an account with this choice.
    mutating func profile(for choice: ProfileChoice) -> ProviderProfile? {
        let profile = unresolvedProfile(for: choice)
        guard let profile, !profile.variables.isEmpty else { return profile }
        // If the profile was changed and now has other variables, the account gets no usable addresses.
        return (try? profile.resolved(with: choice.variables)) ?? profile.unfilled
    }

    /// The profile before the account's variables are inserted.
    private mutating func unresolvedProfile(for choice: ProfileChoice) -> ProviderProfile? {
        let profile = profiles.profile(provider: choice.provider, issuer: choice.issuer)
        guard !choice.settings.isEmpty else { return profile }
        if let known = adapted[choice] { return known }
        let own = (try? profiles.profile(profile, with: choice.settings)) ?? Self.leadingNowhere
        if adapted.count >= Self.adaptedLimit { adapted = [:] }
        adapted[choice] = own
        return own
    }

    /// `account` with another policy than its own, for requests to its server; unchanged if it cannot have this policy.
    mutating func account(_ account: Account, running policy: String) -> Account {
        let own = profile(for: account)
        guard let variables = own?.variables(account.providerVariables, running: policy) else { return account }
        var other = account
        other.providerVariables = variables
        // The policy may also be a part of the issuer.
        if own?.issuer == account.issuer, let issuer = profile(for: other)?.issuer { other.issuer = issuer }
        return other
    }

    /// How people sign in to `account`. The client's registration takes precedence over the provider's profile.
    mutating func signIn(for account: Account) -> SignInProfile {
        (profile(for: account)?.signIn ?? SignInProfile()).registered(with: account.registration.redirect)
    }

    /// The URI schemes that the provider's file names for redirect URIs. An account's own settings came over the wire.
    func profileSchemes(of account: Account) -> Set<String> {
        let signIn = profiles.profile(provider: account.provider, issuer: account.issuer)?.signIn
        let texts = [signIn?.redirectScheme, signIn?.redirectURI].compactMap(\.self)
        return Set(texts.map { $0.prefix { $0 != ":" }.lowercased() })
    }

    /// The account's own refresh policy, completed by its provider's.
    mutating func policy(of account: Account) -> RefreshPolicy {
        let profile = unresolvedProfile(for: ProfileChoice(account))
        var policy = account.policy
        policy.rotationGrace = policy.rotationGrace ?? profile?.rotationGrace
        policy.refreshTokenLifetime = policy.refreshTokenLifetime ?? profile?.refreshTokenLifetime
        policy.isRefreshTokenLifetimeAbsolute = profile?.refreshTokenLifetimeStart == .signIn
        policy.isServiceAccount = account.registration.serviceGrant != nil
        return policy
    }

    mutating func limits(for account: Account) -> IssuerGate.Limits {
        guard let profile = profile(for: account) else { return issuerLimits }
        return IssuerGate.Limits(
            concurrent: profile.maxConcurrentRefreshes ?? issuerLimits.concurrent,
            perSecond: profile.maxRefreshesPerSecond ?? issuerLimits.perSecond
        )
    }
}
