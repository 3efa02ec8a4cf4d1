package import RefreshCore
internal import TextEncodings

/// Filling in the variables in a profile's URLs.
extension ProviderProfile {
    private static let issuerKey = "issuer"
    private static let revocationKey = "revocation_endpoint"
    /// The place of the account's client id in the revocation endpoint (GitHub).
    private static let clientIDPlace = "{client_id}"
    /// The place of the account's redirect URI in refresh parameters (Yahoo).
    private static let redirectURIPlace = "{redirect_uri}"

    /// The profile with the values of an account filled in.
    ///
    /// An issuer with a missing value becomes nil, because the account may name its own issuer.
    ///
    /// - Parameter hasIssuer: whether it does. Otherwise an error names what the issuer lacks, too.
    package func resolved(
        with values: [String: String],
        hasIssuer: Bool = true
    ) throws(ValueError) -> ProviderProfile {
        guard !variables.isEmpty || !values.isEmpty else { return self }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let variable = variables.first(where: { $0.name == name }) else {
                let known = variables.map(\.name).joined(separator: ", ")
                throw ValueError(
                    field: "variables",
                    "the provider '\(self.name)' has no variable '\(name)'",
                    hint: known.isEmpty ? "it has no variables" : "known: \(known)"
                )
            }
            guard variable.takes(value) else { throw unfit(value, for: variable, among: values) }
        }
        var profile = self
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let text = filled(template, with: values)
            _ = profile.set(key, to: text)
        }
        let needed = templates.filter { $0.key != Self.issuerKey }.map(\.value) + refreshParameters.values
        let missing = variables.filter { variable in needed.contains { isMissing(variable, in: $0, values) } }
        guard missing.isEmpty else {
            let others = hasIssuer ? [] : missingForIssuer(values)
            throw Self.missing(variables.filter { missing.contains($0) || others.contains($0) })
        }
        profile.refreshParameters = refreshParameters.mapValues { replacingVariables(in: $0, with: values) }
        profile.issuerTemplate = issuerTemplate.map { replacingVariables(in: $0, with: values) }
        profile.issuerAliases = issuerAliases.flatMap { aliases(filledIn: $0, with: values) }
        profile.policies.current = policies.variable.map { replacingVariables(in: "{\($0)}", with: values) }
        if profile.policies.current?.contains("{") == true { profile.policies.current = nil }
        return profile
    }

    private func unfit(_ value: String, for variable: ProfileVariable, among values: [String: String]) -> ValueError {
        guard !variable.isLookedUp(value) else {
            let asked = lookUp(for: values)?.asked.url ?? ""
            return ValueError(
                field: "variables",
                "the \(variable.name) of '\(value)' has to be looked up at the server, and was not",
                hint: "its id is in the \"issuer\" of \(asked)/.well-known/openid-configuration"
            )
        }
        return ValueError(
            field: "variables",
            "'\(value)' cannot be the \(variable.name): \(variable.help)",
            hint: variable.pattern.map { "it must match \($0)" } ?? "letters, digits and ._-"
        )
    }

    /// The error for an account that has yet to set these variables.
    package static func missing(_ variables: [ProfileVariable]) -> ValueError {
        ValueError(
            field: "variables",
            variables.map { "'\($0.name)' is missing (\($0.help))" }.joined(separator: ", "),
            hint: variables.map { "--set \($0.name)=VALUE" }.joined(separator: " ")
        )
    }

    /// The profile without all URLs and parameters that contain variables, for an account whose values do not fit. With
    /// the defaults, they might lead to other people's servers.
    package var unfilled: ProviderProfile {
        var profile = self
        for key in templates.keys { _ = profile.set(key, to: nil) }
        profile.issuerAliases.removeAll { $0.contains("{") }
        return profile
    }

    /// The variables that an account of this provider has yet to set so that it has an issuer.
    package func missingForIssuer(_ values: [String: String]) -> [ProfileVariable] {
        guard let template = templates[Self.issuerKey] else { return [] }
        return variables.filter { isMissing($0, in: template, values) }
    }

    /// The issuer as the profile's file has it.
    package var issuerText: String? { templates[Self.issuerKey] ?? issuer?.url }

    /// An endpoint as the profile's file has it.
    package func text(_ key: String, _ endpoint: Endpoint?) -> String? { templates[key] ?? endpoint?.url }

    /// Fills in the variables that have defaults.
    ///
    /// - Returns: the key whose value is not a URL, whatever the values of its variables, or has an unknown variable;
    ///   nil if there is no such key.
    mutating func fillStandards() -> String? {
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let unsaid = variables.filter { $0.standard == nil }
            let samples = Dictionary(unsaid.map { ($0.name, "x") }) { first, _ in first }
            guard set(key, to: filled(template, with: samples)) else { return key }
            _ = set(key, to: filled(template, with: [:]))
        }
        return nil
    }

    /// - Returns: whether `text` is a URL that `key` may have.
    private mutating func set(_ key: String, to text: String?) -> Bool {
        if key == Self.revocationKey { revocationTemplate = nil }
        if key == Self.revocationKey, let text, text.contains(Self.clientIDPlace) {
            (revocationTemplate, revocationEndpoint) = (text, nil)
            return revocationEndpoint(for: "x") != nil
        }
        let endpoint = text.flatMap { $0.contains("{") ? nil : Endpoint($0) }
        switch key {
        case Self.issuerKey:
            issuer = text.flatMap { try? Issuer(url: $0) }
            return issuer != nil
        case "token_endpoint": tokenEndpoint = endpoint
        case "refresh_endpoint": refreshEndpoint = endpoint
        case Self.revocationKey: revocationEndpoint = endpoint
        case "introspection_endpoint": introspectionEndpoint = endpoint
        case "exchange_endpoint": exchangeEndpoint = endpoint
        default:
            guard let path = ServerEndpoints.names.first(where: { $0.name == key })?.path else { return false }
            endpoints[keyPath: path] = endpoint
        }
        return endpoint != nil
    }

    /// The template with all values filled in, except the client id, which comes with each request. Nil if a value is
    /// missing.
    private func filled(_ template: String, with values: [String: String]) -> String? {
        let text = replacingVariables(in: template, with: values)
        return text.replacing(Self.clientIDPlace, with: "").contains("{") ? nil : text
    }

    /// Replaces the variables from the last to the first, because a default may contain variables that are listed
    /// before its own.
    private func replacingVariables(
        in template: String,
        with values: [String: String],
        besides kept: ProfileVariable? = nil
    ) -> String {
        variables.reversed().reduce(template) { text, variable in
            guard variable != kept, let value = values[variable.name] ?? variable.standard else { return text }
            return text.replacing("{\(variable.name)}", with: variable.aliases[value] ?? value)
        }
    }

    private func isMissing(_ variable: ProfileVariable, in template: String, _ values: [String: String]) -> Bool {
        replacingVariables(in: template, with: values).contains("{\(variable.name)}")
    }

    /// The issuer's other spellings from one template; empty if a value is missing. The lower-case form is added,
    /// because hosts, tenant ids and policies mean the same in lower case, and Azure AD B2C writes policies so.
    private func aliases(filledIn template: String, with values: [String: String]) -> [String] {
        guard template.contains("{") else { return [template] }
        guard let alias = filled(template, with: values) else { return [] }
        return alias == alias.lowercased() ? [alias] : [alias, alias.lowercased()]
    }
}

