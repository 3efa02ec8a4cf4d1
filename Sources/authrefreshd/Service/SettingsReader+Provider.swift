internal import AuthRefreshInterface
internal import OAuthMessages
internal import RefreshCore
internal import TextEncodings
internal import Varlink

/// Reads an account's server and its profile.
extension SettingsReader {
    /// The choice of both in the settings, checked.
    func choice(_ settings: AccountSettings) throws(VarlinkError) -> ProfileChoice {
        let (variables, own) = (settings.variables ?? [:], settings.providerSettings ?? [:])
        let issuer: Issuer
        if let name = settings.provider {
            let known = try checked(provider: name)
            if let variable = known.variables.first(where: { own[$0.name] != nil })?.name {
                throw .invalid(WrongSetting.variableAsProviderSetting(name: variable))
            }
            let profile = try adapted(known, with: own).map { profile throws(VarlinkError) in
                try resolved(profile, with: variables, hasIssuer: settings.issuer != nil)
            }
            issuer = try self.issuer(settings.issuer, provider: profile, variables)
        } else {
            guard variables.isEmpty else { throw .invalid(WrongSetting.variablesWithoutProvider) }
            issuer = try self.issuer(settings.issuer, provider: nil, variables)
            _ = try adapted(profiles.profile(provider: nil, issuer: issuer), with: own)
        }
        return ProfileChoice(provider: settings.provider, issuer: issuer, variables: variables, settings: own)
    }

    /// The profile with settings inserted.
    ///
    /// - Throws: the error of the first invalid setting.
    private func adapted(
        _ profile: ProviderProfile?,
        with settings: [String: String]
    ) throws(VarlinkError) -> ProviderProfile? {
        do throws(ProviderSettingFault) {
            return try profiles.profile(profile, with: settings)
        } catch {
            throw .invalid(WrongSetting.providerSetting(reason: error.reason))
        }
    }

    private func checked(provider name: String) throws(VarlinkError) -> ProviderProfile {
        if let profile = profiles.named(name) { return profile }
        let nearest = Spelling.nearest(to: name, in: profiles.names)
        throw .invalid(WrongSetting.unknownProvider(name: name, nearest: nearest, known: profiles.names))
    }

    private func resolved(
        _ profile: ProviderProfile,
        with variables: [String: String],
        hasIssuer: Bool
    ) throws(VarlinkError) -> ProviderProfile {
        do throws(ProfileVariableFault) {
            return try profile.resolved(with: variables)
        } catch {
            switch error {
            case .unknown(let name):
                let known = profile.variables.map(\.name)
                throw .invalid(WrongSetting.unknownVariable(name: name, provider: profile.name, known: known))
            case .unfit(let variable, let value):
                throw .invalid(
                    WrongSetting.unfitVariable(
                        name: variable.name,
                        value: value,
                        help: variable.help,
                        pattern: variable.pattern
                    )
                )
            case .missing(let unsaid):
                let others = hasIssuer ? [] : profile.missingForIssuer(variables)
                throw missing(profile.variables.filter { unsaid.contains($0) || others.contains($0) })
            }
        }
    }

    private func missing(_ variables: [ProfileVariable]) -> VarlinkError {
        .invalid(WrongSetting.missingVariables(variables.map { WrongSetting.Variable(name: $0.name, help: $0.help) }))
    }

    /// The issuer from the address of its metadata, which people copy as well (OpenID Connect Discovery §4, RFC 8414
    /// §3.1); any other text unchanged.
    private static func issuerURL(in text: String) -> String {
        guard let mark = text.firstRange(of: "/.well-known/") else { return text }
        let (base, rest) = (text[..<mark.lowerBound], text[mark.upperBound...])
        if rest == "openid-configuration" { return String(base) }
        let inserted = "oauth-authorization-server"
        // The issuer's path follows it.
        guard rest == inserted || rest.hasPrefix(inserted + "/") else { return text }
        return String(base + rest.dropFirst(inserted.count))
    }

    private func issuer(
        _ url: String?,
        provider: ProviderProfile?,
        _ variables: [String: String]
    ) throws(VarlinkError) -> Issuer {
        guard let url else {
            if let issuer = provider?.issuer { return issuer }
            if let unsaid = provider?.missingForIssuer(variables), !unsaid.isEmpty { throw missing(unsaid) }
            throw .invalid(WrongSetting.noIssuer(hasProvider: provider != nil))
        }
        do {
            return try Issuer(url: Self.issuerURL(in: url))
        } catch {
            switch error {
            case .notAbsolute: throw .invalid(WrongSetting.issuerNotAbsolute(url: url))
            case .notHTTPS: throw .invalid(WrongSetting.issuerNotHTTPS(url: url))
            case .hasQueryOrFragment: throw .invalid(WrongSetting.issuerHasQuery)
            case .hasUserInfo: throw .invalid(WrongSetting.issuerHasUserName)
            }
        }
    }
}
