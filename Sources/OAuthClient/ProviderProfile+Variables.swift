import RefreshCore

/// Profiles whose URLs have variables in them.
extension ProviderProfile {
    private static let issuerKey = "issuer"

    /// The profile as it is for an account that says `values`.
    ///
    /// An issuer that is not filled in is none: the account may name its own.
    package func resolved(with values: [String: String]) throws(ProfileVariableFault) -> ProviderProfile {
        guard !variables.isEmpty || !values.isEmpty else { return self }
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let variable = variables.first(where: { $0.name == name }) else { throw .unknown(name: name) }
            guard variable.takes(value) else { throw .unfit(variable, value: value) }
        }
        var profile = self
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let text = filled(template, with: values)
            _ = profile.set(key, to: text)
        }
        let missing = variables.filter { variable in
            templates.contains { $0.key != Self.issuerKey && isMissing(variable, in: $0.value, values) }
        }
        guard missing.isEmpty else { throw .missing(missing) }
        return profile
    }

    /// The profile without all that its variables make up: for an account whose values it does not take. The defaults are other people's
    /// servers.
    package var unfilled: ProviderProfile {
        var profile = self
        for key in templates.keys { _ = profile.set(key, to: nil) }
        return profile
    }

    /// What an account of this provider has still to say so that it has an issuer.
    package func missingForIssuer(_ values: [String: String]) -> [ProfileVariable] {
        guard let template = templates[Self.issuerKey] else { return [] }
        return variables.filter { isMissing($0, in: template, values) }
    }

    /// The issuer as the profile's file has it.
    package var issuerText: String? { templates[Self.issuerKey] ?? issuer?.url }

    /// An endpoint as the profile's file has it.
    package func text(_ key: String, _ endpoint: Endpoint?) -> String? { templates[key] ?? endpoint?.url }

    /// Fills in what has a default.
    ///
    /// - Returns: the key whose URL is none, whatever stands for its variables, or has an unknown one; nil if all are well.
    mutating func fillStandards() -> String? {
        for (key, template) in templates.sorted(by: { $0.key < $1.key }) {
            let samples = Dictionary(variables.map { ($0.name, $0.standard ?? "x") }) { first, _ in first }
            guard set(key, to: filled(template, with: samples)) else { return key }
            _ = set(key, to: filled(template, with: [:]))
        }
        return nil
    }

    /// - Returns: whether `text` is a URL for `key`.
    private mutating func set(_ key: String, to text: String?) -> Bool {
        let endpoint = text.flatMap { Endpoint($0) }
        switch key {
        case Self.issuerKey:
            issuer = text.flatMap { try? Issuer(url: $0) }
            return issuer != nil
        case "token_endpoint": tokenEndpoint = endpoint
        case "refresh_endpoint": refreshEndpoint = endpoint
        case "revocation_endpoint": revocationEndpoint = endpoint
        case "introspection_endpoint": introspectionEndpoint = endpoint
        case "exchange_endpoint": exchangeEndpoint = endpoint
        default:
            guard let path = ServerEndpoints.names.first(where: { $0.name == key })?.path else { return false }
            endpoints[keyPath: path] = endpoint
        }
        return endpoint != nil
    }

    /// Nil if something has no value.
    private func filled(_ template: String, with values: [String: String]) -> String? {
        var text = template
        for variable in variables {
            guard let value = values[variable.name] ?? variable.standard else { continue }
            text = text.replacing("{\(variable.name)}", with: value)
        }
        return text.contains("{") ? nil : text
    }

    private func isMissing(_ variable: ProfileVariable, in template: String, _ values: [String: String]) -> Bool {
        template.contains("{\(variable.name)}") && values[variable.name] == nil && variable.standard == nil
    }
}
