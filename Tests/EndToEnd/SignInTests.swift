import AuthRefreshInterface
import DemoIssuer
import TestSupport
import Testing

/// Complete sign-ins: a real daemon, a server that asks a person, and a browser that the test controls.
struct SignInTests {
    // MARK: flows

    @Test func `a browser signs in, and silent refreshes follow`() async throws {
        try await withSignInStage(hasOwnClock: true) { stage, daemon, issuer in
            let feed = try await ChangeFeed(stage)
            let call = try stage.signIn()
            let started = try await call.started()
            #expect(started.flow == "browser")
            #expect(started.attempt.utf8.count == 22)
            let url = try #require(started.url)
            #expect(started.host == "127.0.0.1")
            let redirectURI = try #require(started.redirectUri)
            #expect(redirectURI.hasPrefix("http://127.0.0.1:"))

            let location = try await Person().decide(at: url)
            #expect(location.hasPrefix(redirectURI))
            let page = try await RawWeb.get(location)
            #expect(page.status == 200)
            #expect(page.body.contains("Signed in") && page.body.contains("work"))
            #expect(page.headers["cache-control"] == "no-store")

            let completed = try await call.completed()
            #expect(completed.status?.state == "fresh")
            #expect(call.news.all.map(\.event) == ["started", "callback-received", "exchanging", "completed"])
            try await feed.next("signed-in", of: "work")
            #expect(try await stage.acquire("work").accessToken.hasPrefix("demo-at-"))
            // The code's grant is generation 1 at the server, and only the daemon rotates it.
            let generation = try #require(completed.status?.generation)
            for number in 1...3 {
                try await stage.passToNextAttempt(of: "work")
                try await feed.changes.first("refresh \(number)") {
                    $0.event == "token-refreshed" && $0.accounts.first?.generation == generation + Int64(number)
                }
            }
            let counters = await issuer.counters
            #expect(counters.spentTokenUses == 0)
            // Nobody listens any more.
            await #expect(throws: TestFault.self) { try await RawWeb.get(location) }
            #expect(try await daemon.terminate() == .exited(0))
            let code = try #require(location.firstMatch(of: /code=([^&]*)/)?.1)
            let state = try #require(location.firstMatch(of: /state=([^&]*)/)?.1)
            for secret in [code, state] { #expect(!daemon.logText.contains(secret)) }
            #expect(daemon.logText.contains("signed in"))
        }
    }

    @Test func `a server's answer by form is read`() async throws {
        try await withSignInStage(profile: "response_mode: form_post\n") { stage, _, _ in
            let call = try stage.signIn()
            let (action, form) = try await Person().decideByForm(at: try #require(call.started().url))
            let page = try await RawWeb.post(action, form)
            #expect(page.body.contains("Signed in"))
            #expect(try await call.completed().status?.state == "fresh")
        }
    }

    @Test func `pasted text completes a sign-in, with and without a listener`() async throws {
        try await withSignInStage { stage, _, _ in
            for flow in ["paste", "browser"] {
                let call = try stage.signIn(flow: flow)
                let started = try await call.started()
                #expect(started.flow == flow)
                let location = try await Person().decide(at: try #require(started.url))
                try await stage.bring("  \(location)\n", attempt: started.attempt)
                #expect(try await call.completed().status?.state == "fresh")
            }
        }
    }

    @Test func `an answer by a private-use scheme finds its sign-in by the state`() async throws {
        try await withSignInStage(profile: "redirect_scheme: org.example.demo\n") { stage, _, _ in
            let call = try stage.signIn(flow: "scheme")
            let started = try await call.started()
            #expect(started.redirectUri == "org.example.demo:/callback")
            let location = try await Person().decide(at: try #require(started.url))
            #expect(location.hasPrefix("org.example.demo:/callback?"))
            await #expect(throws: TestFault.self) {
                try await stage.bring("org.example.demo:/callback?code=x&state=stolen")
            }
            try await stage.bring(location)
            #expect(try await call.completed().status?.state == "fresh")
        }
    }

    @Test func `a user's own page passes its address to authctl callback`() async throws {
        let page = "https://me.example.org/back/"
        let app = DemoClient(id: "app", redirectURIs: [page])
        try await withIssuer(clients: [app]) { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let add = ["account", "add", "work", "--issuer", url, "--client-id", "app", "--redirect-uri", page]
            #expect(try await stage.authctl(add).end == .exited(0))
            let call = try stage.signIn()
            let started = try await call.started()
            #expect(started.flow == "paste" && started.redirectUri == page)
            let location = try await Person().decide(at: try #require(started.url))
            #expect(location.hasPrefix(page))
            #expect(try await stage.authctl("callback", "io.authrefresh:\(location)").end == .exited(0))
            #expect(try await call.completed().status?.state == "fresh")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a device signs in after the person has typed its code`() async throws {
        var policy = GrantPolicy()
        policy.deviceInterval = .seconds(1)
        try await withSignInStage(policy: policy) { stage, _, issuer in
            let call = try stage.signIn(flow: "device")
            let started = try await call.started()
            let userCode = try #require(started.userCode)
            #expect(started.verificationUriComplete?.hasSuffix(userCode) == true)
            #expect(started.redirectUri == nil)
            _ = try await issuer.waitForRequest { $0.outcome == .pending }
            try await Person().decide(device: userCode, at: try #require(started.url))
            #expect(try await call.completed().status?.state == "fresh")
            #expect(try await stage.acquire("work").accessToken.hasPrefix("demo-at-"))
        }
    }

    @Test func `a device refused by the person is denied`() async throws {
        var policy = GrantPolicy()
        policy.deviceInterval = .seconds(1)
        try await withSignInStage(policy: policy) { stage, _, _ in
            let call = try stage.signIn(flow: "device")
            let started = try await call.started()
            try await Person().decide(false, device: try #require(started.userCode), at: try #require(started.url))
            #expect(try await call.refusal(SignInDeniedError.self).oauthError == "access_denied")
        }
    }

    // MARK: other ends

    @Test func `a refusal by the person is shown in the browser`() async throws {
        try await withSignInStage { stage, daemon, _ in
            let call = try stage.signIn()
            let location = try await Person().decide(false, at: try #require(call.started().url))
            let page = try await RawWeb.get(location)
            #expect(page.body.contains("The sign-in was declined") && page.body.contains("authctl login work"))
            let denied = try await call.refusal(SignInDeniedError.self)
            #expect(denied.oauthError == "access_denied")
            #expect(denied.oauthErrorDescription == "The person said no.")
            #expect(try await stage.status("work").state == "signed-out")
            try await daemon.says("sign-in ended without tokens")
        }
    }

    @Test func `after the person cancels, a later answer is refused`() async throws {
        try await withSignInStage { stage, _, _ in
            let call = try stage.signIn(flow: "paste")
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            let parameters = CancelSignIn.Parameters(attempt: started.attempt)
            _ = try await stage.ask(.cancelSignIn, parameters, for: CancelSignIn.Reply.self)
            #expect(try await call.refusal(SignInCancelledError.self).by == "user")
            for attempt in [started.attempt, nil] {
                await #expect(throws: (any Error).self) { try await stage.bring(location, attempt: attempt) }
            }
        }
    }

    @Test func `a second caller follows from the beginning, and a restart supersedes`() async throws {
        try await withSignInStage { stage, _, _ in
            let first = try stage.signIn()
            let started = try await first.started()
            let second = try stage.signIn()
            var joined = started
            joined.joined = true
            #expect(try await second.started() == joined)
            let third = try stage.signIn(restart: true)
            #expect(try await first.refusal(SignInCancelledError.self).by == "superseded")
            #expect(try await second.refusal(SignInCancelledError.self).by == "superseded")
            let again = try await third.started()
            #expect(again.attempt != started.attempt)
            _ = try await RawWeb.get(try await Person().decide(at: try #require(again.url)))
            try await third.completed()
        }
    }

    @Test func `a sign-in goes on after its terminal was closed, and the next caller follows it`() async throws {
        try await withSignInStage { stage, _, _ in
            let reply = try await onOwnThread { [socket = stage.socket] in
                let caller = try RawConnection(socket)
                let call = #"{"method":"io.authrefresh.StartSignIn","parameters":{"account":"work"},"more":true}"#
                try caller.send(call + "\0")
                return try caller.receive()
            }
            let second = try stage.signIn()
            let started = try await second.started()
            #expect(started.joined == true)
            #expect(reply.contains(#""attempt":"\#(started.attempt)""#))
            _ = try await RawWeb.get(try await Person().decide(at: try #require(started.url)))
            try await second.completed()
        }
    }

    @Test func `a sign-in names the account's browser, and no command`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            try stage.configure("login_browser: firefox -P work\n")
            let daemon = try await stage.start()
            for command in ["sh -c id", "/usr/bin/chromium"] {
                var settings = AccountSettings(name: "bad", issuer: url, clientId: "app")
                settings.loginBrowser = command
                await #expect(throws: (any Error).self) {
                    try await stage.ask(
                        .addAccount,
                        AddAccount.Parameters(settings: settings),
                        for: AddAccount.Reply.self
                    )
                }
            }
            for (name, browser) in [("usual", nil), ("own", "chromium")] {
                var settings = AccountSettings(name: name, issuer: url, clientId: "app")
                settings.loginBrowser = browser
                _ = try await stage.ask(
                    .addAccount,
                    AddAccount.Parameters(settings: settings),
                    for: AddAccount.Reply.self
                )
                let call = try SignInCall(stage, StartSignIn.Parameters(account: name, flow: "paste"))
                let named = try await call.started().browser
                #expect(named == browser)
            }
            #expect(try await daemon.terminate() == .exited(0))
        }
        try await withSignInStage { stage, _, _ in
            let started = try await stage.signIn().started()
            #expect(started.browser == nil)
        }
    }

    @Test func `a restarted daemon does not know earlier sign-ins`() async throws {
        try await withSignInStage { stage, daemon, _ in
            let call = try stage.signIn(flow: "paste")
            let started = try await call.started()
            let location = try await Person().decide(at: try #require(started.url))
            #expect(try await daemon.terminate() == .exited(0))
            #expect(try await call.refusal(SignInCancelledError.self).by == "stopping")
            let next = try await stage.start()
            await #expect(throws: TestFault.self) { try await stage.bring(location, attempt: started.attempt) }
            let refused = try await stage.authctl("status", "work")
            #expect(refused.output.contains("work"))
            #expect(try await next.terminate() == .exited(0))
        }
    }

    @Test func `another person than the account's is refused, and accepted on request`() async throws {
        try await withSignInStage(scopes: ["openid"]) { stage, _, _ in
            func signIn(as subject: String, replace: Bool? = nil) async throws -> SignInCall {
                let call = try stage.signIn(replace: replace)
                _ = try await RawWeb.get(try await Person(subject).decide(at: try #require(call.started().url)))
                return call
            }
            try await signIn(as: "alice").completed()
            #expect(try await stage.status("work").subject == "alice")
            let token = try await stage.acquire("work").accessToken
            let other = try await signIn(as: "bob").refusal(OtherSubjectError.self)
            #expect(other.hint.contains("--replace"))
            #expect((other.signedIn, other.owner) == ("bob@example.org", "alice@example.org"))
            #expect(try await stage.acquire("work").accessToken == token)
            let edited = try await stage.authctl("account", "edit", "work", "--lead-time", "5m")
            #expect(edited.end == .exited(0), "\(edited)")
            #expect(try await signIn(as: "bob").refusal(OtherSubjectError.self).account == "work")
            try await signIn(as: "alice").completed()
            try await signIn(as: "bob", replace: true).completed()
            #expect(try await signIn(as: "alice").refusal(OtherSubjectError.self).account == "work")
        }
    }

    @Test func `facts from the first sign-in are kept until the sign-out`() async throws {
        let user = #"{"name":"Jane"}"#
        try await withSignInStage(profile: "callback_fields: [user]\n", scopes: ["openid"]) { stage, daemon, _ in
            func signIn(with more: String = "") async throws -> String? {
                let call = try stage.signIn(flow: "paste")
                let started = try await call.started()
                let location = try await Person().decide(at: try #require(started.url))
                try await stage.bring(location + more, attempt: started.attempt)
                try await call.completed()
                return try await stage.status("work").keptFields?["user"]
            }
            let settings = try await stage.ask(
                .listAccounts,
                ListAccounts.Parameters(),
                for: ListAccounts.Reply.self
            ).accounts
            #expect(try await signIn(with: "&user=%7B%22name%22%3A%22Jane%22%7D") == user)
            #expect(try await signIn() == user)
            #expect(try await stage.authctl("logout", "work").end == .exited(0))
            #expect(try await stage.status("work").keptFields == nil)
            #expect(try await signIn() == nil)
            #expect(try await signIn(with: "&user=%7B%22name%22%3A%22Jane%22%7D") == user)
            #expect(try await daemon.terminate() == .exited(0))
            let next = try await stage.start()
            #expect(try await signIn() == user)
            #expect(try await stage.authctl("account", "remove", "work", "--yes").end == .exited(0))
            let again = AddAccount.Parameters(settings: try #require(settings.first))
            _ = try await stage.ask(.addAccount, again, for: AddAccount.Reply.self)
            #expect(try await signIn() == nil)
            #expect(try await next.terminate() == .exited(0))
        }
    }

    @Test func `a sign-in by paste without a terminal is finished by authctl callback`() async throws {
        try await withSignInStage { stage, _, _ in
            let arguments = ["login", "work", "--flow", "paste"]
            let login = try Program("authctl", arguments, environment: stage.environment)
            // Otherwise it could come after the sign-in has ended, and begin another one.
            try await login.errors.first("the address") { $0.contains("http://") }
            let location = try await Person().decide(at: try #require(stage.signIn(flow: "paste").started().url))
            #expect(try await stage.authctl("callback", location).end == .exited(0))
            #expect(try await login.ended() == .exited(0))
            #expect(try await stage.status("work").state == "fresh")
        }
    }

    @Test func `options that the current sign-in does not have are not ignored`() async throws {
        try await withSignInStage { stage, _, _ in
            let call = try stage.signIn()
            _ = try await call.started()
            let other = try await stage.authctl("login", "work", "--prompt", "login", "--no-open")
            #expect(other.end == .exited(75))
            #expect(other.errors.contains("--restart"), "\(other.errors)")
            let parameters = StartSignIn.Parameters(account: "work", restart: true, prompt: "login")
            let again = try SignInCall(stage, parameters)
            #expect(try await again.started().url?.contains("prompt=login") == true)
            _ = try await stage.ask(
                .cancelSignIn,
                CancelSignIn.Parameters(account: "work"),
                for: CancelSignIn.Reply.self
            )
            _ = try await again.ended()
        }
    }

    @Test func `a metadata address leads to its issuer, and a sign-out without a grant says so`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            for (number, place) in ["openid-configuration", "oauth-authorization-server"].enumerated() {
                let name = "work\(number)"
                let add = ["account", "add", name, "--issuer", url + "/.well-known/" + place, "--client-id", "app"]
                #expect(try await stage.authctl(add).end == .exited(0))
                #expect(try await stage.status(name).issuer == url)
            }
            let logout = try await stage.authctl("logout", "work0")
            #expect(logout.output == "work0: was not signed in, there are no tokens")
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `an account without a refresh token is not shown as healthy, and what helped is stored`() async throws {
        var policy = GrantPolicy()
        policy.issuesRefreshTokens = false
        try await withSignInStage(policy: policy, scopes: ["mail"]) { stage, _, issuer in
            func signIn(_ prompt: String? = nil) async throws -> (url: String, status: AccountStatus?) {
                let call = try SignInCall(stage, StartSignIn.Parameters(account: "work", prompt: prompt))
                let url = try #require(try await call.started().url)
                _ = try await RawWeb.get(try await Person().decide(at: url))
                return (url, try await call.completed().status)
            }
            let first = try await signIn()
            #expect(first.status?.refreshTokenMissing == "askConsent")
            #expect(first.status?.hint == "authctl login work --prompt consent")
            let refreshed = try await stage.authctl("refresh", "work")
            #expect(refreshed.end == .exited(3))
            #expect(refreshed.errors.contains("no refresh token"), "\(refreshed.errors)")
            #expect(try await stage.authctl("status").output.contains("the server gave no refresh token"))
            #expect(try await stage.authctl("doctor", "work").output.contains("the server gave no refresh token"))
            // A server that follows OpenID Connect Core §11.
            policy.issuesRefreshTokens = true
            await issuer.setPolicy(policy)
            let second = try await signIn("consent")
            #expect(second.status?.refreshTokenMissing == nil)
            #expect(try await stage.authctl("refresh", "work").end == .exited(0))
            #expect(try await signIn().url.contains("prompt=consent"))
        }
    }

    @Test func `offline_access is asked for with consent, until a sign-in without it brings a refresh token`()
        async throws
    {
        try await withSignInStage(scopes: ["offline_access"]) { stage, _, _ in
            /// The address of a sign-in that brings a refresh token.
            func signIn() async throws -> String {
                let call = try stage.signIn()
                let url = try #require(try await call.started().url)
                _ = try await RawWeb.get(try await Person().decide(at: url))
                try await call.completed()
                return url
            }
            let first = try await signIn()
            #expect(first.contains("prompt=consent"))
            let edit = ["account", "edit", "work", "--provider-setting"]
            #expect(try await stage.authctl(edit + ["consent_prompt=never"]).end == .exited(0))
            #expect(try await !signIn().contains("prompt="))
            #expect(try await stage.authctl(edit + ["consent_prompt="]).end == .exited(0))
            #expect(try await !signIn().contains("prompt="))
        }
    }

    @Test func `a server that refuses to be asked for consent is named with the setting that helps`() async throws {
        var policy = GrantPolicy()
        policy.refusesConsentPrompt = true
        try await withSignInStage(policy: policy, scopes: ["offline_access"]) { stage, _, _ in
            let call = try stage.signIn()
            let url = try #require(try await call.started().url)
            let sentBack = try await RawWeb.get(url)
            _ = try await RawWeb.get(try #require(sentBack.headers["location"]))
            let refused = try await call.refusal(SignInFailedError.self)
            #expect(refused.hint.contains("--provider-setting consent_prompt=never"), "\(refused.hint)")
        }
    }

    @Test func `a change of what a sign-in sends ends it, and a change of anything else does not`() async throws {
        try await withSignInStage { stage, _, _ in
            let call = try stage.signIn()
            _ = try await call.started()
            let edit = ["account", "edit", "work"]
            #expect(try await stage.authctl(edit + ["--url", "https://mail.example/"]).end == .exited(0))
            let cancelled = try await stage.authctl("login", "work", "--cancel")
            #expect(cancelled.end == .exited(0), "\(cancelled)")
            #expect(try await call.refusal(SignInCancelledError.self).by == "user")
            #expect(try await stage.authctl("login", "work", "--cancel").end == .exited(65))
            let second = try stage.signIn()
            _ = try await second.started()
            let changed = try await stage.authctl(edit + ["--redirect-uri", "http://127.0.0.1:8765/back"])
            #expect(changed.end == .exited(0), "\(changed)")
            #expect(try await second.refusal(SignInCancelledError.self).by == "changed")
        }
    }

    @Test func `login --if-needed asks for a person only if a refresh does not help`() async throws {
        try await withIssuer { issuer, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            let grant = try await issuer.issueGrant(clientID: "app", scope: "demo")
            try await stage.add("work", issuer: url, grant: grant)
            try await stage.acquire("work")
            let served = try await stage.authctl("login", "work", "--if-needed")
            #expect(served.end == .exited(0) && served.output.contains("fresh"), "\(served)")
            let down = CannedAnswer.unavailable()
            try await issuer.script(.answer(down), times: 100)
            #expect(try await stage.authctl("refresh", "work").end == .exited(75))
            #expect(try await stage.authctl("login", "work", "--if-needed").end == .exited(75))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    // MARK: effects on waiting callers

    @Test func `a waiting caller gets its token as soon as somebody signs in`() async throws {
        try await withSignInStage { stage, _, issuer in
            // The refresh of an imported grant hangs, and its caller waits.
            try await issuer.script(.delayBefore(.seconds(3600)))
            _ = try await stage.importGrant(try await issuer.issueGrant(clientID: "app"), into: "work")
            _ = try await issuer.waitForRequest { $0.outcome == .held }
            async let waiting = stage.acquire("work")
            let call = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
            #expect(try await waiting.accessToken == stage.acquire("work").accessToken)
            #expect(await issuer.counters.refreshes == 0)
        }
    }

    @Test func `an account that needs a person needs none after a sign-in`() async throws {
        try await withSignInStage { stage, _, issuer in
            let grant = try await issuer.issueGrant(clientID: "app")
            let feed = try await ChangeFeed(stage)
            try await issuer.revokeGrant(grant.family)
            _ = try await stage.importGrant(grant, into: "work")
            try await feed.next("interaction-required", of: "work")
            let call = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
            let status = try await stage.status("work")
            #expect(status.state == "fresh" && status.reason == nil && status.hint == nil)
        }
    }

    @Test func `a grant without a refresh token is served until its end, and then calls for a person`() async throws {
        var policy = GrantPolicy()
        policy.issuesRefreshTokens = false
        try await withSignInStage(policy: policy, hasOwnClock: true) { stage, _, issuer in
            let feed = try await ChangeFeed(stage)
            let call = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            try await call.completed()
            #expect(try await stage.acquire("work").accessToken.hasPrefix("demo-at-"))
            let forced = try await stage.refusal(of: "work", as: InteractionRequiredError.self, force: true)
            #expect(forced.reason == "noRefreshToken" && forced.hint == "authctl login work")
            try await stage.pass(until: stage.acquire("work").expiresAtUSec)
            let called = try await feed.next("interaction-required", of: "work")
            #expect(called.accounts.first?.reason == "noRefreshToken")
            #expect(await issuer.counters.refreshes == 0)
            #expect(try await stage.refusal(of: "work", as: InteractionRequiredError.self).reason == "noRefreshToken")
        }
    }

    @Test func `a sign-in without a refresh token keeps a working one, and says so`() async throws {
        var policy = GrantPolicy()
        policy.issuesRefreshTokens = false
        try await withSignInStage(policy: policy) { stage, daemon, issuer in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            let before = try await stage.acquire("work").accessToken
            let call = try stage.signIn()
            _ = try await RawWeb.get(try await Person().decide(at: try #require(call.started().url)))
            let completed = try await call.completed()
            #expect(completed.refreshTokenKept == true && completed.status?.state == "fresh")
            #expect(try await stage.acquire("work").accessToken != before)
            try await daemon.says("the previous one is kept")
            let refreshed = try await stage.authctl("refresh", "work")
            #expect(refreshed.end == .exited(0), "\(refreshed)")
            #expect(await issuer.counters.refreshes == 2)
        }
    }

    @Test func `one person's refresh token is not kept with another's access token`() async throws {
        var policy = GrantPolicy()
        policy.issuesRefreshTokens = false
        try await withSignInStage(policy: policy) { stage, _, issuer in
            try await stage.importGrant(issuer.issueGrant(clientID: "app"), into: "work")
            try await stage.acquire("work")
            let call = try stage.signIn(replace: true)
            _ = try await RawWeb.get(try await Person("bob").decide(at: try #require(call.started().url)))
            #expect(try await call.completed().refreshTokenKept == nil)
            let forced = try await stage.refusal(of: "work", as: InteractionRequiredError.self, force: true)
            #expect(forced.reason == "noRefreshToken")
        }
    }

    // MARK: limits

    @Test func `one sign-in too many gets the limit, and one that ends makes room`() async throws {
        try await withIssuer { _, url in
            let stage = try DaemonStage()
            let daemon = try await stage.start()
            // Half of all. The others are for other processes.
            let share = 16
            for number in 0...share { try await stage.add("a\(number)", issuer: url) }
            let call = { (number: Int) in
                try SignInCall(stage, StartSignIn.Parameters(account: "a\(number)", flow: "paste"))
            }
            var calls: [SignInCall] = []
            for number in 0..<share {
                calls.append(try call(number))
                _ = try await calls[number].started()
            }
            let refused = try await call(share).refusal(LimitExceededError.self)
            #expect(refused.limit == "signIns" && refused.maximum == 32)
            #expect(refused.holder?.hasSuffix("has 16 of 32 running sign-ins") == true)
            let parameters = CancelSignIn.Parameters(account: "a0")
            _ = try await stage.ask(.cancelSignIn, parameters, for: CancelSignIn.Reply.self)
            _ = try await call(share).started()
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test func `a server that cannot be reached for a sign-in is reported`() async throws {
        try await withSignInStage { stage, _, issuer in
            await issuer.shutdown()
            let failed = try await stage.signIn().refusal(SignInFailedError.self)
            #expect(failed.kind == "unavailable")
            #expect(try await stage.status("work").state == "signed-out")
        }
    }
}
