package import RefreshCore
internal import TextEncodings

/// An authorization request as a signed token (JAR, RFC 9101 §4): nobody between the client and the server can change it.
package enum RequestObject {
    /// Parameters that are JSON themselves, and stand in a request object as such (OpenID Connect Core §6.1, RFC 9396 §3).
    private static let jsonParameters: Set<String> = ["claims", "authorization_details"]
    /// Parameters that may come more than once (RFC 8707 §2).
    private static let repeatedParameters: Set<String> = ["resource", "audience"]

    /// The token for the parameter `request`, or for the PAR endpoint.
    ///
    /// - Parameters:
    ///   - parameters: of the request, in order; those that carry a request object (`request`, `request_uri`) are left out.
    ///   - audience: the issuer's URL.
    ///   - random: 16 bytes or more that were never used before, for `jti`.
    /// - Throws: `malformed` if a parameter that has to be JSON is none; what the signer throws.
    package static func make(
        _ parameters: [(name: String, value: String)],
        clientID: String,
        audience: String,
        signer: TokenSigner,
        now: Timestamp,
        random: [UInt8]
    ) throws(JOSEError) -> Secret {
        var claims: [(name: String, value: JSONText)] = [
            ("iss", .text(clientID)), ("aud", .text(audience)), ("client_id", .text(clientID)),
        ]
        var isDone: Set<String> = ["request", "request_uri", "iss", "aud", "client_id", "iat", "exp", "nbf", "jti"]
        for (name, _) in parameters where isDone.insert(name).inserted {
            let values = parameters.filter { $0.name == name }.map(\.value)
            claims.append((name, try claim(name, values)))
        }
        // FAPI wants nbf as well.
        let start = (name: "nbf", value: JSONText.number(now.microseconds / 1_000_000))
        return try signer.sign(
            header: [("typ", .text("oauth-authz-req+jwt"))],
            claims + ClientAssertion.times(now) + [start, ("jti", .text(Base64URL.encode(random)))]
        )
    }

    private static func claim(_ name: String, _ values: [String]) throws(JOSEError) -> JSONText {
        let value = values.first ?? ""
        if repeatedParameters.contains(name), values.count > 1 { return .texts(values) }
        // A number here, though a text in the query (OpenID Connect Core §6.1).
        if name == "max_age", let seconds = Int64(value) { return .number(seconds) }
        guard jsonParameters.contains(name) else { return .text(value) }
        // Read as the only member of an object: an array passes, too, and a value that brings members of its own does not.
        guard try JSONObject(Array(#"{"value":\#(value)}"#.utf8)).count == 1 else { throw .malformed }
        return .raw(value)
    }
}
