internal import AuthRefreshInterface
internal import Basics
internal import OAuthMessages
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The sign-ins under way, at most one for each account: their followers, their answers and their requests to servers.
/// `SignInAttempt` decides what an event means for a sign-in.
final class SignIns {
    /// What people are told about a sign-in.
    struct Message {
        let account: AccountID
        let report: RunningSignIn.Report
        fileprivate let followers: [RunningSignIn.Follower]
        /// What subscribers and the journal are told; nil for nothing.
        var announcement: Announcement?

        fileprivate init(_ report: RunningSignIn.Report, of signIn: RunningSignIn) {
            account = signIn.account.id
            self.report = report
            followers = signIn.followersInOrder
        }

        func tellFollowers() {
            for follower in followers { follower(report) }
        }
    }

    private let client: OAuthClient
    private let timebase: Timebase
    private var running: [AccountID: RunningSignIn] = [:]
    /// The accounts whose people were told to register the redirect URI.
    private var told: Set<AccountID> = []
    /// The accounts whose last sign-in showed that the server has forgotten the client that it registered.
    private var forgotten: Set<AccountID> = []
    private var lastFollower = 0
    private var lastAdded: Int64 = 0

    init(client: OAuthClient, timebase: Timebase) {
        self.client = client
        self.timebase = timebase
    }

    var isEmpty: Bool { running.isEmpty }

    subscript(_ account: AccountID) -> RunningSignIn? { running[account] }

    /// The sign-in with this ID; nil if it is over.
    func named(_ id: String) -> RunningSignIn? {
        running.values.first { $0.id == id }
    }

    /// The sign-in whose request had this `state`; nil if there is none.
    func expecting(_ state: Secret) -> RunningSignIn? {
        running.values.first { $0.secrets.state == state }
    }

    /// The sign-in for a new account of this name; nil if there is none.
    func adding(_ name: AccountName) -> RunningSignIn? {
        running.values.first { $0.addsAccount && $0.account.name == name }
    }

    /// A number for the new account of this name. No account in the store has it.
    func number(forAdding name: AccountName) -> AccountID {
        if let known = adding(name)?.account.id { return known }
        lastAdded -= 1
        return AccountID(lastAdded)
    }

    /// The new accounts whose tokens have arrived but could not be stored yet.
    var unadded: [SignInEffect] {
        running.values.filter { $0.addsAccount && $0.attempt.phase.isStoring }.map { .store($0.id) }
    }

    /// Records that the account of the sign-in with this ID was added with its tokens.
    func added(_ id: String, as account: Account, samePersonAs other: AccountName?) {
        guard var signIn = named(id) else { return }
        running[signIn.account.id] = nil
        signIn.added(as: account, samePersonAs: other)
        running[account.id] = signIn
    }

    /// How long until `advance` has something to do; nil if nothing depends on time.
    func remaining(at now: Moment) -> Duration? {
        running.values.compactMap { $0.attempt.remaining(at: now) }.min()
    }

    // MARK: Callers

    /// Ends the sign-in that `request` replaces. Call it before `join`.
    func endReplaced(by request: SignInRequest, of account: AccountID, at now: Moment) -> [SignInEffect] {
        request.restarts ? tell(.cancelled(by: .superseded), to: account, at: now) : []
    }

    /// Who takes the places of sign-ins, if there is none left for the process of `request`; nil if there is one, or if
    /// the request joins a sign-in.
    func crowding(by request: SignInRequest, of account: AccountID) -> Shares.Crowding? {
        guard running[account] == nil else { return nil }
        let shares = Shares(capacity: CallerLimits.signInsMax, holders: running.values.map(\.asked.process))
        return shares.crowding(1, for: request.process)
    }

