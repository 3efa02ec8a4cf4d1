internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation

/// The story.
extension Show {
    private static let silentRefreshes = 3

    /// Plays the whole story. With a viewer, refreshes then continue until a signal ends the show.
    mutating func play() async throws(DemoError) {
        let server = try await open()
        let grant = try await issueGrant()
        try await addAccount(server: server, grant)
        try await watchSilentRefreshes()
        try await useToken(server: server)
        try await revoke(grant)
        try await signInAgain()
        try await useToken(server: server)
        try await checkPromises()
        if !plan.isUnattended { try await stayOpen() }
    }

    private mutating func open() async throws(DemoError) -> URL {
        let address = try await issuer.start()
        guard let server = URL(string: address) else { preconditionFailure("the issuer's identifier is a URL") }
        let seconds = plan.lifetime.components.seconds
        scene.facts = [address, "tokens live \(seconds) s", "refresh tokens rotate, reuse is detected"]
        enter("An authorization server is started on \(address): tokens live \(seconds) s, refresh tokens rotate.")
        enter("authrefreshd is started in \(stage.folder).")
        try await startDaemon()
        tell(Report(.proof, "it listens on \(stage.socket)"))
        return server
    }

    private mutating func addAccount(server: URL, _ grant: IssuedGrant) async throws(DemoError) {
        enter("One account is added, with a refresh token on standard input.")
        let address = server.absoluteString
        try await authctl(
            [
                "account", "add", Self.account, "--issuer", address, "--client-id", Self.clientID,
                "--refresh-token-file", "-",
            ],
            input: grant.refreshToken
        )
        try await reach("the first refresh", within: plan.stepLimit) { $0.state == "fresh" }
    }

    private mutating func watchSilentRefreshes() async throws(DemoError) {
        enter("Nobody asks, and the token stays fresh: \(Self.silentRefreshes) silent refreshes.")
        for number in 1...Self.silentRefreshes {
            try await awaitRefresh("silent refresh \(number)")
        }
    }

    private mutating func useToken(server: URL) async throws(DemoError) {
        let outcome = try await authctl(["token", Self.account], isSecret: true)
        let token = outcome.output.trimmingCharacters(in: .newlines)
        Task { [announce] in
            announce(.resourceAnswered(await ProtectedResource.status(port: server.port ?? 0, accessToken: token)))
        }
        let status: Int? = try await wait(for: (step: "asking the protected resource", limit: plan.stepLimit)) {
            occurrence in
            if case .resourceAnswered(let status) = occurrence { return .some(status) }
            return nil
        }
        guard status == 200 else {
            let answer = status.map { "HTTP \($0)" } ?? "no answer"
            throw DemoError("the server refused the access token that authctl gave out (\(answer))", .daemon)
        }
        tell(Report(.proof, "the server's protected resource takes the access token (HTTP 200)"))
    }

    private mutating func revoke(_ grant: IssuedGrant) async throws(DemoError) {
        enter("The grant is revoked at the server. The daemon learns of it with its next refresh.")
        try await issuer.revokeGrant(grant.family)
        let status = try await reach("interaction required after the revocation", within: plan.refreshLimit) {
            $0.state == "interaction-required"
        }
        guard status.failure?.oauthError == "invalid_grant", let hint = status.hint, hint.hasPrefix("authctl ") else {
            let (reason, hint) = (status.failure?.oauthError ?? "no reason", status.hint ?? "no command that helps")
            throw DemoError("the revoked grant was reported with \(reason) and \(hint)", .daemon)
        }
        scene.chapter = "Only now is a person needed; the account says why, and which command helps."
        // An interactive show already has this in its picture.
        try await authctl(["status", Self.account], expecting: 3, isQuiet: !plan.isUnattended)
        tell(Report(.proof, "authctl status \(Self.account) ends with status 3, for scripts"))
        try await pause()
    }

    private mutating func signInAgain() async throws(DemoError) {
        enter("The person signs in again. This show has no browser for authctl login, so it imports the new grant.")
        let grant = try await issueGrant()
        let before = generation
        try await authctl(
            ["account", "import", Self.account, "--refresh-token-file", "-"],
            input: grant.refreshToken
        )
        try await reach("fresh after the new sign-in", within: plan.stepLimit) {
            $0.state == "fresh" && $0.generation > before
        }
        enter("The account is fresh again.")
        try await awaitRefresh("a silent refresh after the new sign-in")
    }

    /// Checks the server's own counts of requests.
    private mutating func checkPromises() async throws(DemoError) {
        let counters = await issuer.counters
        guard counters.overlaps == 0, counters.spentTokenUses == 0 else {
            throw DemoError(
                "the server saw \(counters.overlaps) overlapping refreshes and \(counters.spentTokenUses) uses of spent"
                    + " refresh tokens",
                .daemon
            )
        }
        let text = "the server saw \(counters.refreshes) refreshes: never two at a time, no spent token"
        tell(Report(.proof, text))
    }

    private mutating func stayOpen() async throws(DemoError) {
        scene.chapter = "The show continues until Ctrl-C, which ends the daemon and removes all of this."
        scene.advice = "Have a look from another terminal:"
        scene.command = "AUTHREFRESH_SOCKET=\(stage.socket) \(programs.authctl) status"
        if !screen.isDrawn { tell(Report(.answer, "\(scene.advice) \(scene.command)")) }
        do throws(DemoError) {
            try await wait { _ in Void?.none }
        } catch {
            // A signal is the intended end. The promises must hold until the last moment.
            guard case .signal = error.cause else { throw error }
        }
        try await checkPromises()
    }
}
