import AccountStorage
import AuthRefreshInterface
import Basics
@testable import authrefreshd
@testable import RefreshCore
import TestSupport
import Testing
import Varlink

@testable import OAuthClient
@testable import OAuthMessages

/// Sign-ins, and requests for more than a grant, without a daemon, a store or a server.
struct SignInsTests {
    private typealias Reports = EventLog<RunningSignIn.Report>
    private typealias Pages = EventLog<RedirectPage>

    /// A profile whose redirect URI is a page of the client's. People bring the address back.
    private var profile: SignInProfile {
        var profile = SignInProfile()
        profile.redirectURI = "https://app.example/callback"
        return profile
    }

    private static func at(_ seconds: Int64) -> Moment {
        Moment(
            wall: Timestamp(microseconds: 1_000_000_000_000 + seconds * 1_000_000),
            boot: BootTime(bootID: 1, microseconds: seconds * 1_000_000)
        )
    }

    private func at(_ seconds: Int64) -> Moment { Self.at(seconds) }

    private func account(_ number: Int64 = 7) throws -> Account {
        Account(
            id: AccountID(number),
            name: try #require(AccountName("work\(number)")),
            issuer: try Issuer(url: "https://login.example.com"),
            registration: ClientRegistration(clientID: "app")
        )
    }

    /// The client of a server of which everything is known, so that nothing is looked up.
    private func asking() throws -> RequestingClient {
        var provider = ProviderProfile(name: "example", tokenEndpoint: Endpoint("https://login.example.com/token"))
        provider.endpoints.authorization = Endpoint("https://login.example.com/authorize")
        let account = try account()
        return RequestingClient(
            issuer: account.issuer,
            profile: provider,
            registration: account.registration,
            correlationID: "c"
        )
    }