    /// Joins the current sign-in of an account.
    ///
    /// - Parameters:
    ///   - target: the account as the caller names it.
    ///   - follower: receives all reports from the beginning. The end is the last.
    /// - Returns: the follower's number, for `forgetFollower`; nil if there is none, and one may begin.
    /// - Throws: why it cannot be joined, or why none may begin.
    func join(
        _ account: AccountID,
        as target: SignInTarget,
        by request: SignInRequest,
        isStopping: Bool,
        follower: @escaping RunningSignIn.Follower
    ) throws(SignInFailure) -> Int? {
        guard let signIn = running[account] else {
            guard !isStopping else { throw SignInFailure(.unavailable, "the daemon is stopping") }
            return nil
        }
        guard request.adds(nothingTo: signIn.asked) else {
            throw SignInFailure(
                .unavailable,
                "a sign-in of this account with other options is under way",
                hint: "\(target.command(with: "--restart")), with the options"
            )
        }
        return follow(account) { follower($0.toldToOneWhoJoins) }
    }

    /// Begins a sign-in of an account that has none.
    ///
    /// - Parameters:
    ///   - isFirst: whether nobody has signed in to the account yet.
    ///   - isForgotten: whether the server no longer accepts the client that it registered for the account.
    ///   - mayBeForgotten: whether only the server can say that, and nothing is lost by another client.
    ///   - follower: receives all reports from the beginning. The end is the last.
    /// - Returns: the follower's number, for `forgetFollower`, and what the sign-in wants done.
    func begin(
        _ signIn: RunningSignIn,
        isFirst: Bool,
        isForgotten: Bool,
        mayBeForgotten: Bool,
        follower: @escaping RunningSignIn.Follower
    ) -> (follower: Int, effects: [SignInEffect]) {
        var signIn = signIn
        let account = signIn.account
        // Nobody knows a path of our own before it is shown. A server that registers clients was told it.
        signIn.awaitsRegistration =
            isFirst && signIn.redirect?.issuerPath != nil && !account.registration.isSelfRegistered
            && !told.contains(account.id)
        running[account.id] = signIn
        let number = follow(account.id, follower)
        let wasForgotten = forgotten.remove(account.id) != nil
        if isForgotten || wasForgotten { return (number, replaceClient(of: signIn.id)) }
        return (number, [mayBeForgotten ? .lookUpClient(of: signIn.id) : .prepare(signIn.id)])
    }

    private func follow(_ account: AccountID, _ follower: @escaping RunningSignIn.Follower) -> Int {
        lastFollower += 1
        for reply in running[account]?.news ?? [] { follower(.news(reply)) }
        running[account]?.followers[lastFollower] = follower
        return lastFollower
    }

    /// Removes a follower whose caller has gone. The sign-in continues.
    func forgetFollower(_ number: Int, of account: AccountID) {
        running[account]?.followers[number] = nil
    }

    // MARK: Events

    /// Passes an event to the sign-in of `account`.
    func tell(_ event: SignInEvent, to account: AccountID, at now: Moment) -> [SignInEffect] {
        guard let effects = running[account]?.attempt.handle(event, at: now) else { return [] }
        // Each time the person is sent to the server, the request has other secrets.
        for case .prepare in effects { running[account]?.secrets = SignInSecrets() }
        return effects
    }

    /// Handles what a browser delivered to the listener of the sign-in `id`.
    ///
    /// - Parameter show: shows the browser a page, either now or, if the browser brought the answer, at the end.
    func delivered(
        _ form: RedirectListener.Delivery,
        to id: String,
        at now: Moment,
        show: @escaping @Sendable (RedirectPage) -> Void
    ) -> [SignInEffect] {
        guard let signIn = named(id) else {
            show(.nothingUnderWay)
            return []
        }
        guard !form.isEmpty else {
            show(.awaited(signIn.account.name, mayBeBehindHash: signIn.request.responseType.hasIDToken))
            return []
        }
        guard let response = try? AuthorizationResponse(form: form, path: signIn.redirect?.path) else {
            show(.unreadable)
            return []
        }
        let (refusal, effects) = bring(response, to: signIn.account.id, at: now, show)
        if let refusal { show(RedirectPage(refusal, signIn.account.name)) }
        return effects
    }

