import AuthRefreshInterface
import Crypto
import DemoIssuer
import Glibc
import TestSupport
import Testing

/// Clients that are registered at a strict server, sign in, and are deleted again.
struct RegistrationTests {
    private func withStage(
        _ registration: GrantPolicy.Registration = .open,
        secretLifetime: Duration? = nil,
        renewsSecrets: Bool = true,
        change: (inout GrantPolicy) -> Void = { _ in },
        _ body: (DaemonStage, DemoIssuer, String) async throws -> Void
    ) async throws {
        var policy = GrantPolicy()
        policy.registration = registration
        policy.clientSecretLifetime = secretLifetime
        policy.renewsClientSecrets = renewsSecrets
        change(&policy)
        try await withIssuer(clients: [], policy: policy) { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            try await body(stage, issuer, url)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    /// Adds the account `work`, for which the server at `url` is to register a client.
    private func register(
        _ stage: DaemonStage,
        at url: String,
        _ options: [String] = [],
        input: String = ""
    ) async throws -> CommandOutcome {
        try await stage.authctl(["account", "add", "work", "--issuer", url, "--register"] + options, input: input)
    }

    private func signIn(_ stage: DaemonStage, flow: String? = nil) async throws -> String {
        let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", flow: flow))
        let started = try await call.started()
        let location = try await Person().decide(at: try #require(started.url))
        if flow == nil {
            _ = try await RawWeb.get(location)
        } else {
            let parameters = ContinueSignIn.Parameters(attempt: started.attempt, redirect: location)
            _ = try await stage.ask(.continueSignIn, parameters, for: ContinueSignIn.Reply.self)
        }
        _ = try await call.completed()
        return try #require(started.redirectUri)
    }

    @Test func `a client is registered, signs in, refreshes, and is deleted with its account`() async throws {
        try await withStage { stage, issuer, url in
            let added = try await register(stage, at: url)
            #expect(added.end == .exited(0), "\(added)")
            #expect(added.errors.contains("registered this client for the account: demo-client-"))
            _ = try await signIn(stage)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            let entries = await issuer.entries()
            let id = try #require(entries.first { $0.outcome == .registered }?.clientID)
            #expect(entries.last?.clientID == id)

            let out = try await stage.authctl("logout", "work", "--revoke", "--forget")
            #expect(out.end == .exited(0), "\(out)")
            #expect(out.output.contains("the client is deregistered"))
            let last = try #require(await issuer.entries().last)
            #expect(last.outcome == .deregistered && last.clientID == id)
            #expect(try await stage.authctl("account", "show", "work").end == .exited(4))
        }
    }

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `a confidential client keeps the secret that the server issued`(method: String) async throws {
        try await withStage { stage, issuer, url in
            let added = try await register(stage, at: url, ["--client-auth", method])
            #expect(added.end == .exited(0), "\(added)")
            _ = try await signIn(stage)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.entries().contains { $0.outcome == .clientRefused } == false)
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains(method) && !shown.output.contains("demo-secret-"))
        }
    }

    @Test func `a client whose assertion is in a file is not registered`() async throws {
        try await withStage { stage, issuer, url in
            let file = ["--client-assertion-file", "/run/token"]
            let refused = try await register(stage, at: url, file)
            #expect(refused.end == .exited(64) && refused.errors.contains("the client is new"), "\(refused)")
            let added = try await stage.authctl(
                ["account", "add", "work", "--issuer", url, "--client-id", "app"] + file
            )
            #expect(added.end == .exited(0), "\(added)")
            let kept = try await stage.authctl("account", "edit", "work", "--register")
            #expect(kept.end == .exited(65), "\(kept)")
            #expect(kept.errors.contains("--clear client-assertion-file"), "\(kept)")
            #expect(await issuer.entries().contains { $0.outcome == .registered } == false)
            let edit = ["account", "edit", "work", "--register", "--clear", "client-assertion-file"]
            #expect(try await stage.authctl(edit).end == .exited(0))
        }
    }

    @Test func `the redirect URIs are those that the sign-in will use`() async throws {
        try await withStage { stage, _, url in
            let added = try await register(stage, at: url, ["--redirect-scheme", "org.example.mail"])
            #expect(added.end == .exited(0), "\(added)")
            let scheme = try await signIn(stage, flow: "scheme")
            #expect(scheme.wholeMatch(of: /org\.example\.mail:\/callback\/[0-9a-f]{16}/) != nil, "\(scheme)")
            let loopback = try await signIn(stage)
            #expect(loopback.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/callback\/[0-9a-f]{16}/) != nil, "\(loopback)")
        }
    }

    @Test func `a server that compares whole redirect URIs is told a free port, which stays`() async throws {
        try await withStage(change: { $0.comparesWholeRedirectURIs = true }) { stage, _, url in
            let added = try await register(stage, at: url)
            #expect(added.end == .exited(0), "\(added)")
            let shown = try await stage.authctl("account", "show", "work")
            let port = try #require(shown.output.firstMatch(of: /redirect port +(\d+)\n/)).1
            for _ in 1...2 {
                #expect(try await signIn(stage).hasPrefix("http://127.0.0.1:\(port)/callback/"))
            }
        }
    }

    @Test func `a port that is taken is named, and a new client gets another one`() async throws {
        try await withStage(change: { $0.comparesWholeRedirectURIs = true }) { stage, _, url in
            let held = try HeldEndpoint()
            let added = try await register(stage, at: url, ["--redirect-port", String(held.port)])
            #expect(added.end == .exited(0), "\(added)")
            let refused = try await stage.authctl("login", "work", "--flow", "browser", "--no-open")
            #expect(refused.end == .exited(78), "\(refused)")
            let holder = "another program listens on port \(held.port) of this machine: "
            #expect(refused.errors.contains(holder) && refused.errors.contains("(\(getpid()))"), "\(refused.errors)")
            #expect(refused.errors.contains("authctl account edit work --register"), "\(refused.errors)")
            let edited = try await stage.authctl("account", "edit", "work", "--register")
            #expect(edited.end == .exited(0), "\(edited)")
            #expect(try await !signIn(stage).contains(":\(held.port)/"))
        }
    }

    @Test func `a client registers for device codes, where the server offers them`() async throws {
        try await withStage(change: { $0.bindsGrantTypes = true }) { stage, _, url in
            #expect(try await register(stage, at: url).end == .exited(0))
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", flow: "device"))
            let started = try await call.started()
            try await Person().decide(device: try #require(started.userCode), at: try #require(started.url))
            _ = try await call.completed()
        }
    }

    @Test func `a client that the server has forgotten is registered again at the next sign-in`() async throws {
        try await withStage { stage, issuer, url in
            #expect(try await register(stage, at: url, ["--scope", "mail"]).end == .exited(0))
            _ = try await signIn(stage)
            let before = try await stage.authctl("account", "show", "work").output
            await issuer.forgetRegisteredClients()
            let refresh = try await stage.authctl("refresh", "work")
            #expect(refresh.errors.contains("no longer accepts the client that it registered"), "\(refresh.errors)")
            #expect(try await stage.authctl("status", "work").output.contains("authctl login work"))
            _ = try await signIn(stage)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            let after = try await stage.authctl("account", "show", "work").output
            let settings = { (text: String) in text.split(separator: "\n").filter { $0.contains("redirect") } }
            #expect(settings(before) == settings(after) && after.contains("mail"))
            #expect(await issuer.entries().filter { $0.outcome == .registered }.count == 2)
        }
    }

    @Test(arguments: ["before the first sign-in", "after a sign-out"])
    func `a signed-out client that the server has forgotten is registered again before the browser opens`(
        moment: String
    ) async throws {
        try await withStage { stage, issuer, url in
            #expect(try await register(stage, at: url, ["--scope", "mail"]).end == .exited(0))
            if moment == "after a sign-out" {
                _ = try await signIn(stage)
                #expect(try await stage.authctl("logout", "work").end == .exited(0))
            }
            // As long as the server has the client, it stays.
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work"))
            let started = try await call.started()
            #expect(started.clientReplaced == nil && started.url != nil)
            let cancel = CancelSignIn.Parameters(attempt: started.attempt)
            _ = try await stage.ask(.cancelSignIn, cancel, for: CancelSignIn.Reply.self)
            _ = try await call.ended()
            #expect(await issuer.entries().filter { $0.outcome == .registered }.count == 1)

            await issuer.forgetRegisteredClients()
            _ = try await signIn(stage)
            #expect(await issuer.entries().filter { $0.outcome == .registered }.count == 2)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
        }
    }

    @Test func `a device endpoint that does not know the client has another one registered at once`() async throws {
        try await withStage { stage, issuer, url in
            #expect(try await register(stage, at: url).end == .exited(0))
            await issuer.forgetRegisteredClients()
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", flow: "device"))
            let started = try await call.started()
            #expect(started.clientReplaced == true)
            try await Person().decide(device: try #require(started.userCode), at: try #require(started.url))
            _ = try await call.completed()
        }
    }

    @Test func `a client whose secret has expired is registered again before the browser opens`() async throws {
        try await withStage(secretLifetime: .zero, renewsSecrets: false) { stage, issuer, url in
            #expect(try await register(stage, at: url, ["--client-auth", "client_secret_basic"]).end == .exited(0))
            var policy = await issuer.policy
            policy.clientSecretLifetime = nil
            await issuer.setPolicy(policy)
            _ = try await signIn(stage)
            #expect(await issuer.entries().filter { $0.outcome == .registered }.count == 2)
        }
    }

    @Test func `the registered port is the one that is used, and can be changed`() async throws {
        try await withStage { stage, _, url in
            let (first, second) = (try HeldEndpoint.freePort(), try HeldEndpoint.freePort())
            let port = String(first)
            let added = try await register(stage, at: url, ["--redirect-port", port])
            #expect(added.end == .exited(0), "\(added)")
            #expect(try await signIn(stage).hasPrefix("http://127.0.0.1:\(port)/callback/"))
            let uri = "http://127.0.0.1:\(second)/back"
            let edited = try await stage.authctl("account", "edit", "work", "--redirect-uri", uri)
            #expect(edited.output.contains(uri), "\(edited)")
            // The server does not know that redirect URI.
            let call = try SignInCall(stage, StartSignIn.Parameters(account: "work"))
            let started = try await call.started()
            #expect(started.redirectUri == uri)
            let page = try await RawWeb.get(try #require(started.url))
            #expect(page.status == 400)
        }
    }

    @Test func `a registration can use the server's initial access token`() async throws {
        try await withStage(.byToken("demo-initial")) { stage, issuer, url in
            let refused = try await register(stage, at: url)
            #expect(refused.end == .exited(78), "\(refused)")
            #expect(refused.errors.contains("--initial-access-token-file FILE"), "\(refused.errors)")
            let added = try await register(
                stage,
                at: url,
                ["--initial-access-token-file", "-"],
                input: "demo-initial"
            )
            #expect(added.end == .exited(0), "\(added)")
            #expect(await issuer.entries().map(\.outcome) == [.clientRefused, .registered])
        }
    }

    @Test(arguments: [
        (["--redirect-uri", "https://relay.example/back"], "does not accept the redirect URIs"),
        (["--client-auth", "client_secret_jwt"], "does not accept what the client says about itself"),
    ])
    func `a refusal is reported, and nothing is added`(options: [String], words: String) async throws {
        try await withStage { stage, _, url in
            let refused = try await register(stage, at: url, options)
            #expect(refused.end == .exited(78), "\(refused)")
            #expect(refused.errors.contains(words), "\(refused.errors)")
            #expect(try await stage.authctl("account", "show", "work").end == .exited(4))
        }
    }

    @Test func `a server without registration and one that refuses are distinguished`() async throws {
        try await withStage(.closed) { stage, _, url in
            let refused = try await register(stage, at: url)
            #expect(refused.end == .exited(78), "\(refused)")
            #expect(refused.errors.contains("does not register clients by itself"), "\(refused.errors)")
        }
    }

    @Test func `removing an account deletes its client only on request`() async throws {
        try await withStage { stage, issuer, url in
            for name in ["work", "home"] {
                let added = try await stage.authctl("account", "add", name, "--issuer", url, "--register")
                #expect(added.end == .exited(0), "\(added)")
            }
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            #expect(await issuer.entries().map(\.outcome) == [.registered, .registered])
            #expect(try await stage.authctl("account", "remove", "home", "--deregister", "--yes").end == .exited(0))
            #expect(await issuer.entries().last?.outcome == .deregistered)
        }
    }

    @Test func `an account's variables make its URLs, and do not move its grant`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let profile = """
                name: branch
                variables: [{name: service, help: the path of the service}]
                issuer: \(url)
                token_endpoint: \(url)/{service}
                """
            try stage.folder.write(profile, to: "config/authrefreshd/providers.d/branch.yaml")
            let daemon = try await stage.start()
            let add = ["account", "add", "work", "--provider", "branch", "--client-id", "app"]
            let unsaid = try await stage.authctl(add)
            #expect(unsaid.end == .exited(65) && unsaid.errors.contains("--set service=VALUE"), "\(unsaid)")
            let elsewhere = try await stage.authctl(add + ["--set", "service=token?x"])
            #expect(elsewhere.end == .exited(65), "\(elsewhere)")
            #expect(try await stage.authctl(add + ["--set", "service=token"]).end == .exited(0))
            try await stage.importGrant(try await issuer.issueGrant(clientID: "app"), into: "work")
            try await stage.acquire("work")
            let moved = try await stage.authctl("account", "edit", "work", "--set", "service=other")
            #expect(moved.end == .exited(65) && moved.errors.contains("is sent nowhere else"), "\(moved)")
            let shown = try await stage.authctl("provider", "show", "branch")
            #expect(shown.output.contains("/{service}") && shown.output.contains("the path of the service"), "\(shown)")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `all missing provider values are reported at once, and a variable is not a setting`() async throws {
        let stage = try DaemonStage()
        let profile = """
            name: branch
            variables: [{name: realm, help: the realm}, {name: service, help: the path of the service}]
            issuer: https://as.example/{realm}
            token_endpoint: https://as.example/{service}
            """
        try stage.folder.write(profile, to: "config/authrefreshd/providers.d/branch.yaml")
        let daemon = try await stage.start()
        let add = ["account", "add", "work", "--provider", "branch", "--client-id", "app"]
        let unsaid = try await stage.authctl(add)
        #expect(
            unsaid.end == .exited(65) && unsaid.errors.contains("--set realm=VALUE --set service=VALUE"),
            "\(unsaid)"
        )
        let own = try await stage.authctl(add + ["--issuer", "https://as.example"])
        #expect(own.errors.contains("hint: --set service=VALUE"), "\(own)")
        let mistaken = try await stage.authctl(add + ["--provider-setting", "service=token"])
        #expect(mistaken.end == .exited(65), "\(mistaken)")
        #expect(mistaken.errors.contains("'service' is a variable") && mistaken.errors.contains("--set service=VALUE"))
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a service account's client registers itself and gets its token at once`() async throws {
        try await withStage { stage, issuer, url in
            let added = try await register(stage, at: url, ["--grant", "client-credentials", "--scope", "deploy"])
            #expect(added.end == .exited(0), "\(added)")
            try await stage.acquire("work")
            #expect(await issuer.entries().map(\.outcome) == [.registered, .issued])
            #expect(try await stage.status("work").grantType == "client_credentials")
        }
    }

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `an expiring secret is renewed, and the new one is used`(method: String) async throws {
        try await withStage(secretLifetime: .seconds(86_400)) { stage, issuer, url in
            let feed = try await ChangeFeed(stage)
            let added = try await register(stage, at: url, ["--client-auth", method, "--grant", "client-credentials"])
            #expect(added.end == .exited(0), "\(added)")
            // The first token caused the renewal.
            try await feed.next("account-updated", of: "work")
            #expect(await issuer.entries().map(\.outcome) == [.registered, .issued, .registered])
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(await issuer.entries().last?.outcome == .issued)
            #expect(try await stage.authctl("logout", "work", "--forget").output.contains("is deregistered"))
        }
    }

    /// A new key of the client's, in a file.
    private func keyFile(_ stage: DaemonStage) throws -> String {
        try stage.folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "client-key.pem")
    }

    @Test func `a client with a key registers its public half, and authenticates with the key`() async throws {
        try await withStage { stage, issuer, url in
            let key = try keyFile(stage)
            let added = try await register(stage, at: url, ["--client-key-file", key])
            #expect(added.end == .exited(0), "\(added)")
            _ = try await signIn(stage)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("client auth     private_key_jwt\n"), "\(shown)")
            #expect(await issuer.entries().last?.outcome == .rotated)
            // Another key does not belong to the client.
            let other = try stage.folder.write(P256.Signing.PrivateKey().pemRepresentation, to: "other-key.pem")
            #expect(try await stage.authctl("account", "edit", "work", "--client-key-file", other).end == .exited(0))
            #expect(try await stage.authctl("refresh", "work").end == .exited(78))
            #expect(await issuer.entries().last?.outcome == .clientRefused)
        }
    }

