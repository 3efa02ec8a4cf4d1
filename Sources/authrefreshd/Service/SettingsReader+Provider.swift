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
            var profile = try profiles.profile(known, with: own)
            do throws(ValueError) {
                profile = try profile?.resolved(with: variables, hasIssuer: settings.issuer != nil)
            } catch {
                throw Complaint(error).error
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
            if let unsaid = provider?.missingForIssuer(variables), !unsaid.isEmpty {
                throw Complaint(ProviderProfile.missing(unsaid)).error
            }
            guard provider == nil else {
                throw Complaint(
                    field: "issuer",
                    "it is missing, and this provider has no issuer for all",
                    hint: "--issuer URL"
                ).error
            }
            throw Complaint(field: "issuer", "it is missing", hint: "--issuer URL, or --provider NAME").error
        }
        do throws(ValueError) {
            // An error quotes what the person gave.
            _ = try Issuer(url: url)
            return try Issuer(url: Self.issuerURL(in: url))
        } catch {
            throw Complaint(error).error
        }
    }
}
