internal import AccountStorage
internal import RefreshCore

/// Which profile an account goes by, and what it says about it.
struct ProfileChoice: Hashable, Sendable {
    /// Nil leaves it to the issuer.
    let provider: String?
    let issuer: Issuer
    let variables: [String: String]
    /// What it says instead of the profile.
    let settings: [String: String]
}

extension ProfileChoice {
    init(_ account: Account) {
        provider = account.provider
        issuer = account.issuer
        variables = account.providerVariables
        settings = account.providerSettings
    }

    init(_ account: NewAccount) {
        provider = account.provider
        issuer = account.issuer
        variables = account.providerVariables
        settings = account.providerSettings
    }

    /// Whether it leads to other addresses: who chooses so must not take along what the ones before gave or were told.
    func isElsewhere(than other: ProfileChoice) -> Bool {
        issuer != other.issuer || provider != other.provider || variables != other.variables
            || settings.filter(Self.isAddress) != other.settings.filter(Self.isAddress)
    }

    /// Whether a key of a profile says where something is.
    private static func isAddress(_ key: String, _: String) -> Bool {
        key.hasSuffix("_endpoint") || key == "jwks_uri"
    }
}
