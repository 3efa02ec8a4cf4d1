/// The options that hold parameters of requests.
extension SettingsOptions {
    /// Request parameters whose values are secrets (RFC 6749, RFC 7521): they must not come as arguments.
    private static let secretParameters: Set<String> = [
        "client_secret", "refresh_token", "access_token", "client_assertion", "assertion", "password", "code",
    ]

    /// Nil: none given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func refreshParameters() throws(AuthctlError) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (name, value) in [("audience", audience), ("resource", resource)] { parameters[name] = value }
        try Self.add(param, of: "--param", example: "resource=https://…", to: &parameters)
        return parameters.isEmpty ? nil : parameters
    }

    /// Nil: none given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func authorizationParameters() throws(AuthctlError) -> [String: String]? {
        var parameters: [String: String] = [:]
        let option = "--authorization-parameter"
        try Self.add(authorizationParameter, of: option, example: "display=popup", to: &parameters)
        return parameters.isEmpty ? nil : parameters
    }

    /// What the account says instead of its provider's profile. Nil: none given.
    ///
    /// - Throws: `usage`, `secretAsArgument`.
    func providerSettings() throws(AuthctlError) -> [String: String]? {
        var settings: [String: String] = [:]
        try Self.add(providerSetting, of: "--provider-setting", example: "scope_separator=,", to: &settings)
        return settings.isEmpty ? nil : settings
    }

    private static func add(
        _ texts: [String],
        of option: String,
        example: String,
        to parameters: inout [String: String]
    ) throws(AuthctlError) {
        for text in texts {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw .usage(message: "'\(option)' takes a name and a value", hint: "\(option) \(example)")
            }
            let name = String(text[..<equals])
            guard !secretParameters.contains(name.lowercased()) else {
                throw .secretAsArgument(option: "\(option) \(name.lowercased())")
            }
            guard parameters.updateValue(String(text[text.index(after: equals)...]), forKey: name) == nil else {
                throw .usage(message: "'\(option)' gives '\(name)' twice", hint: nil)
            }
        }
    }

    /// Nil: none given.
    ///
    /// - Throws: `secretFile`.
    func details() throws(AuthctlError) -> String? {
        guard let authorizationDetails else { return nil }
        return try SecretFile(name: authorizationDetails, purpose: .document).read(prompt: nil).reveal()
    }
}
