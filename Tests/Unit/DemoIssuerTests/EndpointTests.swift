import DemoIssuer
import Testing

/// The answers that a client gets over HTTP, without errors and with errors of the client.
struct EndpointTests {
    @Test func `both metadata documents name the issuer and its endpoints`() async throws {
        try await withIssuer { _, url in
            for document in ["openid-configuration", "oauth-authorization-server"] {
                let reply = try await RawClient.get("\(url)/.well-known/\(document)")
                #expect(reply.status == 200)
                #expect(reply.headers["content-type"] == "application/json")
                #expect(reply.field("issuer") == url)
                #expect(reply.field("token_endpoint") == url + "/token")
                #expect(reply.field("revocation_endpoint") == url + "/revoke")
                #expect(reply.field("introspection_endpoint") == url + "/introspect")
                #expect(reply.field("authorization_endpoint") == url + "/authorize")
                #expect(reply.field("device_authorization_endpoint") == url + "/device_authorization")
                #expect(reply.field("jwks_uri") == url + "/jwks")
            }
        }
    }

    @Test func `a refresh brings a new pair that must not be cached`() async throws {
        let policy = GrantPolicy(accessTokenLifetime: .seconds(20))
        try await withIssuer(policy: policy, now: { .seconds(1_000_000) }) { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            let reply = try await refresh(url, grant.refreshToken)
            #expect(reply.status == 200)
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(reply.field("token_type") == "Bearer")
            #expect(reply.field("refresh_token").map { $0 != grant.refreshToken } == true)
            #expect(reply.body.contains(#""expires_in":20,"#))
        }
    }

