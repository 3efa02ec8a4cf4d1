internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// Turns the settings of the wire into an account's, or says what is wrong with them.
struct SettingsReader {
    let profiles: ProviderProfiles
    /// Whether the server is yet to be asked for a client: it has no id and no secret until then.
    var isRegistering = false

    /// - Parameter dpopKey: the key that the account has already; nil makes one if the settings want it.
    func draft(
        _ settings: AccountSettings,
        clientSecret: String?,
        clientKey: String? = nil,
        dpopKey: Secret? = nil
    ) throws(VarlinkError) -> NewAccount {
        guard settings.byteCount <= CallerLimits.settingsBytesMax else {
            throw VarlinkError(LimitExceededError(.settingsBytes, maximum: CallerLimits.settingsBytesMax))
        }
        guard let name = AccountName(settings.name) else {
            throw invalid(
                "name",
                "'\(settings.name)' is no account name",
                "1 to 64 letters, digits and ._@+-, not starting with - or ."
            )
        }
        let variables = settings.variables ?? [:]
        let provider = try settings.provider.map { provider throws(VarlinkError) in
            try resolved(checked(provider: provider), with: variables)
        }
        guard provider != nil || variables.isEmpty else {
            throw invalid("variables", "they are a provider's, and none is named", "--provider NAME")
        }
        return NewAccount(
            name: name,
            issuer: try issuer(settings.issuer, provider: provider, variables),
            provider: provider?.name,
            providerVariables: variables,
            registration: try registration(settings, clientSecret, clientKey, dpopKey),
            policy: try policy(settings),
            allowedCallers: try allowedCallers(settings),
            createdAt: Timestamp(microseconds: 0)
        )
    }

    /// `account` with the fields changed that `change` names.
    func account(_ account: Account, changedBy change: UpdateAccount.Parameters) throws(VarlinkError) -> Account {
        var settings = AccountSettings(account)
        var secret = account.registration.clientSecret
        var key = account.registration.clientKey
        for field in change.clear ?? [] {
            switch field {
            case "clientSecret": secret = nil
            case "clientKey": key = nil
            default: guard settings.clear(field) else { throw invalid("clear", "'\(field)' cannot be emptied", nil) }
            }
        }
        settings.apply(change)
        let isMoved =
            settings.issuer != account.issuer.url || settings.provider != account.provider
            || settings.variables ?? [:] != account.providerVariables
        // The secret is known to the server it was made for; another one must not see it, nor what the key signs.
        var draft = try draft(
            settings,
            clientSecret: change.clientSecret ?? (isMoved ? nil : secret?.reveal()),
            clientKey: change.clientKey ?? (isMoved ? nil : key?.reveal()),
            dpopKey: account.registration.dpopKey
        )
        if !isMoved, draft.registration.clientID == account.registration.clientID {
            draft.registration.management = account.registration.management
            // Whoever brings a new secret knows when it ends.
            if draft.registration.clientSecret != nil, change.clientSecret.map({ $0 == secret?.reveal() }) ?? true {
                draft.registration.clientSecretExpiresAt = account.registration.clientSecretExpiresAt
            }
        }
        return Account(
            id: account.id,
            name: account.name,
            issuer: draft.issuer,
            provider: draft.provider,
            providerVariables: draft.providerVariables,
            registration: draft.registration,
            policy: draft.policy,
            allowedCallers: draft.allowedCallers
        )
    }

    private func checked(provider name: String) throws(VarlinkError) -> ProviderProfile {
        if let profile = profiles.named(name) { return profile }
        let known =
            profiles.names.isEmpty ? "no profile is installed" : "known: \(profiles.names.joined(separator: ", "))"
        throw invalid("provider", "there is no provider profile '\(name)'", known)
    }

