import NIOHTTP1
import RefreshCore

/// How the client proves itself in one request: the method, and how it is written.
struct ClientCredentials: Sendable {
    let registration: ClientRegistration
    var method: ClientAuthentication
    /// Meaningful for Basic only.
    var encoding: BasicCredentialEncoding
    /// Whether `client_id` stands in the body too when Basic is used.
    ///
    /// RFC 6749 §3.2.1 lets any client name itself so, and §2.3 forbids only a second *credential*, but §6's example
    /// has none and a few servers take it for a second method. So it is sent only where a server asked for it (the MCP
    /// SDK's servers do).
    var repeatsClientID: Bool

    /// Chooses the method: the registration's, the profile's, else by the secret and what the server's metadata offers.
    ///
    /// Basic goes before post: RFC 6749 §2.3.1 obliges servers to take it.
    static func method(
        _ registration: ClientRegistration,
        profile: ProviderProfile?,
        offered: [String]?
    ) -> ClientAuthentication {
        if let method = registration.authentication ?? profile?.authentication { return method }
        guard registration.clientSecret != nil else { return .none }
        guard let offered, !offered.contains(ClientAuthentication.clientSecretBasic.rawValue) else {
            return .clientSecretBasic
        }
        return offered.contains(ClientAuthentication.clientSecretPost.rawValue) ? .clientSecretPost : .clientSecretBasic
    }

    /// Whether form-encoding changes what stands in the header.
    var differsByEncoding: Bool {
        method == .clientSecretBasic && header(.formEncoded) != header(.raw)
    }

    /// The fields that belong in the body; empty for plain Basic.
    var fields: [(name: String, value: String)] {
        let id = (name: "client_id", value: registration.clientID)
        switch method {
        case .none: return [id]
        case .clientSecretBasic: return repeatsClientID ? [id] : []
        case .clientSecretPost:
            return [id] + (registration.clientSecret.map { [(name: "client_secret", value: $0.reveal())] } ?? [])
        }
    }

    /// The value of `Authorization`; nil if the method does not use it.
    var authorization: String? {
        method == .clientSecretBasic ? header(encoding) : nil
    }

    private func header(_ encoding: BasicCredentialEncoding) -> String {
        let secret = registration.clientSecret?.reveal() ?? ""
        switch encoding {
        case .formEncoded:
            return "Basic "
                + Base64.encode(FormEncoding.encode(registration.clientID) + ":" + FormEncoding.encode(secret))
        case .raw:
            return "Basic " + Base64.encode(registration.clientID + ":" + secret)
        }
    }
}