    /// Passes a response to a sign-in.
    ///
    /// - Parameter show: shows the end to the browser that brought it; nil if no browser waits.
    /// - Returns: why it is not the answer, nil if it was accepted; and what the sign-in wants done.
    func bring(
        _ response: AuthorizationResponse,
        to account: AccountID,
        at now: Moment,
        _ show: (@Sendable (RedirectPage) -> Void)? = nil
    ) -> (refusal: ResponseFinding?, effects: [SignInEffect]) {
        guard let id = running[account]?.id else { return (.alreadyAnswered, []) }
        let effects = tell(.responseArrived(response), to: account, at: now)
        for case .refuse(let refusal) in effects { return (refusal, []) }
        if let show, effects.contains(.prepare(id)) {
            running[account]?.browsersAwaitingURL.append(show)
        } else if let show {
            running[account]?.browsersAwaitingPage.append(show)
        }
        return (nil, effects)
    }

    /// Ends the sign-ins whose requests would be different with an account's new settings. One that the server has
    /// answered already ends only if its tokens are another client's.
    func settingsChanged(from before: Account, to after: Account, at now: Moment) -> [SignInEffect] {
        running.keys.sorted().flatMap { key -> [SignInEffect] in
            guard let signIn = running[key], key == after.id || signIn.request.source == after.id else { return [] }
            // A sign-in that replaces the client continues with the new one.
            guard signIn.clientReplacement != .underWay else { return [] }
            let isOutdated = signIn.attempt.phase.isUnanswered && !before.signsIn(like: after)
            guard isOutdated || !before.isAsked(like: after) else { return [] }
            return tell(.cancelled(by: .changed), to: key, at: now)
        }
    }

    /// Tells the sign-ins whose time has come.
    func advance(at now: Moment) -> [SignInEffect] {
        guard remaining(at: now) == .zero else { return [] }
        return running.keys.sorted().flatMap { account in
            running[account]?.attempt.remaining(at: now) == .zero ? tell(.timePassed, to: account, at: now) : []
        }
    }

    /// Ends the sign-ins that can be ended, because the daemon stops.
    func stop(at now: Moment) -> [SignInEffect] {
        running.keys.sorted().flatMap { tell(.cancelled(by: .stopping), to: $0, at: now) }
    }

    // MARK: News

    /// Records the news of the sign-in with this ID.
    ///
    /// - Returns: what to tell; nil if the sign-in is over, or if it was told before.
    func publish(_ news: SignInNews, of id: String, at now: Moment) -> Message? {
        guard let signIn = named(id) else { return nil }
        let reply = signIn.reply(news, at: now)
        // A browser may be opened several times.
        guard !signIn.news.contains(where: { $0.event == reply.event }) else { return nil }
        if news.isInvitation, news != .started { return Message(.news(invite(again: reply, to: signIn)), of: signIn) }
        running[signIn.account.id]?.news.append(reply)
        if reply.awaitsRegistration ?? false { told.insert(signIn.account.id) }
        var message = Message(.news(reply), of: signIn)
        // Another policy is not announced as a sign-in.
        if news == .started, signIn.isForGrant { message.announcement = .signInStarted(flow: signIn.flow.rawValue) }
        return message
    }

    /// Sends the person to the server again. The browser that brought the answer is redirected; without one, followers
    /// get the new address.
    private func invite(again invitation: StartSignIn.Reply, to signIn: RunningSignIn) -> StartSignIn.Reply {
        let account = signIn.account.id
        var told = invitation
        if !signIn.browsersAwaitingURL.isEmpty, let url = invitation.url {
            for show in signIn.browsersAwaitingURL { show(.goingOn(to: url, signIn.account.name)) }
            running[account]?.browsersAwaitingURL = []
            told.forgetPlace()
        }
        // Later followers get the current address.
        running[account]?.news[0].url = invitation.url
        running[account]?.news[0].host = invitation.host
        running[account]?.news[0].policy = invitation.policy
        var kept = told
        kept.forgetPlace()
        running[account]?.news.append(kept)
        return told
    }

