internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TextEncodings

/// The story.
extension Show {
    private static let silentRefreshes = 3
    /// The time limit of steps without a refresh: starting a program, or running a command. It is generous for a
    /// machine that is busy building.
    static let stepLimit = Duration.seconds(20)

    /// The time limit of a step that waits for the next automatic refresh, which is due within one lifetime.
    private var refreshLimit: Duration { lifetime + Self.stepLimit }

    func openServer() async throws(DemoError) -> URL {
        let address = try await issuer.start()
        guard let server = URL(string: address) else { preconditionFailure("the issuer's identifier is a URL") }
        let seconds = lifetime.components.seconds
        tell(
            .chapter,
            "An authorization server is started on \(address): tokens live \(seconds) s, refresh tokens rotate."
        )
        return server
    }

    /// Plays the whole story with the server and a daemon that has just been started.
    func tellStory(_ server: URL) async throws(DemoError) {
        try await within(Self.stepLimit, "waiting for authrefreshd to listen") {
            while (try? VarlinkConnection(path: stage.socket)) == nil, !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        followChanges()
        tell(.proof, "it listens on \(stage.socket)")
        tell(.chapter, "One account is added, with a refresh token on standard input.")
        let grant = try await issuer.issueGrant(clientID: Self.clientID)
        try await authctl(
            [
                "account", "add", Self.account, "--issuer", server.absoluteString, "--client-id", Self.clientID,
                "--refresh-token-file", "-",
            ],
            input: grant.refreshToken
        )
        var status = try await reach("the first refresh", within: Self.stepLimit) { $0.state == "fresh" }
        tell(.chapter, "Nobody asks, and the token stays fresh: \(Self.silentRefreshes) silent refreshes.")
        for number in 1...Self.silentRefreshes {
            status = try await reach("silent refresh \(number)", after: status, within: refreshLimit)
        }
        try await useToken(server)
        try await revoke(grant)
        try await signInAgain(after: status)
        try await useToken(server)
        try await checkPromises()
    }

    private func revoke(_ grant: IssuedGrant) async throws(DemoError) {
        tell(.chapter, "The grant is revoked at the server. The daemon learns of it with its next refresh.")
        try await issuer.revokeGrant(grant.family)
        let status = try await reach("interaction required after the revocation", within: refreshLimit) {
            $0.state == "interaction-required"
        }
        guard status.failure?.oauthError == "invalid_grant", status.hint?.hasPrefix("authctl ") == true else {
            let (reason, hint) = (status.failure?.oauthError ?? "no reason", status.hint ?? "no command that helps")
            throw DemoError("the revoked grant was reported with \(reason) and \(hint)", .daemon)
        }
        try await authctl(["status", Self.account], expecting: 3)
        tell(.proof, "authctl status \(Self.account) ends with status 3, for scripts")
        // Time to read it.
        guard (try? await Task.sleep(for: isUnattended ? .milliseconds(500) : .seconds(6))) != nil else {
            throw .endsEarly
        }
    }

    private func signInAgain(after last: AccountStatus) async throws(DemoError) {
        tell(
            .chapter,
            "The person signs in again. This show has no browser for authctl login, so it imports the new grant."
        )
        let grant = try await issuer.issueGrant(clientID: Self.clientID)
        try await authctl(
            ["account", "import", Self.account, "--refresh-token-file", "-"],
            input: grant.refreshToken
        )
        let status = try await reach("fresh after the new sign-in", after: last, within: Self.stepLimit)
        tell(.chapter, "The account is fresh again.")
        _ = try await reach("a silent refresh after the new sign-in", after: status, within: refreshLimit)
    }

    /// Says that refreshes continue, and how to look at them.
    func inviteViewer() {
        tell(.chapter, "The show continues until Ctrl-C, which ends the daemon and removes all of this.")
        tell(
            .answer,
            "Have a look from another terminal: AUTHREFRESH_SOCKET=\(stage.socket) \(stage.authctl) status"
        )
    }

    /// Waits until the account is fresh with the tokens of a newer refresh.
    private func reach(
        _ step: String,
        after last: AccountStatus,
        within limit: Duration
    ) async throws(DemoError) -> AccountStatus {
        try await reach(step, within: limit) { $0.state == "fresh" && $0.generation > last.generation }
    }

    /// Waits until the account has the wanted state.
    ///
    /// - Parameter step: what is waited for, in lower case, for an error.
    private func reach(
        _ step: String,
        within limit: Duration,
        where isReached: @Sendable (AccountStatus) -> Bool
    ) async throws(DemoError) -> AccountStatus {
        let status = try await within(limit, step) { await states.first(where: isReached) }
        guard let status else { throw .endsEarly }
        return status
    }

    private func useToken(_ server: URL) async throws(DemoError) {
        let token = try await authctl(["token", Self.account], isSecret: true).trimmingCharacters(in: .newlines)
        let status = try await within(Self.stepLimit, "asking the protected resource") {
            await ProtectedResource.status(port: server.port ?? 0, accessToken: token)
        }
        guard status == 200 else {
            let answer = status.map { "HTTP \($0)" } ?? "no answer"
            throw DemoError("the server refused the access token that authctl gave out (\(answer))", .daemon)
        }
        tell(.proof, "the server's protected resource takes the access token (HTTP 200)")
    }

    /// Checks the server's own counts of requests.
    func checkPromises() async throws(DemoError) {
        let counters = await issuer.counters
        guard counters.overlaps == 0, counters.spentTokenUses == 0 else {
            throw DemoError(
                "the server saw \(counters.overlaps) overlapping refreshes and \(counters.spentTokenUses) uses of spent"
                    + " refresh tokens",
                .daemon
            )
        }
        tell(.proof, "the server saw \(counters.refreshes) refreshes: never two at a time, no spent token")
    }

    /// Prints what a change says; nothing for changes that only begin the subscription.
    func show(_ change: Subscribe.Reply) {
        guard change.news != nil, let status = change.accounts.first else { return }
        let time = LocalTime(nowUSec: change.atUSec)
        var (mark, words) = (Mark.change, status.failure.map { ": \($0.summary)" } ?? "")
        if change.news == .interactionRequired {
            (mark, words) = (.alarm, ": \(Self.serverWords(status))")
        } else if change.news == .refreshStarted {
            words = ": generation \(status.generation) is sent"
        } else if change.news == .tokenRefreshed {
            // Short enough for 80 columns.
            let expires = status.expiresAtUSec.map { ", expires \(time.relative($0))" } ?? ""
            let next = status.nextAttemptAtUSec.map { ", next \(time.relative($0))" } ?? ""
            words = ": generation \(status.generation)\(expires)\(next)"
        }
        tell(mark, "\(status.account)  \(change.event)\(words)", atUSec: change.atUSec)
        if change.news == .interactionRequired {
            tell(.alarm, "\(status.account)  run: \(status.hint ?? "")", atUSec: change.atUSec)
        }
    }

    /// Why an account is in its state, in the authorization server's text if there is one.
    private static func serverWords(_ status: AccountStatus) -> String {
        guard let failure = status.failure else { return status.reason ?? "no reason given" }
        let words = [failure.oauthError, failure.oauthErrorDescription].compactMap(\.self).joined(separator: ": ")
        let code = failure.httpStatus.map { " (HTTP \($0))" } ?? ""
        return (words.isEmpty ? failure.summary : words) + code
    }
}