    private func withRoom(_ body: (SignIns) async throws -> Void) async throws {
        let client = OAuthClient()
        let room = SignIns(client: client, timebase: Timebase(now: { Self.at(0) }, jitter: { 0.5 }))
        do {
            try await body(room)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    private func withRoomValue<Value>(_ body: (SignIns) async throws -> Value) async throws -> Value {
        var value: Value?
        try await withRoom { value = try await body($0) }
        return try #require(value)
    }

    private func start(
        _ request: SignInRequest = SignInRequest(),
        in room: SignIns,
        _ number: Int64 = 7,
        of known: Account? = nil,
        by profile: SignInProfile? = nil,
        stepUp: StepUp? = nil,
        isFirst: Bool = false,
        isForgotten: Bool = false,
        mayBeForgotten: Bool = false,
        isStopping: Bool = false,
        follower: @escaping RunningSignIn.Follower = { _ in }
    ) throws -> (follower: Int, effects: [SignInEffect]) {
        let account = try known ?? account(number)
        let target = SignInTarget(account: account.name)
        let joined = try room.join(account.id, as: target, by: request, isStopping: isStopping, follower: follower)
        if let joined { return (joined, []) }
        return room.begin(
            try signIn(request, of: account, by: profile ?? self.profile, stepUp: stepUp),
            isFirst: isFirst,
            isForgotten: isForgotten,
            mayBeForgotten: mayBeForgotten,
            follower: follower
        )
    }

    private func signIn(
        _ request: SignInRequest,
        of account: Account,
        by profile: SignInProfile,
        stepUp: StepUp? = nil
    ) throws -> RunningSignIn {
        try RunningSignIn(
            request,
            of: account,
            as: SignInTarget(account: account.name),
            by: profile,
            policies: SignInPolicies(),
            stepUp: stepUp,
            at: at(0)
        )
    }

    /// Starts a sign-in, and has the browser's address made.
    private func wait(in room: SignIns) async throws -> RunningSignIn {
        _ = try start(in: room)
        let id = try #require(room[AccountID(7)]?.id)
        carryOut(await room.prepare(id, as: try asking()) { _, _ in }, in: room)
        return try #require(room.named(id))
    }

    @Test func `a nonce is sent if an ID token is expected: for openid, or required by the profile`()
        async throws
    {
        var asking = try asking()
        let signIn = try await withRoomValue { try await wait(in: $0) }
        let nonce = { signIn.authorizationRequest("https://app.example/callback", as: asking).nonce }
        #expect(nonce() == nil)
        asking.profile?.signIn.idToken = .required
        #expect(nonce() == signIn.secrets.nonce)
        asking.profile?.signIn.idToken = nil
        asking.registration.scopes = ["openid"]
        #expect(nonce() == signIn.secrets.nonce)
    }

    @Test func `an answer may name the issuer by the aliases of the profile`() async throws {
        var asking = try asking()
        let signIn = try await withRoomValue { try await wait(in: $0) }
        let url = AuthorizationURL(
            url: "https://as.example/authorize",
            host: "as.example",
            expiresIn: nil,
            requiresIssuer: false,
            issuer: "https://as.example",
            checksCodeChallenge: true
        )
        #expect(signIn.expectation(of: url, for: asking).issuerAliases == [])
        asking.profile?.issuerAliases = ["https://as.example/oauth"]
        #expect(signIn.expectation(of: url, for: asking).issuerAliases == ["https://as.example/oauth"])
    }

    @Test func `facts from the first sign-in are kept in later ones of the same person`() throws {
        var account = try account()
        account.grantFacts = GrantFacts(
            subject: "alice",
            keptFields: ["user": "{}", "instance_url": "https://old.example"]
        )
        var profile = profile
        profile.callbackFields = ["user"]
        let kept = { (subject: String, replaces: Bool) throws -> [String: String] in
            var request = SignInRequest()
            request.replacesSubject = replaces
            let signIn = try signIn(request, of: account, by: profile)
            let tokens = TokenResponse(
                accessToken: AccessToken(Secret("a")),
                issuance: Issuance(lifetime: .seconds(3600))
            )
            let grant = ObtainedGrant(tokens: tokens, person: SignedInPerson(subject: subject))
            return signIn.arrival(of: grant, keeping: [:], learnedEncoding: nil, sentAt: at(0)).grantFacts.keptFields
        }
        #expect(try kept("alice", false) == ["user": "{}"])
        #expect(try kept("alice", true) == ["user": "{}"])
        #expect(try kept("bob", true) == [:])
    }

    private func response(_ form: String) throws -> AuthorizationResponse {
        try AuthorizationResponse(form: Array(form.utf8))
    }

    /// The effects, each in a word or two.
    private func words(_ effects: [SignInEffect]) -> [String] {
        effects.map { effect in
            switch effect {
            case .tell(let news, of: _): news.rawValue
            case .lookUpClient: "look up client"
            case .replaceClient: "replace client"
            case .prepare: "prepare"
            case .exchange: "exchange"
            case .check: "check"
            case .poll: "poll"
            case .store: "store"
            case .refuse: "refuse"
            case .finish: "finish"
            }
        }
    }

    /// Tells and forgets as the coordinator does.
    @discardableResult
    private func carryOut(_ effects: [SignInEffect], in room: SignIns) -> [SignIns.Message] {
        effects.compactMap { effect in
            switch effect {
            case .tell(let news, let id): room.publish(news, of: id, at: at(0))
            case .finish(let end, let id): room.finish(id, end, as: nil, at: at(0))
            case .lookUpClient, .replaceClient, .prepare, .exchange, .check, .poll, .store, .refuse: nil
            }
        }
    }

    /// How a sign-in ends, if that is all that it wants to be told; also forgets it.
    private func end(_ effects: [SignInEffect], in room: SignIns) -> SignInEnd? {
        let messages = carryOut(effects, in: room)
        guard case .ended(let end)? = messages.last?.report else { return nil }
        guard case .signInFailed? = messages.last?.announcement else { return nil }
        return end
    }

    // MARK: Callers

    @Test func `the beginning of a sign-in is told to its followers and to everybody`() async throws {
        try await withRoom { room in
            let reports = Reports()
            let begun = try start(in: room) { reports.append($0) }
            let id = try #require(room[AccountID(7)]?.id)
            #expect(begun.effects == [.prepare(id)])
            let prepared = await room.prepare(id, as: try asking()) { _, _ in }
            #expect(prepared == [.tell(.started, of: id)])
            let message = try #require(carryOut(prepared, in: room).first)
            message.tellFollowers()
            guard case .news(let reply)? = reports.all.first, case .signInStarted? = message.announcement else {
                Issue.record("\(message)")
                return
            }
            #expect(reply.attempt == id && reply.redirectUri == "https://app.example/callback")
            #expect(reply.host == "login.example.com")
        }
    }

    @Test func `a forgotten client is replaced before the person is sent to the server`() async throws {
        try await withRoom { room in
            var account = try account()
            account.registration.wasSelfRegistered = true
            let begin = { (account: Account, isForgotten: Bool) in
                try start(in: room, of: account, isForgotten: isForgotten).effects
            }
            #expect(words(try begin(account, true)) == ["replace client"])
            let id = try #require(room[account.id]?.id)
            let before = account
            account.registration.clientID = "app-2"
            #expect(room.settingsChanged(from: before, to: account, at: at(0)).isEmpty)
            #expect(words(room.replacedClient(of: id, in: account, by: profile)) == ["prepare"])
            #expect(room.named(id)?.account.registration.clientID == "app-2")
            let prepared = await room.prepare(id, as: try asking()) { _, _ in }
            guard case .news(let reply)? = carryOut(prepared, in: room).first?.report else {
                Issue.record("\(prepared)")
                return
            }
            #expect(reply.clientReplaced == true)
            // What the browser brings shows that the server knows this client no more. The next sign-in replaces it.
            let state = try #require(room.named(id)?.secrets.state.reveal())
            let ended = room.bring(try response("error=invalid_client&state=\(state)"), to: account.id, at: at(1))
                .effects
            guard case .failed(let failure)? = end(ended, in: room) else {
                Issue.record("\(words(ended))")
                return
            }
            #expect(failure.hint?.text.hasPrefix("authctl login work7") == true)
            #expect(words(try begin(account, false)) == ["replace client"])
        }
    }

    @Test func `a client that only the server knows about is looked up before the person is sent there`() async throws {
        try await withRoom { room in
            let begin = { (account: Account) in
                try start(in: room, of: account, mayBeForgotten: true).effects
            }
            let (gone, there) = (try account(7), try account(8))
            #expect(words(try begin(gone)) == ["look up client"])
            let id = try #require(room[gone.id]?.id)
            #expect(words(room.lookedUpClient(of: id, nil)) == ["replace client"])
            // The server may have another secret for it by now.
            #expect(words(try begin(there)) == ["look up client"])
            var found = there.registration
            found.clientSecret = Secret("another secret")
            let other = try #require(room[there.id]?.id)
            #expect(words(room.lookedUpClient(of: other, found)) == ["prepare"])
            #expect(room.named(other)?.account.registration == found)
            // The sign-in has ended meanwhile.
            #expect(room.lookedUpClient(of: "another", found).isEmpty)
        }
    }

    @Test func `a redirect URI that the daemon made is to be registered first, which is said once`() async throws {
        try await withRoom { room in
            var own = SignInProfile()
            own.redirectURI = "http://127.0.0.1/callback/4b246bc1a12459de"
            let started = { (account: Account, isFirst: Bool) async throws -> StartSignIn.Reply in
                _ = try start(in: room, of: account, by: own, isFirst: isFirst)
                let id = try #require(room[account.id]?.id)
                carryOut(await room.prepare(id, as: try asking()) { _, _ in }, in: room)
                let reply = try #require(room.named(id)?.news.first)
                carryOut(room.tell(.cancelled(by: .user), to: account.id, at: at(1)), in: room)
                return reply
            }
            let first = try await started(account(), true)
            #expect(first.awaitsRegistration == true && first.registeredUri == own.redirectURI)
            #expect(first.redirectUri != first.registeredUri)
            #expect(try await started(account(), true).awaitsRegistration == nil)
            #expect(try await started(account(8), false).awaitsRegistration == nil)
            var registered = try account(9)
            registered.registration.wasSelfRegistered = true
            let told = try await started(registered, true)
            #expect(told.awaitsRegistration == nil && told.selfRegistered == true)
        }
    }

    @Test func `a follower that joins gets the earlier reports, and none after leaving`() async throws {
        try await withRoom { room in
            let signIn = try await wait(in: room)
            let reports = Reports()
            let joined = try start(in: room) { reports.append($0) }
            #expect(joined.effects.isEmpty && reports.count == 1)
            #expect(room.named(signIn.id)?.followers.count == 2)
            room.forgetFollower(joined.follower, of: AccountID(7))
            let effects = room.tell(.opened, to: AccountID(7), at: at(1))
            #expect(words(effects) == ["opened"])
            for message in carryOut(effects, in: room) { message.tellFollowers() }
            #expect(reports.count == 1)
        }
    }

    @Test func `who may not join is told to repeat the command that was typed`() async throws {
        try await withRoom { room in
            _ = try start(in: room)
            var renamed = try account()
            renamed.name = try #require(AccountName("home"))
            let other = SignInRequest(loginHint: "somebody@example.com")
            let refusal = #expect(throws: SignInFailure.self) { try start(other, in: room, of: renamed) }
            #expect(refusal?.hint?.text == "authctl login home --restart, with the options")
        }
    }

    @Test func `a restart ends the current sign-in before the new one begins`() async throws {
        try await withRoom { room in
            let old = try await wait(in: room)
            #expect(room.endReplaced(by: SignInRequest(), of: AccountID(7), at: at(1)).isEmpty)
            var request = SignInRequest()
            request.restarts = true
            let effects = room.endReplaced(by: request, of: AccountID(7), at: at(1))
            #expect(words(effects) == ["finish"])
            #expect(end(effects, in: room) == .cancelled(by: .superseded))
            #expect(room.isEmpty)
            #expect(words(try start(request, in: room).effects) == ["prepare"])
            // The address for the old sign-in does not concern the new one.
            let stale = await room.prepare(old.id, as: try asking()) { _, _ in }
            #expect(stale.isEmpty)
            #expect(room[AccountID(7)]?.id != old.id && room[AccountID(7)]?.redirectURI == nil)
        }
    }

    @Test func `one sign-in too many is refused, and one that ends makes room`() async throws {
        try await withRoom { room in
            var request = SignInRequest()
            for number in 1...Int64(CallerLimits.signInsMax) {
                // A process may have half of what the others leave.
                while room.crowding(by: request, of: AccountID(number)) != nil { request.process += 1 }
                _ = try start(request, in: room, number)
            }
            #expect(request.process == 5)
            // A caller who joins a sign-in uses no place.
            _ = try start(request, in: room, 1)
            #expect(room.crowding(by: request, of: AccountID(1)) == nil)
            let crowding = room.crowding(by: request, of: AccountID(100))
            let maximum = CallerLimits.signInsMax
            #expect(crowding == Shares.Crowding(capacity: maximum, process: 0, amount: maximum / 2))
            carryOut(room.tell(.cancelled(by: .user), to: AccountID(1), at: at(1)), in: room)
            request.process = 99
            _ = try start(request, in: room, 100)
            #expect(room[AccountID(100)] != nil && room[AccountID(1)] == nil)
        }
    }

    @Test func `a demand fills in what the request leaves open`() async throws {
        try await withRoom { room in
            var stepUp = StepUp(since: at(0).wall, claims: "{}")
            stepUp.acrValues = ["gold"]
            stepUp.scopes = ["mail", "send"]
            var request = SignInRequest()
            request.acrValues = ["silver"]
            _ = try start(request, in: room, stepUp: stepUp)
            let asked = try #require(room[AccountID(7)]?.request)
            #expect(asked.claims == "{}" && asked.scopes == ["mail", "send"] && asked.acrValues == ["silver"])
            // RFC 8628 §3.1 has no parameter for it.
            request.flow = .device
            #expect(throws: SignInFailure.self) { try start(request, in: room, 8, stepUp: stepUp) }
            #expect(room[AccountID(8)] == nil)
        }
    }

    // MARK: Answers

    @Test func `the answer with the right state is accepted once, and no other`() async throws {
        try await withRoom { room in
            let signIn = try await wait(in: room)
            let id = AccountID(7)
            let wrong = room.bring(try response("code=c&state=guessed"), to: id, at: at(1))
            #expect(wrong.refusal == .wrongState && wrong.effects.isEmpty)
            let right = try response("code=c&state=\(signIn.secrets.state.reveal())")
            let taken = room.bring(right, to: id, at: at(2))
            #expect(taken.refusal == nil)
            #expect(words(taken.effects) == ["callback-received", "exchanging", "exchange"])
            let again = room.bring(right, to: id, at: at(3))
            #expect(again.refusal == .alreadyAnswered && again.effects.isEmpty)
        }
    }

    @Test func `the browser that brought a refusal is shown the end`() async throws {
        try await withRoom { room in
            let signIn = try await wait(in: room)
            let pages = Pages()
            let form = "error=access_denied&state=\(signIn.secrets.state.reveal())"
            let effects = room.delivered(Array(form.utf8), to: signIn.id, at: at(1)) { pages.append($0) }
            #expect(words(effects) == ["callback-received", "finish"])
            carryOut(effects, in: room)
            #expect(pages.all.map(\.title) == ["The sign-in was declined"])
            let late = room.delivered(Array(form.utf8), to: signIn.id, at: at(2)) { pages.append($0) }
            #expect(late.isEmpty && pages.all.last == .nothingUnderWay)
        }
    }

    @Test func `a response that is not the answer is reported to the browser, and the sign-in continues`() async throws
    {
        try await withRoom { room in
            let signIn = try await wait(in: room)
            let pages = Pages()
            for form in ["", "%", "code=c&state=guessed"] {
                #expect(room.delivered(Array(form.utf8), to: signIn.id, at: at(1)) { pages.append($0) }.isEmpty)
            }
            let name = signIn.account.name
            #expect(
                pages.all == [.awaited(name, mayBeBehindHash: false), .unreadable, RedirectPage(.wrongState, name)]
            )
            #expect(room.named(signIn.id) != nil)
        }
    }

    // MARK: The end

    @Test func `a sign-in without an answer ends after its time`() async throws {
        try await withRoom { room in
            _ = try await wait(in: room)
            #expect(room.remaining(at: at(590)) == .seconds(10))
            #expect(room.advance(at: at(599)).isEmpty)
            let effects = room.advance(at: at(600))
            #expect(words(effects) == ["finish"])
            #expect(end(effects, in: room) == .timedOut)
            #expect(room.isEmpty && room.remaining(at: at(600)) == nil)
        }
    }

    @Test func `a stopping daemon cancels sign-ins that wait for a person, and begins none`() async throws {
        try await withRoom { room in
            let signIn = try await wait(in: room)
            _ = try start(in: room, 8)
            let code = try response("code=c&state=\(signIn.secrets.state.reveal())")
            _ = room.bring(code, to: AccountID(7), at: at(1))
            let effects = room.stop(at: at(2))
            #expect(end(effects, in: room) == .cancelled(by: .stopping))
            #expect(room[AccountID(8)] == nil)
            // Its tokens may be on their way.
            #expect(words(effects) == ["finish"] && room[AccountID(7)] != nil)
            #expect(throws: SignInFailure.self) { try start(in: room, 8, isStopping: true) }
        }
    }

    // MARK: Step-ups

    @Test func `a demand is announced if it needs a person, or if the server did not meet it`() throws {
        var stepUps = StepUps()
        let id = AccountID(7)
        var demand = StepUp(since: at(0).wall, claims: "{}")
        guard case .stepUpRequired? = stepUps.note(demand, of: id) else {
            Issue.record("nothing is announced")
            return
        }
        demand.needsPerson = false
        #expect(stepUps.note(demand, of: id) == nil)
        func refusal(_ failureClass: FailureClass) -> RefreshOutcome {
            RefreshOutcome(result: .failure(RefreshFailure(failureClass, detail: FailureDetail(summary: "no"))))
        }
        // A server that could not be asked has not refused the claims.
        #expect(stepUps.note(refusal(.unreachable), having: "{}", of: id, at: at(1)) == nil)
        #expect(stepUps.isDemanding(id))
        #expect(stepUps.note(refusal(.userRequired), having: nil, of: id, at: at(1)) == nil)
        #expect(stepUps.note(refusal(.userRequired), having: "{}", of: id, at: at(1)) != nil)
        #expect(stepUps[id]?.needsPerson == true)
    }

    /// The proof from a sign-in that asked for `acrValues` and `maxAge`.
    private func proof(
        acrValues: [String] = ["gold"],
        maxAge: Duration? = nil,
        scopes: [String]? = nil,
        _ change: (inout SignedInPerson) -> Void = { _ in }
    ) -> StepUp.Proof {
        var request = SignInRequest()
        (request.acrValues, request.maxAge, request.scopes) = (acrValues, maxAge, scopes)
        var person = SignedInPerson(subject: "alice")
        change(&person)
        return StepUp.Proof(request: request, person: person, grantedScopes: nil, obtainedAt: at(1000).wall)
    }

    private func demand(_ change: (inout StepUp) -> Void) -> StepUp {
        var demand = StepUp(since: at(0).wall, claims: "{}")
        demand.claims = nil
        change(&demand)
        return demand
    }

    @Test func `a weaker sign-in than required does not meet the demand`() {
        let strong = demand { $0.acrValues = ["gold", "platinum"] }
        #expect(strong.isMet(by: proof { $0.authenticationContext = "platinum" }))
        #expect(!strong.isMet(by: proof(acrValues: strong.acrValues) { $0.authenticationContext = "bronze" }))
        // A server that does not tell the strength has at least been asked for it.
        #expect(strong.isMet(by: proof(acrValues: strong.acrValues)))
        #expect(!strong.isMet(by: proof(acrValues: [])))
    }

    @Test func `an older sign-in than required does not meet the demand`() {
        let recent = demand { $0.maxAge = .seconds(300) }
        #expect(recent.isMet(by: proof { $0.authenticatedAt = at(800).wall }))
        #expect(!recent.isMet(by: proof { $0.authenticatedAt = at(600).wall }))
        #expect(recent.isMet(by: proof(maxAge: .seconds(60))))
        #expect(!recent.isMet(by: proof()))
    }

    @Test func `a sign-in with fewer scopes than required does not meet the demand`() {
        let wide = demand { $0.scopes = ["mail", "files"] }
        #expect(wide.isMet(by: proof(scopes: ["files", "mail"])))
        #expect(!wide.isMet(by: proof(scopes: ["mail"])))
    }

    @Test func `only a sign-in that meets it, an import or a sign-out removes a demand`() {
        let id = AccountID(7)
        var stepUps = StepUps()
        stepUps.note(demand { $0.acrValues = ["gold"] }, of: id)
        stepUps.forget(after: .signedIn, of: id, signedInBy: proof { $0.authenticationContext = "bronze" })
        #expect(stepUps[id] != nil)
        stepUps.forget(after: .signedIn, of: id, signedInBy: proof { $0.authenticationContext = "gold" })
        #expect(stepUps[id] == nil)
        stepUps.note(demand { $0.acrValues = ["gold"] }, of: id)
        stepUps.forget(after: .signedOut, of: id, signedInBy: nil)
        #expect(stepUps[id] == nil)
    }
}
