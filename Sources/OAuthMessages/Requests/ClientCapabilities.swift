package import RefreshCore

extension ClientRegistration {
    /// `fields` of a request, with the client's capabilities among the claims that it asks for: `xms_cc`, as MSAL sends
    /// it to Entra. Other claims stay, whoever asks for them: a resource server, the account or the provider's profile.
    package func claimingCapabilities(in fields: [(name: String, value: String)]) -> [(name: String, value: String)] {
        guard !clientCapabilities.isEmpty else { return fields }
        var fields = fields
        let place = fields.firstIndex { $0.name == "claims" }
        var claims: [String: JSONTree] = [:]
        if let place {
            // What is no object cannot be added to; the server says what is wrong with it.
            guard let asked = JSONTree.object(in: Array(fields[place].value.utf8)) else { return fields }
            claims = asked
        }
        var ofAccessToken = claims["access_token"]?.fields ?? [:]
        ofAccessToken["xms_cc"] = .object(["values": .array(clientCapabilities.map(JSONTree.string))])
        claims["access_token"] = .object(ofAccessToken)
        let value = String(decoding: JSONTree.object(claims).bytes, as: UTF8.self)
        if let place { fields[place].value = value } else { fields.append(("claims", value)) }
        return fields
    }
}