    @Test func `a client with an assertion grant registers its signing key`() async throws {
        try await withStage { stage, issuer, url in
            let options = ["--grant", "jwt-bearer", "--client-key-file", try keyFile(stage), "--scope", "deploy"]
            let added = try await register(stage, at: url, options)
            #expect(added.end == .exited(0), "\(added)")
            try await stage.acquire("work")
            #expect(await issuer.entries().map(\.outcome) == [.registered, .issued])
        }
    }

    @Test func `an expiring secret is announced in time, and a person can provide a new one`() async throws {
        try await withStage(secretLifetime: .seconds(86_400), renewsSecrets: false) { stage, _, url in
            let feed = try await ChangeFeed(stage)
            let added = try await register(stage, at: url, ["--grant", "client-credentials"])
            #expect(added.end == .exited(0), "\(added)")
            try await feed.next("client-secret-ending", of: "work")
            let doctor = try await stage.authctl("doctor", "work")
            #expect(doctor.output.contains("the client secret expires in "), "\(doctor)")
            let status = try await stage.authctl("status", "work")
            #expect(status.output.contains("the client secret expires "), "\(status)")
            #expect(status.output.contains("authctl account edit work --client-secret-file FILE"))
            #expect(try await stage.status("work").clientSecretExpiresAtUSec != nil)
            let shown = try await stage.authctl("account", "show", "work")
            #expect(shown.output.contains("secret expires  "), "\(shown)")
            let edit = ["account", "edit", "work", "--client-secret-file", "-"]
            #expect(try await stage.authctl(edit, input: "other").end == .exited(0))
            #expect(try await stage.status("work").clientSecretExpiresAtUSec == nil)
        }
    }

