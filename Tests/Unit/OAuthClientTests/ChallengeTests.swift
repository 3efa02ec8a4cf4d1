@testable import RefreshCore
import Testing

@testable import OAuthClient
@testable import OAuthMessages

/// `WWW-Authenticate` fields, as resource servers write them.
struct ChallengeTests {
    private func schemes(_ field: String) -> [String]? {
        AuthenticationChallenge.all(in: field)?.map(\.scheme)
    }

    private func demand(_ field: String) -> TokenDemand? {
        AuthenticationChallenge.all(in: field).flatMap(TokenDemand.init)
    }

    @Test func `parameters are tokens or quoted, with any space around them`() throws {
        let all = try #require(
            AuthenticationChallenge.all(in: #"Bearer realm = "a \"b\", c" ,error=invalid_token,, Scope="x y""#)
        )
        #expect(all.map(\.scheme) == ["bearer"])
        #expect(all.first?.parameters == ["realm": #"a "b", c"#, "error": "invalid_token", "scope": "x y"])
    }

    @Test func `a URL without quotes is read up to the next parameter`() throws {
        let field = "Bearer resource_metadata=https://h/x?a=b, scope=s, Basic"
        let all = try #require(AuthenticationChallenge.all(in: field))
        #expect(all.map(\.scheme) == ["bearer", "basic"])
        #expect(all.first?.parameters == ["resource_metadata": "https://h/x?a=b", "scope": "s"])
    }

    @Test func `several challenges in one field are told apart`() {
        #expect(schemes(#"Negotiate, Basic realm="x", Bearer"#) == ["negotiate", "basic", "bearer"])
        #expect(
            schemes(#"Negotiate YWJj==, DPoP algs="ES256", Bearer error="invalid_token""#) == [
                "negotiate", "dpop", "bearer",
            ]
        )
        #expect(schemes("Bearer") == ["bearer"])
    }

    @Test(
        arguments: [
            "", " , ", #"Bearer error="open"#, #"Bearer error="a", error="b""#, "Bearer a=b c=", #""quoted""#,
            "Bearer error=\"a\"b", String(repeating: "Bearer, ", count: 3000),
        ]
    )
    func `a field that does not follow RFC 9110 is refused`(field: String) {
        #expect(AuthenticationChallenge.all(in: field) == nil)
    }

    @Test func `a challenge about an invalid token asks for another token`() {
        #expect(demand(#"Bearer realm="https://accounts.google.com/", error="invalid_token""#)?.kind == .anotherToken)
        #expect(demand("Bearer")?.kind == .anotherToken)
        #expect(demand(#"Basic realm="x""#) == nil)
    }

    @Test func `RFC 9470 names the strength and the age of the sign-in`() {
        let field = #"""
            Bearer error="insufficient_user_authentication", error_description="A different authentication level is required", \#
            acr_values="myACR other", max_age="5"
            """#
        let demand = demand(field)
        #expect(demand?.kind == .authentication(acrValues: ["myACR", "other"], maxAge: .seconds(5)))
        #expect(demand?.error == "insufficient_user_authentication")
        #expect(demand?.description == "A different authentication level is required")
    }

    @Test func `a maximum age that is not a number is ignored`() {
        #expect(demand(#"Bearer error="insufficient_user_authentication", max_age="-1""#) == nil)
        #expect(demand(#"Bearer error="insufficient_user_authentication", max_age="soon""#) == nil)
    }

    @Test func `RFC 6750 names the scopes that are missing`() {
        #expect(
            demand(#"Bearer error="insufficient_scope", scope="mail.read  mail.send""#)?.kind
                == .scopes(["mail.read", "mail.send"])
        )
    }

    @Test func `Entra's claims are base64 in any alphabet, and JSON`() {
        let claims = #"{"access_token":{"nbf":{"essential":true,"value":"1604106651"}}}"#
        let encoded = "eyJhY2Nlc3NfdG9rZW4iOnsibmJmIjp7ImVzc2VudGlhbCI6dHJ1ZSwidmFsdWUiOiIxNjA0MTA2NjUxIn19fQ"
        for form in [encoded, encoded + "=="] {
            let field =
                #"Bearer realm="", authorization_uri="https://x/authorize", error="insufficient_claims", claims="\#(form)""#
            #expect(demand(field)?.kind == .claims(claims))
        }
        #expect(demand(#"Bearer error="insufficient_claims", claims="bm8gSlNPTg==""#) == nil)
    }

    @Test func `of several challenges the one that asks for more than a new token counts`() {
        #expect(
            demand(#"Bearer error="invalid_token", DPoP error="insufficient_scope", scope="s""#)?.kind == .scopes(["s"])
        )
    }

    @Test(arguments: ["invalid_request", "use_dpop_nonce", "invalid_dpop_proof"])
    func `a challenge about a wrong request asks for no other token`(error: String) {
        #expect(demand(#"DPoP error="\#(error)""#)?.kind == .nothing)
    }

    @Test func `a refresh asks for claims, and reports those that the person's sign-in must ask for`() async throws {
        let wanted = #"{"access_token":{"acrs":{"value":"c2"}}}"#
        let refusal = #"{"error":"interaction_required","claims":"{\"access_token\":{\"acrs\":{\"value\":\"c2\"}}}"}"#
        try await withServer({ _, _ in [LoopbackServer.json(400, refusal)] }) { server in
            var request = try refreshRequest(
                to: server.origin,
                registration: ClientRegistration(clientID: "c", refreshParameters: ["claims": "own", "x": "1"])
            )
            request.claims = #"{"a":1}"#
            let outcome = try await withClient { await $0.refresh(request) }
            #expect(outcome.failure?.failureClass == .userRequired)
            #expect(outcome.demandedClaims == wanted)
            let form = formFields(try #require(server.requests.first).body)
            #expect(form["claims"] == [#"{"a":1}"#])
            #expect(form["x"] == ["1"])
        }
    }
}
