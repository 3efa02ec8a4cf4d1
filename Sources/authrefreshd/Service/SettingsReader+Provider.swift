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
                throw .invalidSetting("providerSettings", "'\(variable)' is a variable", "--set \(variable)=VALUE")
            }
            let profile = try adapted(known, with: own).map { profile throws(VarlinkError) in
                try resolved(profile, with: variables, hasIssuer: settings.issuer != nil)
            }
            issuer = try self.issuer(settings.issuer, provider: profile, variables)
        } else {
            guard variables.isEmpty else {
                throw .invalidSetting("variables", "they are a provider's, and none is named", "--provider NAME")
            }
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
            throw .invalidSetting("providerSettings", error.reason, "man provider-profile.yaml")
        }
    }

    private func checked(provider name: String) throws(VarlinkError) -> ProviderProfile {
        if let profile = profiles.named(name) { return profile }
        let known =
            profiles.names.isEmpty ? "no profile is installed" : "known: \(profiles.names.joined(separator: ", "))"
        let near = Spelling.nearest(to: name, in: profiles.names).map { "did you mean '\($0)'? " } ?? ""
        throw .invalidSetting("provider", "there is no provider profile '\(name)'", near + known)
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
                let known = profile.variables.map(\.name).joined(separator: ", ")
                let hint = known.isEmpty ? "it has none" : "it has: \(known)"
                throw .invalidSetting("variables", "'\(profile.name)' has no '\(name)' to be set", hint)
            case .unfit(let variable, let value):
                let hint = variable.pattern.map { "it matches \($0)" } ?? "letters, digits, and ._-"
                throw .invalidSetting("variables", "'\(value)' cannot be the \(variable.name): \(variable.help)", hint)
            case .missing(let unsaid):
                let others = hasIssuer ? [] : profile.missingForIssuer(variables)
                throw missing(profile.variables.filter { unsaid.contains($0) || others.contains($0) })
            }
        }
    }

    private func missing(_ variables: [ProfileVariable]) -> VarlinkError {
        let words = variables.map { "'\($0.name)' is missing (\($0.help))" }.joined(separator: ", ")
        return .invalidSetting("variables", words, variables.map { "--set \($0.name)=VALUE" }.joined(separator: " "))
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
            throw .invalidSetting(
                "issuer",
                "it is missing",
                provider == nil ? "name the issuer or a provider" : "this provider's issuer is yours to name"
            )
        }
        do {
            return try Issuer(url: Self.issuerURL(in: url))
        } catch {
            switch error {
            case .notAbsolute: throw .invalidSetting("issuer", "'\(url)' is no absolute URL", "https://issuer.example")
            case .notHTTPS:
                throw .invalidSetting(
                    "issuer",
                    "'\(url)' is not https: the refresh token would cross the network unprotected",
                    "http is for loopback addresses only"
                )
            case .hasQueryOrFragment:
                throw .invalidSetting("issuer", "an issuer has no query and no fragment", "RFC 8414 section 2")
            case .hasUserInfo: throw .invalidSetting("issuer", "an issuer has no user name in it", nil)
            }
        }
    }
}