    @Test func `a registration moves to another machine with its account`() async throws {
        try await withStage(secretLifetime: .seconds(86_400)) { stage, issuer, url in
            #expect(try await register(stage, at: url, ["--client-auth", "client_secret_basic"]).end == .exited(0))
            let feed = try await ChangeFeed(stage)
            _ = try await signIn(stage)
            // The sign-in causes the renewal of the secret. An export must have the new secret, because the old one is
            // useless.
            try await feed.next("account-updated", of: "work")
            let exported = try await stage.authctl("account", "export", "work")
            #expect(exported.output.contains("demo-registration-"), "\(exported.errors)")
            let other = try DaemonStage()
            let daemon = try await other.start()
            let otherFeed = try await ChangeFeed(other)
            let imported = try await other.authctl(["account", "import", "-"], input: exported.output)
            #expect(imported.end == .exited(0), "\(imported)")
            try await otherFeed.next("account-updated", of: "work")
            #expect(try await other.status("work").clientSecretExpiresAtUSec != nil)
            // Here the client is in use now, so the first machine does not delete it.
            #expect(try await stage.authctl("account", "export", "work", "--move").end == .exited(0))
            let kept = try await stage.authctl("account", "remove", "work", "--deregister")
            #expect(kept.end == .exited(5) && kept.errors.contains("another machine may use"), "\(kept)")
            let out = try await other.authctl("logout", "work", "--forget")
            #expect(out.end == .exited(0), "\(out)")
            #expect(await issuer.entries().last?.outcome == .deregistered)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    /// The result of registering a client: "added", or the error's name and parameters.
    private static func registering(_ number: Int, at url: String, _ stage: DaemonStage) async -> String {
        let settings = AccountSettings(name: "work-\(number)", issuer: url, clientId: "")
        let parameters = AddAccount.Parameters(settings: settings, register: true)
        do {
            _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
            return "added"
        } catch TestFault.refused(let name, let parameters) {
            return name + parameters
        } catch {
            return "\(error)"
        }
    }

    @Test func `one registration too many gets the limit, and one that ends makes room`() async throws {
        let stage = try DaemonStage()
        let daemon = try await stage.start()
        // A server that accepts connections and does not answer.
        let held = try HeldEndpoint()
        let url = "http://127.0.0.1:\(held.port)"
        let outcomes = await withTaskGroup(of: String.self) { group in
            // Half of all, and one more.
            for number in 0...16 { group.addTask { await Self.registering(number, at: url, stage) } }
            // The others wait for the server.
            var outcomes = [await group.next() ?? ""]
            if let connection = try? await held.request() { try? await held.answer(connection) }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        #expect(outcomes[0].contains(LimitExceededError.name) && outcomes[0].contains("serverCalls"), "\(outcomes[0])")
        #expect(outcomes.dropFirst().allSatisfy { $0.contains("ClientNotRegistered") }, "\(outcomes)")
        #expect(await Self.registering(33, at: url, stage).contains("ClientNotRegistered"))
        #expect(try await daemon.terminate() == .exited(0))
    }

    @Test func `a name that is taken registers nobody`() async throws {
        try await withStage { stage, issuer, url in
            for status in [0, 64] as [Int32] {
                let added = try await register(stage, at: url)
                #expect(added.end == .exited(status), "\(added)")
            }
            #expect(await issuer.entries().count == 1)
        }
    }
}
