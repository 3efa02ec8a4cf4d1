internal import AuthRefreshInterface
internal import Terminal
internal import TextEncodings

/// A provider profile as lines of name and value.
struct ProviderView {
    let provider: ProviderDescription

    /// The lines, each with a newline. Settings without a value are left out.
    var text: String {
        var lines: [(name: String, value: String?)] = [
            ("provider", provider.name),
            ("file", provider.path),
            ("documentation", provider.documentation),
            ("client id from", provider.clientIdHint),
        ]
        lines += (provider.notes ?? []).map { ("note", $0.text) }
        lines += [("required", provider.requiredSettings?.map(Self.option).joined(separator: " "))]
        lines += (provider.scopesFor ?? []).map { ("for \($0.purpose)", $0.scopes.joined(separator: " ")) }
        lines += (provider.variables ?? []).map {
            ("set \($0.name)", $0.help + ($0.default.map { "; else \($0)" } ?? ""))
        }
        lines += [
            ("issuer", provider.issuer),
            ("issuer template", provider.issuerTemplate),
            ("issuer aliases", provider.issuerAliases?.joined(separator: " ")),
            ("token endpoint", provider.tokenEndpoint),
            ("refreshes at", provider.refreshEndpoint),
            ("refreshes with", provider.refreshWith),
            ("refresh grant", provider.refreshGrantType),
            ("token sent as", provider.refreshTokenParameter),
            ("refreshes by", provider.refreshMethod),
            ("revocation", provider.revocationEndpoint),
            ("revokes by", provider.revocationMethod),
            ("revokes with", provider.revocationToken),
            ("revoked as", provider.revocationTokenParameter),
            ("revocation in", provider.revocationFormat),
            ("revocation auth", provider.revocationAuthentication),
            ("introspection", provider.introspectionEndpoint),
            ("git user", provider.gitUsername),
            ("git takes it by", provider.gitAuthorization),
            ("exchanges at", provider.exchangeEndpoint),
            ("exchange grant", provider.exchangeGrantType),
            ("token shown as", provider.exchangeTokenParameter),
            ("exchanges by", provider.exchangeMethod),
            ("client auth", provider.clientAuthentication),
            ("secret shown as", provider.clientSecretScheme),
            ("assertions for", provider.assertionAudience),
            ("body format", provider.bodyFormat),
        ]
        lines += endpoints
        lines += signIn
        lines += NamedLines.members("param", provider.refreshParameters)
        lines += NamedLines.members("revoke param", provider.revocationParameters)
        lines += NamedLines.members("header", provider.headers)
        lines += [
            ("correlation", provider.correlationHeader),
            ("scopes split by", provider.scopeSeparator.map { "'\($0)'" }),
            ("tokens below", provider.tokenPath?.joined(separator: ".")),
            ("kept of tokens", provider.tokenFields?.joined(separator: " ")),
            ("access token", provider.defaultLifetimeSec.map { "lives \(LocalTime.length($0)) if not said" }),
            ("expires_in 0", provider.zeroLifetime),
            ("refresh token", provider.refreshTokenLifetimeSec.map(lifetime)),
            ("rotation grace", provider.rotationGraceSec.map(LocalTime.length)),
            ("grant ended", provider.grantEnded.map(Self.answers)),
            ("mail takes it by", provider.sasl.map { $0.isEmpty ? "nothing" : $0.joined(separator: " ") }),
            ("CA file", provider.caFile),
            ("at a time", provider.maxConcurrentRefreshes.map { "\($0) refreshes" }),
            ("each second", provider.maxRefreshesPerSecond.map { "\($0) refreshes" }),
            ("refreshes", provider.validationIntervalSec.map { "\(LocalTime.length($0)) apart at least" }),
        ]
        return NamedLines.text(lines, .standardOutput)
    }

    private func lifetime(_ seconds: Int64) -> String {
        let length = LocalTime.length(seconds)
        return provider.refreshTokenLifetimeFrom == "sign-in"
            ? "lives \(length) from the sign-in" : "lives \(length) unused"
    }

    /// The option for a setting; the setting's name if this version does not know it.
    private static func option(_ name: String) -> String {
        switch name {
        case "scopes": "--scope"
        case "redirectPort": "--redirect-port"
        default: name
        }
    }

    /// The answers that end a grant: `403 with message "over"; 400 without a body`.
    private static func answers(_ answers: [EndOfGrant]) -> String {
        answers.map { answer in
            guard let field = answer.field, let text = answer.text else { return "\(answer.status) without a body" }
            return "\(answer.status) with \(field) \"\(text)\""
        }.joined(separator: "; ")
    }

    private var endpoints: [(name: String, value: String?)] {
        [
            ("authorization", provider.authorizationEndpoint),
            ("device", provider.deviceAuthorizationEndpoint),
            ("pushed requests", provider.pushedAuthorizationRequestEndpoint),
            ("end of session", provider.endSessionEndpoint),
            ("returns by", provider.endSessionRedirectParameter),
            ("registration", provider.registrationEndpoint),
            ("keys", provider.jwksUri),
            ("user info", provider.userinfoEndpoint),
        ]
    }

    private var signIn: [(name: String, value: String?)] {
        NamedLines.members("sign-in param", provider.authorizationParameters) + [
            ("scopes", provider.scopes?.joined(separator: " ")),
            ("scopes sent as", provider.scopeParameter),
            ("PKCE", provider.pkce),
            ("redirects", provider.redirects?.joined(separator: " ")),
            ("redirect URI", provider.redirectUri),
            ("redirect port", provider.redirectPort.map(String.init)),
            ("redirect scheme", provider.redirectScheme),
            ("response mode", provider.responseMode),
            ("code called", provider.codeParameters?.joined(separator: " ")),
            ("kept of answer", provider.callbackFields?.joined(separator: " ")),
            ("id_token", provider.idToken),
            ("person's id", provider.userinfoSubject),
            ("person's name", provider.userinfoUsername),
            ("policy is the", provider.policyVariable),
            ("policy said by", provider.policyClaims?.joined(separator: " ")),
            ("resets password", provider.passwordResetPolicy),
            ("reset asked by", provider.passwordResetOn?.joined(separator: " ")),
            ("cancelled by", provider.cancelledOn?.joined(separator: " ")),
        ]
    }
}