    /// Forgets the sign-in with this ID, and shows its end to the browsers that wait.
    ///
    /// - Parameter snapshot: the account's state, for followers; nil if it cannot be read.
    /// - Returns: what to tell; nil if the sign-in is over already.
    func finish(_ id: String, _ end: SignInEnd, as snapshot: AccountSnapshot?, at now: Moment) -> Message? {
        guard let signIn = named(id) else { return nil }
        let end = noting(signIn.explained(end), of: signIn)
        running[signIn.account.id] = nil
        signIn.listener?.close()
        let unchanged = signIn.completionWithoutGrant(end, snapshot, at: now)
        let page = RedirectPage(unchanged == nil ? end : .policyCompleted, signIn.target)
        for show in signIn.browsersAwaitingPage + signIn.browsersAwaitingURL { show(page) }
        if let unchanged { return Message(.completed(unchanged), of: signIn) }
        guard end != .completed else { return Message(.completed(signIn.completion(snapshot, at: now)), of: signIn) }
        var message = Message(.ended(end), of: signIn)
        if signIn.isForGrant { message.announcement = .signInFailed(reason: end.reason) }
        return message
    }

    // MARK: Clients that servers have forgotten

    /// Continues after the server was asked whether it still has the client.
    ///
    /// - Parameter found: the client's registration; nil if the server no longer has it.
    func lookedUpClient(of id: String, _ found: ClientRegistration?) -> [SignInEffect] {
        guard let found else { return replaceClient(of: id) }
        return change(id) { $0.found(found) } ? [.prepare(id)] : []
    }

    /// Has another client registered before the person is sent to the server, once.
    private func replaceClient(of id: String) -> [SignInEffect] {
        change(id) {
            $0.clientReplacement = .underWay
            // The new client may come back to another port.
            $0.listener?.close()
            ($0.listener, $0.redirectURI) = (nil, nil)
        }
        return [.replaceClient(of: id)]
    }

    /// Continues with the client that the server has registered.
    ///
    /// - Parameter profile: how people sign in to `account` now.
    func replacedClient(of id: String, in account: Account, by profile: SignInProfile) -> [SignInEffect] {
        var failure: SignInFailure?
        change(id) { signIn in
            do throws(SignInFailure) {
                try signIn.replaceClient(in: account, by: profile)
            } catch {
                failure = error
            }
        }
        return failure.map { tell(.preparationFailed($0), toAttempt: id) } ?? [.prepare(id)]
    }

    /// Ends the sign-in with this ID, because no client could be registered for it.
    func clientNotReplaced(of id: String, _ failure: SignInFailure) -> [SignInEffect] {
        tell(.preparationFailed(failure), toAttempt: id)
    }

    /// Ends the preparation, unless another client may help.
    private func preparationFailed(_ failure: RefreshFailure, of id: String) -> [SignInEffect] {
        guard failure.detail.finding == .clientForgotten, named(id)?.clientReplacement == nil else {
            return tell(.preparationFailed(SignInFailure(failure)), toAttempt: id)
        }
        return replaceClient(of: id)
    }

    /// `end` with what helps, if it shows that the server has forgotten the client. The next sign-in registers another.
    private func noting(_ end: SignInEnd, of signIn: RunningSignIn) -> SignInEnd {
        guard case .failed(var failure) = end, failure.detail?.deniesClient == true,
            signIn.account.registration.isSelfRegistered
        else { return end }
        forgotten.insert(signIn.account.id)
        failure.hint = "\(signIn.target.command), which registers a new client"
        return .failed(failure)
    }

    // MARK: Requests to servers

    // After each `await`, look the sign-in up by its ID: it may be over, and another one of the account may have begun.

    /// What a sign-in wants done after an answer of the token endpoint, and the server's time; nil if it stated none.
    typealias Answered = (effects: [SignInEffect], serverDate: Timestamp?)