    @Test func `a spent token is refused, the family revoked, and the use counted`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            let first = try await refresh(url, grant.refreshToken)
            let reuse = try await refresh(url, grant.refreshToken)
            #expect(reuse.status == 400)
            #expect(reuse.field("error") == "invalid_grant")
            let newest = try await refresh(url, try #require(first.field("refresh_token")))
            #expect(newest.field("error") == "invalid_grant")
            #expect(await issuer.counters.spentTokenUses == 1)
            #expect(await issuer.entries().map(\.outcome) == [.rotated, .spentTokenUsed, .revokedGrant])
            #expect(await issuer.entries().map(\.generation) == [1, 1, 2])
        }
    }

    @Test func `within the grace period the answer is the same`() async throws {
        try await withIssuer(policy: GrantPolicy(gracePeriod: .seconds(60))) { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app")
            let first = try await refresh(url, grant.refreshToken)
            let again = try await refresh(url, grant.refreshToken)
            #expect(first.field("access_token") != nil)
            #expect(again.field("access_token") == first.field("access_token"))
            #expect(again.field("refresh_token") == first.field("refresh_token"))
            #expect(await issuer.counters.graceRepeats == 1)
        }
    }

    @Test func `the protected resource distinguishes live and expired access tokens`() async throws {
        try await withIssuer { issuer, url in
            let grant = try await issuer.issueGrant(clientID: "app", subject: "bob")
            let tokens = try await refresh(url, grant.refreshToken)
            let header = "Authorization: Bearer \(try #require(tokens.field("access_token")))"
            let live = try await RawClient.get(url + "/userinfo", headers: [header])
            #expect(live.status == 200 && live.field("sub") == "bob")
            let revocation = try await RawClient.post(url + "/admin/grants/1/revoke-access-tokens", "")
            #expect(revocation.status == 204)
            let dead = try await RawClient.get(url + "/userinfo", headers: [header])
            #expect(dead.status == 401)
            #expect(dead.headers["www-authenticate"]?.contains(#"error="invalid_token""#) == true)
            let bare = try await RawClient.get(url + "/userinfo")
            #expect(bare.status == 401)
            #expect(bare.headers["www-authenticate"]?.contains("error") == false)
        }
    }

    @Test func `revocation ends a grant and introspection says so`() async throws {
        try await withIssuer { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            let before = try await RawClient.post(url + "/introspect", "client_id=app&token=\(token)")
            #expect(before.body.contains(#""active":true"#) && before.field("sub") == "alice")
            #expect(try await RawClient.post(url + "/revoke", "client_id=app&token=\(token)").status == 200)
            let after = try await RawClient.post(url + "/introspect", "client_id=app&token=\(token)")
            #expect(after.body == #"{"active":false}"#)
            #expect(try await refresh(url, token).field("error") == "invalid_grant")
            #expect(try await RawClient.post(url + "/revoke", "client_id=app&token=unheard-of").status == 200)
        }
    }

    private static let secret = "s3cret-%:&+/x"
    /// Base64 of `app:s3cret-%:&+/x`, and of the same with id and secret form-encoded.
    private static let raw = "YXBwOnMzY3JldC0lOiYrL3g="
    private static let encoded = "YXBwOnMzY3JldC0lMjUlM0ElMjYlMkIlMkZ4"

    @Test(arguments: [
        (DemoClient.Authentication.basic(secret: secret, form: .formEncoded), encoded, 200),
        (.basic(secret: secret, form: .formEncoded), raw, 401),
        (.basic(secret: secret, form: .raw), raw, 200),
        (.basic(secret: secret, form: .raw), encoded, 401),
        (.post(secret: secret), raw, 401),
        (.none, raw, 401),
    ])
    func `a secret in the Basic scheme is accepted only in the registered form`(
        _ authentication: DemoClient.Authentication,
        _ credentials: String,
        _ status: Int
    ) async throws {
        try await withIssuer(clients: [DemoClient(id: "app", authentication: authentication)]) { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            let form = "grant_type=refresh_token&refresh_token=\(token)"
            let header = "Authorization: Basic \(credentials)"
            let reply = try await RawClient.post(url + "/token", form, headers: [header])
            #expect(reply.status == status)
            if status == 401 {
                #expect(reply.field("error") == "invalid_client")
                #expect(reply.headers["www-authenticate"]?.hasPrefix("Basic ") == true)
            }
        }
    }

    @Test func `a secret in the body is accepted from a client registered for it`() async throws {
        try await withIssuer(clients: [DemoClient(id: "app", authentication: .post(secret: Self.secret))]) {
            issuer,
            url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            let wrong = try await refresh(url, token, "&client_id=app&client_secret=wrong")
            #expect(wrong.field("error") == "invalid_client")
            let none = try await refresh(url, token)
            #expect(none.field("error") == "invalid_client")
            let right = try await refresh(url, token, "&client_id=app&client_secret=s3cret-%25%3A%26%2B%2Fx")
            #expect(right.status == 200)
        }
    }

    @Test(arguments: [
        ("", "invalid_request"),
        ("grant_type=refresh_token&client_id=app", "invalid_request"),
        ("grant_type=refresh_token&client_id=app&refresh_token=", "invalid_request"),
        ("grant_type=password&client_id=app", "unsupported_grant_type"),
        ("grant_type=refresh_token&grant_type=refresh_token&client_id=app&refresh_token=x", "invalid_request"),
        ("grant_type=refresh_token&client_id=%zz&refresh_token=x", "invalid_request"),
        ("grant_type=refresh_token&client_id=stranger&refresh_token=x", "invalid_client"),
        ("grant_type=refresh_token&client_id=app&refresh_token=x", "invalid_grant"),
    ])
    func `a bad request gets the error the specification names`(_ form: String, _ error: String) async throws {
        try await withIssuer { _, url in
            let reply = try await RawClient.post(url + "/token", form)
            #expect(reply.field("error") == error)
        }
    }

    @Test func `the Date header follows the offset`() async throws {
        try await withIssuer(now: { .seconds(784_111_777) }) { issuer, url in
            await issuer.setDateOffset(.seconds(-86_400))
            // 784111777 is the time in the example of RFC 9110 §5.6.7.
            let behind = try await RawClient.get(url + "/userinfo")
            #expect(behind.headers["date"] == "Sat, 05 Nov 1994 08:49:37 GMT")
            await issuer.setDateOffset(.zero)
            let inTime = try await RawClient.get(url + "/userinfo")
            #expect(inTime.headers["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        }
    }

    @Test func `an unknown path and a wrong method are distinguished`() async throws {
        try await withIssuer { _, url in
            #expect(try await RawClient.get(url + "/nowhere").status == 404)
            let reply = try await RawClient.get(url + "/token")
            #expect(reply.status == 405 && reply.headers["allow"] == "POST")
        }
    }

    @Test func `a kept connection carries many refreshes`() async throws {
        try await withIssuer(policy: GrantPolicy(isRotating: false)) { issuer, url in
            let token = try await issuer.issueGrant(clientID: "app").refreshToken
            let form = "grant_type=refresh_token&client_id=app&refresh_token=\(token)"
            let succeeded = try await RawClient.repeatPost(url + "/token", forms: Array(repeating: form, count: 200))
            #expect(succeeded == 200)
            #expect(await issuer.counters.refreshes == 200)
        }
    }

    @Test func `a request body over the limit closes the connection`() async throws {
        try await withIssuer { issuer, url in
            let atLimit = try await RawClient.post(url + "/token", String(repeating: "a", count: 1 << 20))
            #expect(atLimit.field("error") == "invalid_request")
            let over = try? await RawClient.post(url + "/token", String(repeating: "a", count: (1 << 20) + 1))
            #expect(over?.status == nil)
            #expect(await issuer.counters.tokenRequests == 1)
        }
    }

    @Test func `a connection that cannot be prepared is closed before HTTP`() async throws {
        struct Refused: Error {}
        let issuer = DemoIssuer(
            configuration: IssuerConfiguration(clients: [], prepareConnection: { _ in throw Refused() })
        )
        let url = try await issuer.start()
        // The second request shows that the first did not end the listener.
        for _ in 1...2 {
            do {
                #expect(try await RawClient.get(url + "/userinfo").status == nil)
            } catch {
                #expect(!(error is RawClient.TookTooLong), "the connection was left open")
            }
        }
        await issuer.shutdown()
    }

    @Test func `many grants are issued at once, each its own`() async throws {
        try await withIssuer { issuer, url in
            let grants = try await issuer.issueGrants(count: 1000, clientID: "app")
            #expect(Set(grants.map(\.refreshToken)).count == 1000)
            let last = try #require(grants.last)
            #expect(await issuer.grant(last.family)?.subject == "user999")
            let reply = try await refresh(url, last.refreshToken)
            #expect(reply.status == 200)
            await #expect(throws: DemoError("the authorization server does not know the client 'nobody'")) {
                _ = try await issuer.issueGrants(count: 1, clientID: "nobody")
            }
        }
    }

    @Test func `a port in use is named`() async throws {
        try await withIssuer { _, url in
            let port = try #require(Int(url.split(separator: ":").last ?? ""))
            let second = DemoIssuer(configuration: IssuerConfiguration(clients: [], port: port))
            await #expect(throws: DemoError("cannot listen on 127.0.0.1, port \(port) (error 98)")) {
                _ = try await second.start()
            }
        }
    }
}