    private func resolved(
        _ profile: ProviderProfile,
        with variables: [String: String]
    ) throws(VarlinkError) -> ProviderProfile {
        do throws(ProfileVariableFault) {
            return try profile.resolved(with: variables)
        } catch {
            switch error {
            case .unknown(let name):
                let known = profile.variables.map(\.name).joined(separator: ", ")
                let hint = known.isEmpty ? "it has none" : "it has: \(known)"
                throw invalid("variables", "'\(profile.name)' has no '\(name)' to be set", hint)
            case .unfit(let variable, let value):
                let hint = variable.pattern.map { "it matches \($0)" } ?? "letters, digits, and ._-"
                throw invalid("variables", "'\(value)' cannot be the \(variable.name): \(variable.help)", hint)
            case .missing(let variables): throw missing(variables)
            }
        }
    }

    private func missing(_ variables: [ProfileVariable]) -> VarlinkError {
        let words = variables.map { "'\($0.name)' is missing (\($0.help))" }.joined(separator: ", ")
        return invalid("variables", words, variables.map { "--set \($0.name)=VALUE" }.joined(separator: " "))
    }

    private func issuer(
        _ url: String?,
        provider: ProviderProfile?,
        _ variables: [String: String]
    ) throws(VarlinkError) -> Issuer {
        guard let url else {
            if let issuer = provider?.issuer { return issuer }
            if let unsaid = provider?.missingForIssuer(variables), !unsaid.isEmpty { throw missing(unsaid) }
            throw invalid(
                "issuer",
                "it is missing",
                provider == nil ? "name the issuer or a provider" : "this provider's issuer is yours to name"
            )
        }
        do {
            return try Issuer(url: url)
        } catch {
            switch error {
            case .notAbsolute: throw invalid("issuer", "'\(url)' is no absolute URL", "https://issuer.example")
            case .notHTTPS:
                throw invalid(
                    "issuer",
                    "'\(url)' is not https: the refresh token would cross the network unprotected",
                    "http is for loopback addresses only"
                )
            case .hasQueryOrFragment:
                throw invalid("issuer", "an issuer has no query and no fragment", "RFC 8414 section 2")
            case .hasUserInfo: throw invalid("issuer", "an issuer has no user name in it", nil)
            }
        }
    }

    private func policy(_ settings: AccountSettings) throws(VarlinkError) -> RefreshPolicy {
        RefreshPolicy(
            leadTime: try seconds(settings.leadTimeSec, "leadTimeSec"),
            rotationGrace: try seconds(settings.rotationGraceSec, "rotationGraceSec"),
            refreshTokenLifetime: try seconds(settings.refreshTokenLifetimeSec, "refreshTokenLifetimeSec")
        )
    }

    private func seconds(_ count: Int64?, _ field: String) throws(VarlinkError) -> Duration? {
        // A hundred years: what is longer is a mistake.
        guard let count else { return nil }
        guard (1...3_155_760_000).contains(count) else { throw invalid(field, "it must be 1 s to 100 years", nil) }
        return .seconds(count)
    }

    func invalid(_ field: String, _ reason: String, _ hint: String?) -> VarlinkError {
        VarlinkError(InvalidSettingsError(field: field, reason: reason, hint: hint))
    }
}

extension AccountSettings {
    /// What its texts take, in bytes; an empty one counts too, or a list could have any number of them.
    fileprivate var byteCount: Int {
        let texts = [
            name, issuer, provider, clientId, clientAuthentication, clientKeyId, teamId, grantType, assertionSubject,
            assertionAudience, subjectAccount, subjectTokenType, actorAccount, actorTokenType, requestedTokenType,
            redirectUri, redirectScheme, authorizationDetails, postLogoutRedirectUri,
        ]
        .compactMap { $0 }
        let lists = (scopes ?? []) + (allowedUnits ?? []) + (allowedExecutables ?? [])
        let parameters = [refreshParameters, authorizationParameters, variables].flatMap {
            ($0 ?? [:]).flatMap { [$0.key, $0.value] }
        }
        return (texts + lists + parameters).reduce(0) { $0 + $1.utf8.count + 1 }
    }
}