    /// Prepares what the person is shown: the address for the browser, or a code for any device.
    ///
    /// - Parameters:
    ///   - asking: the client for the requests.
    ///   - deliver: passes what a browser delivers to `delivered`, on the coordinator's queue. Only the listener keeps
    ///     it.
    func prepare(
        _ id: String,
        as asking: RequestingClient,
        deliver: @escaping RedirectListener.Deliver
    ) async -> [SignInEffect] {
        guard let signIn = named(id) else { return [] }
        let (scopes, demandsIDToken) = (signIn.request.scopes, signIn.request.demandsIDToken)
        if let failure = await client.codes.obstacle(to: asking, scopes: scopes, demandsIDToken: demandsIDToken) {
            return preparationFailed(failure, of: id)
        }
        guard let redirect = signIn.redirect else { return await prepareDevice(signIn, as: asking) }
        let opened: (uri: String, listener: RedirectListener?)
        do throws(RedirectListenerError) {
            // The second time, the browser returns to the same place.
            opened =
                if let uri = signIn.redirectURI { (uri, signIn.listener) } else {
                    try await open(redirect, deliver: deliver)
                }
        } catch {
            let failure = failure(error, at: redirect.port, for: signIn.account)
            return tell(.preparationFailed(failure), toAttempt: id)
        }
        guard change(id, { ($0.redirectURI, $0.listener) = opened }) else {
            opened.listener?.close()
            return []
        }
        switch await client.browser.authorizationURL(for: signIn.authorizationRequest(opened.uri, as: asking)) {
        case .failure(let failure): return preparationFailed(failure, of: id)
        case .success(let url):
            change(id) { $0.invitation = RunningSignIn.Invitation(url) }
            return tell(.prepared(signIn.expectation(of: url, for: asking)), toAttempt: id)
        }
    }

    /// Why `account` cannot have the port that it has to listen on.
    private func failure(
        _ error: RedirectListenerError,
        at port: Int?,
        for account: Account
    ) -> SignInFailure {
        if let port, let other = running.values.first(where: { $0.listener?.port == port })?.account.name {
            return SignInFailure(
                .misconfigured,
                error.reason,
                hint: "finish the sign-in of '\(other)' first, or end it with Ctrl-C"
            )
        }
        // A server that registered the client knows the port, so another one needs another client.
        let another =
            account.registration.isSelfRegistered
            ? Command("account", "edit", account.name.text, "--register")
            : Command("account", "edit", account.name.text, "--redirect-port", "PORT")
        var failure = SignInFailure(
            .misconfigured,
            error.reason,
            hint: "end the program that has the port (\(Command(program: "ss", "-ltnp"))), "
                + "or use another one: \(another)"
        )
        if case .portTaken(let port) = error { failure.busyPort = port }
        return failure
    }

    /// Opens the redirect URI.
    ///
    /// - Returns: the redirect URI, and the listener on it; no listener if we do not listen on that address.
    private func open(
        _ redirect: RedirectChoice,
        deliver: @escaping RedirectListener.Deliver
    ) async throws(RedirectListenerError) -> (uri: String, listener: RedirectListener?) {
        switch redirect {
        case .fixed(let uri): return (uri, nil)
        case .loopback(let host, let port, let path):
            let listener = try await RedirectListener.open(port: port, path: path, deliver: deliver)
            return ("http://\(host):\(listener.port)\(path)", listener)
        }
    }

    private func prepareDevice(_ signIn: RunningSignIn, as asking: RequestingClient) async -> [SignInEffect] {
        switch await client.devices.authorize(asking, scopes: signIn.request.scopes) {
        case .failure(let failure): return preparationFailed(failure, of: signIn.id)
        case .success(let device):
            change(signIn.id) { $0.invitation = RunningSignIn.Invitation(device) }
            let event = SignInEvent.deviceAuthorized(interval: device.interval, lifetime: device.expiresIn)
            return tell(event, toAttempt: signIn.id)
        }
    }