/// A value of a variable for which the person has another name, and the server knows both.
package struct VariableLookUp: Sendable {
    package let variable: ProfileVariable
    /// The issuer with the person's name of the value in it. Its metadata names the real one.
    package let asked: Issuer
    private let start: Substring
    private let end: Substring

    fileprivate init?(_ variable: ProfileVariable, in template: String, named name: String) {
        let place = "{\(variable.name)}"
        guard let range = template.firstRange(of: place),
            let asked = try? Issuer(url: template.replacing(place, with: name))
        else { return nil }
        self.variable = variable
        self.asked = asked
        (start, end) = (template[..<range.lowerBound], template[range.upperBound...])
    }

    /// The value in the issuer that the server names; nil if that is another server's.
    package func value(in issuer: Issuer) -> String? {
        let url = issuer.url
        guard url.utf8.count > start.utf8.count + end.utf8.count, url.hasPrefix(start), url.hasSuffix(end) else {
            return nil
        }
        let value = String(url.dropFirst(start.count).dropLast(end.count))
        return variable.takes(value) ? value : nil
    }
}

extension ProviderProfile {
    /// The first of `values` that has to be looked up; nil if none has to be.
    package func lookUp(for values: [String: String]) -> VariableLookUp? {
        // The server that is asked stands in the other values.
        let areUsable = values.allSatisfy { name, value in
            variables.contains { $0.name == name && ($0.takes(value) || $0.isLookedUp(value)) }
        }
        guard areUsable, let template = templates[Self.issuerKey],
            let variable = variables.first(where: { values[$0.name].map($0.isLookedUp) ?? false }),
            let name = values[variable.name]
        else { return nil }
        return VariableLookUp(
            variable,
            in: replacingVariables(in: template, with: values, besides: variable),
            named: name
        )
    }
}

