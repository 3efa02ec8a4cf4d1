import Foundation
@testable import RefreshCore
import Testing

@testable import OAuthMessages
@testable import OAuthClient

/// The code verifier from RFC 7636 appendix B.
let exampleVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
let exampleChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

/// A profile with all endpoints at `server`, without discovery.
func signInProfile(at origin: String, _ change: (inout ProviderProfile) -> Void = { _ in }) -> ProviderProfile {
    var profile = ProviderProfile(name: "test", tokenEndpoint: Endpoint(origin + "/token"))
    profile.endpoints.authorization = Endpoint(origin + "/authorize")
    profile.endpoints.deviceAuthorization = Endpoint(origin + "/device")
    change(&profile)
    return profile
}

func authorizationRequest(
    at origin: String,
    profile: ProviderProfile?,
    registration: ClientRegistration = ClientRegistration(clientID: "client"),
    _ change: (inout AuthorizationRequest) -> Void = { _ in }
) throws -> AuthorizationRequest {
    var request = AuthorizationRequest(
        client: try requestingClient(at: origin, registration: registration, profile: profile),
        redirectURI: "http://127.0.0.1:1234/",
        state: Secret("state-1"),
        codeVerifier: Secret(exampleVerifier)
    )
    change(&request)
    return request
}

/// The fields of a form or a query, each with all its values in order.
func formFields(_ text: some StringProtocol) -> [String: [String]] {
    var fields: [String: [String]] = [:]
    for pair in text.split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            .map { String($0).replacingOccurrences(of: "+", with: " ").removingPercentEncoding ?? "?" }
        fields[parts[0], default: []].append(parts.count > 1 ? parts[1] : "")
    }
    return fields
}

extension AuthorizationURL {
    /// Each parameter of the query with all its values.
    var parameters: [String: [String]] {
        formFields(url.split(separator: "?", maxSplits: 1).last ?? "")
    }
}
