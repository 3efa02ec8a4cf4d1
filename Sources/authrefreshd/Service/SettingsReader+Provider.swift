internal import AuthRefreshInterface
internal import Basics
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
                throw Complaint(
                    field: "providerSettings",
                    "'\(variable)' is a variable of the profile",
                    hint: "--set \(variable)=VALUE"
                ).error
            }
            let profile = try profiles.profile(known, with: own).map { profile throws(VarlinkError) in
                try resolved(profile, with: variables, hasIssuer: settings.issuer != nil)
            }
            issuer = try self.issuer(settings.issuer, provider: profile, variables)
        } else {
            guard variables.isEmpty else {
                throw Complaint(
                    field: "variables",
                    "variables belong to a provider, and none is named",
                    hint: "--provider NAME"
                ).error
            }
            issuer = try self.issuer(settings.issuer, provider: nil, variables)
            _ = try profiles.profile(profiles.profile(provider: nil, issuer: issuer), with: own)
        }
        return ProfileChoice(provider: settings.provider, issuer: issuer, variables: variables, settings: own)
    }

    private func checked(provider name: String) throws(VarlinkError) -> ProviderProfile {
        if let profile = profiles.named(name) { return profile }
        guard profiles.obstacle == nil else {
            throw Complaint(
                field: "provider",
                "there is no provider profile '\(name)', and the profiles cannot be read again: \(profiles.obstacle ?? "")",
                hint: "correct the file, then: \(Command(program: "authrefreshd", "--check"))"
            ).error
        }
        let nearest = Spelling.nearest(to: name, in: profiles.names).map { "did you mean '\($0)'? " } ?? ""
        let known = profiles.names.joined(separator: ", ")
        throw Complaint(
            field: "provider",
            "there is no provider profile '\(name)'",
            hint: known.isEmpty ? "\(nearest)no profile is installed" : "\(nearest)known: \(known)"
        ).error
    }

    private func resolved(
        _ profile: ProviderProfile,
        with variables: [String: String],
        hasIssuer: Bool
    ) throws(VarlinkError) -> ProviderProfile {
        do throws(ProfileVariableError) {
            return try profile.resolved(with: variables)
        } catch {
            switch error {
            case .unknown(let name):
                let known = profile.variables.map(\.name).joined(separator: ", ")
                throw Complaint(
                    field: "variables",
                    "the provider '\(profile.name)' has no variable '\(name)'",
                    hint: known.isEmpty ? "it has no variables" : "known: \(known)"
                ).error
            case .unfit(let variable, let value) where variable.isLookedUp(value):
                let asked = profile.lookUp(for: variables)?.asked.url ?? ""
                throw Complaint(
                    field: "variables",
                    "the \(variable.name) of '\(value)' has to be looked up at the server, and was not",
                    hint: "its id is in the \"issuer\" of \(asked)/.well-known/openid-configuration"
                ).error
            case .unfit(let variable, let value):
                throw Complaint(
                    field: "variables",
                    "'\(value)' cannot be the \(variable.name): \(variable.help)",
                    hint: variable.pattern.map { "it must match \($0)" } ?? "letters, digits and ._-"
                ).error
            case .missing(let unsaid):
                let others = hasIssuer ? [] : profile.missingForIssuer(variables)
                throw missing(profile.variables.filter { unsaid.contains($0) || others.contains($0) })
            }
        }
    }

    private func missing(_ variables: [ProfileVariable]) -> VarlinkError {
        Complaint(
            field: "variables",
            variables.map { "'\($0.name)' is missing (\($0.help))" }.joined(separator: ", "),
            hint: Hint(variables.map { "--set \($0.name)=VALUE" }.joined(separator: " "))
        ).error
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
            guard provider == nil else {
                throw Complaint(
                    field: "issuer",
                    "it is missing, and this provider has no issuer for all",
                    hint: "--issuer URL"
                ).error
            }
            throw Complaint(field: "issuer", "it is missing", hint: "--issuer URL, or --provider NAME").error
        }
        do {
            return try Issuer(url: Self.issuerURL(in: url))
        } catch {
            switch error {
            case .notAbsolute:
                throw Complaint(
                    field: "issuer",
                    "'\(url)' is not an absolute URL",
                    hint: url.contains(":") ? "https://issuer.example" : "https://\(url)"
                ).error
            case .notHTTPS:
                throw Complaint(
                    field: "issuer",
                    "'\(url)' is not https: the refresh token would cross the network unencrypted",
                    hint: "use https; http is accepted for loopback addresses only"
                ).error
            case .hasQueryOrFragment:
                throw Complaint(
                    field: "issuer",
                    "an issuer has no query and no fragment",
                    hint: "leave out everything from '?' or '#' on"
                ).error
            case .hasUserInfo:
                throw Complaint(
                    field: "issuer",
                    "an issuer has no user name in it",
                    hint: "https://issuer.example"
                ).error
            }
        }
    }
}