/// Filling in the values of one request.
extension ProviderProfile {
    /// The endpoint where a client revokes its grants; nil if the profile names none.
    package func revocationEndpoint(for clientID: String) -> Endpoint? {
        guard let revocationTemplate else { return revocationEndpoint }
        // The id becomes one path segment, whatever characters it has.
        let segment = FormEncoding.encode(clientID).replacing("+", with: "%20")
        return Endpoint(revocationTemplate.replacing(Self.clientIDPlace, with: segment))
    }

    /// The parameters for a refresh of `registration`, without those whose values are missing.
    package func refreshParameters(for registration: ClientRegistration) -> [String: String] {
        let redirectURI = signIn.registered(with: registration.redirect).redirectURI
        return refreshParameters.compactMapValues { value in
            guard value.contains(Self.redirectURIPlace) else { return value }
            return redirectURI.map { value.replacing(Self.redirectURIPlace, with: $0) }
        }
    }
}

/// A value that each account of a provider has to set: its tenant, its realm, its data centre.
///
/// The profile's URLs contain its name in braces. An account's value replaces whole host labels and path segments only.
package struct ProfileVariable: Hashable, Sendable {
    package let name: String
    /// What the value is: one line for people.
    package let help: String
    /// The default; nil if each account has to set the value. It may contain variables that are listed before this one.
    package var standard: String?
    /// A regular expression that the whole value has to match; nil accepts each host name or path segment.
    package var pattern: String?
    /// Values that are replaced by others in the URLs.
    package var aliases: [String: String] = [:]
    /// A regular expression for other names of a value, which the server's metadata replaces by the value; nil if there
    /// are none.
    package var lookUpPattern: String?

    /// The longest value (RFC 1035 §2.3.4). No realm is longer.
    private static let longest = 253

    /// Whether `value` can be used in a URL: it has only letters, digits, `.`, `_` and `-`, so that it cannot end a
    /// host or segment, and matches the pattern.
    package func takes(_ value: String) -> Bool {
        Self.isPlain(value) && (pattern.map { Self.matches($0, value) } ?? true)
    }

    /// Whether `value` is another name of a value, which has to be looked up.
    package func isLookedUp(_ value: String) -> Bool {
        guard let lookUpPattern, Self.isPlain(value), !takes(value) else { return false }
        return Self.matches(lookUpPattern, value)
    }

    private static func matches(_ pattern: String, _ value: String) -> Bool {
        guard let expression = try? Regex(pattern) else { return false }
        return (try? expression.wholeMatch(in: value)) != nil
    }

    private static func isPlain(_ value: String) -> Bool {
        let isPlain = value.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && (1...longest).contains(value.utf8.count) && value.first != "." && value.first != "-"
            && !value.contains("..")
    }
}

extension ProfileVariable: Decodable {
    package init(from decoder: any Decoder) throws {
        let fields = try StrictFields(decoder, known: ["name", "help", "default", "pattern", "aliases", "look_up"])
        name = try fields.required("name")
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }) else {
            throw fields.error("name", "must be made of a-z and _")
        }
        help = try fields.required("help")
        standard = try fields.optional("default")
        pattern = try fields.converted("pattern", "must be a regular expression") { text in
            (try? Regex(text)).map { _ in text }
        }
        lookUpPattern = try fields.converted("look_up", "must be a regular expression") { text in
            (try? Regex(text)).map { _ in text }
        }
        aliases = try fields.optional("aliases") ?? [:]
        let sample = standard?.replacing(/\{[a-z_]+\}/, with: "x")
        if let sample, !takes(sample) { throw fields.error("default", "is not a value that this variable can have") }
        guard aliases.allSatisfy({ takes($0.key) && takes($0.value) }) else {
            throw fields.error("aliases", "has a value that this variable cannot have")
        }
    }
}
