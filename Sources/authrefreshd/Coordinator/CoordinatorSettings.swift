internal import OAuthClient
internal import RefreshCore

/// What the configuration says about refreshing; replaced whole by a reload.
struct CoordinatorSettings: Sendable {
    var profiles = ProviderProfiles()
    var issuerLimits = IssuerGate.Limits()
    var maxAccounts = CallerLimits.accountsMax
    /// Whether the store's key is to be kept in the Secret Service.
    var usesSecretService = false

    func profile(for account: Account) -> ProviderProfile? {
        profile(provider: account.provider, issuer: account.issuer, variables: account.providerVariables)
    }

    /// The profile as it is for an account that says `variables`.
    func profile(provider: String?, issuer: Issuer, variables: [String: String]) -> ProviderProfile? {
        let profile = profiles.profile(provider: provider, issuer: issuer)
        guard let profile, !profile.templates.isEmpty else { return profile }
        // A profile that was changed under its accounts, and has other variables now, leads them nowhere.
        return (try? profile.resolved(with: variables)) ?? profile.unfilled
    }

    /// How people sign in to `account`: what its client is registered with goes before what the provider takes.
    func signIn(for account: Account) -> SignInProfile {
        (profile(for: account)?.signIn ?? SignInProfile()).registered(with: account.registration.redirect)
    }

    /// The account's own policy; where it says nothing, its provider's.
    ///
    /// - Parameter serviceGrant: as in the account's registration.
    func policy(
        of policy: RefreshPolicy,
        provider: String?,
        issuer: Issuer,
        serviceGrant: ServiceGrant?
    ) -> RefreshPolicy {
        let profile = profiles.profile(provider: provider, issuer: issuer)
        return RefreshPolicy(
            leadTime: policy.leadTime,
            rotationGrace: policy.rotationGrace ?? profile?.rotationGrace?.duration,
            refreshTokenLifetime: policy.refreshTokenLifetime ?? profile?.refreshTokenLifetime?.duration,
            isServiceAccount: serviceGrant != nil
        )
    }

    func policy(of account: Account) -> RefreshPolicy {
        policy(
            of: account.policy,
            provider: account.provider,
            issuer: account.issuer,
            serviceGrant: account.registration.serviceGrant
        )
    }

    func limits(for account: Account) -> IssuerGate.Limits {
        guard let profile = profile(for: account) else { return issuerLimits }
        return IssuerGate.Limits(
            concurrent: profile.maxConcurrentRefreshes ?? issuerLimits.concurrent,
            perSecond: profile.maxRefreshesPerSecond ?? issuerLimits.perSecond
        )
    }
}