    /// Sends the code to the token endpoint.
    func exchange(_ code: AuthorizationCode, of id: String, as asking: RequestingClient) async -> Answered {
        guard let signIn = named(id) else { return ([], nil) }
        let sentAt = timebase.now()
        let outcome = await client.codes.exchange(signIn.codeExchange(code, as: asking))
        return obtained(outcome, of: signIn, keeping: code.keptFields, sentAt: sentAt)
    }

    /// Validates the ID token, if only that was requested.
    func identify(_ idToken: Secret, of id: String, as asking: RequestingClient) async -> [SignInEffect] {
        guard let signIn = named(id) else { return [] }
        let (nonce, maxAge) = (signIn.nonce(for: asking), signIn.request.maxAge)
        switch await client.codes.identify(idToken, as: asking, nonce: nonce, maxAge: maxAge) {
        case .failure(let failure): return tell(.exchangeFailed(failure), toAttempt: id)
        case .success(let checked):
            change(id) { $0.idToken = checked }
            let name = checked.person.names?.best
            return tell(.identityArrived(subject: checked.claims.subject, name: name), toAttempt: id)
        }
    }

    /// Asks once whether the person has approved on the other device.
    func poll(_ id: String, as asking: RequestingClient) async -> Answered {
        guard let signIn = named(id), let device = signIn.invitation?.device else { return ([], nil) }
        let sentAt = timebase.now()
        let outcome = await client.devices.poll(device.deviceCode, as: asking, scopes: signIn.request.scopes)
        if case .obtained(let outcome) = outcome { return obtained(outcome, of: signIn, sentAt: sentAt) }
        return (outcome.answer.map { tell(.pollEnded($0), toAttempt: id) } ?? [], nil)
    }

    /// Records the result of a code or of a device code.
    private func obtained(
        _ outcome: GrantOutcome,
        of signIn: RunningSignIn,
        keeping kept: [String: String] = [:],
        sentAt: Moment
    ) -> Answered {
        switch outcome.result {
        case .failure(let failure):
            return (tell(.exchangeFailed(failure), toAttempt: signIn.id), outcome.serverDate)
        case .success(let grant):
            change(signIn.id) {
                $0.grant = signIn.arrival(
                    of: grant,
                    keeping: kept,
                    learnedEncoding: outcome.basicCredentialEncoding,
                    sentAt: sentAt
                )
                $0.proof = StepUp.Proof(
                    request: signIn.request,
                    person: grant.person,
                    grantedScopes: grant.tokens.scopes,
                    obtainedAt: outcome.serverDate ?? sentAt.wall
                )
            }
            let person = grant.person
            let event = SignInEvent.grantArrived(
                subject: person.subject,
                name: person.names?.best,
                isUnavailable: person.unavailable != nil,
                addresses: person.names?.addresses ?? []
            )
            return (tell(event, toAttempt: signIn.id), outcome.serverDate)
        }
    }

    /// Passes an event by the sign-in's ID, because a result for an earlier sign-in must not reach a later one.
    private func tell(_ event: SignInEvent, toAttempt id: String) -> [SignInEffect] {
        guard let signIn = named(id) else { return [] }
        return tell(event, to: signIn.account.id, at: timebase.now())
    }

    /// Changes the sign-in with this ID; false if it is over.
    @discardableResult
    private func change(_ id: String, _ body: (inout RunningSignIn) -> Void) -> Bool {
        guard var signIn = named(id) else { return false }
        body(&signIn)
        running[signIn.account.id] = signIn
        return true
    }
}

extension StartSignIn.Reply {
    /// Removes where the browser goes, and how.
    fileprivate mutating func forgetPlace() {
        (url, host, redirectUri, registeredUri) = (nil, nil, nil, nil)
        (selfRegistered, clientReplaced) = (nil, nil)
        (browser, browserRefused, window, schemeFromProfile) = (nil, nil, nil, nil)
    }
}
