internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import TestSupport

/// The events of a day, compressed into seconds: rotations, sign-ins, errors of all kinds, key changes, backups,
/// damage.
struct SecretsDay {
    /// Answers of the server that occasionally replace or accompany tokens.
    private static let faults: [Fault] = [
        .answer(.html()), .answer(CannedAnswer(status: 500, headers: [:], body: "oops")), .cutAfter, .truncate,
        .cutBefore,
        .answer(
            CannedAnswer(
                status: 400,
                headers: ["Content-Type": "application/json"],
                body: #"{"error":"invalid_request","error_description":"not like this"}"#
            )
        ),
        .expiresIn(#""soon""#),
    ]

    let scene: SecretsStage
    private var stage: DaemonStage { scene.stage }

    /// - Parameter number: the number of the round. Some events happen only in some rounds.
    func live(_ number: Int) async throws {
        for (index, account) in scene.personal.enumerated() {
            if index == number % scene.personal.count {
                try await scene.issuer.script(Self.faults[number % Self.faults.count])
            }
            _ = try? await stage.acquire(account, force: true)
            await scene.issuer.clearFaults()
            try await scene.authctl("refresh", account)
        }
        for account in scene.service { try await scene.authctl("refresh", account) }
        try await handOut()
        try await signIn(to: "public\(1 + number % 3)")
        try await lookAround(number)
        try await scene.authctl("store", "rekey")
        try scene.noteKey()
        if number % 2 == 1 { try await scene.restart() }
    }

    /// Calls that return tokens. Only here may a secret be printed.
    private func handOut() async throws {
        for format in ["raw", "header", "json", "env"] {
            _ = try await stage.authctl("token", "public0", "--format", format)
        }
        _ = try await stage.authctl("token", "public1", "--scope", "mail")
        _ = try await stage.authctl("account", "export", "basic")
        try await scene.authctl("challenge", "public2", "--header", #"Bearer error="invalid_token""#)
    }

    /// A sign-in whose answer a person pastes, one that is cancelled, one that is denied, and one with a wrong answer.
    private func signIn(to account: String) async throws {
        for isAllowed in [false, true] {
            let call = try SignInCall(stage, StartSignIn.Parameters(account: account, replace: true))
            guard let page = try await call.started().url else { throw TestFault.unreadable("no address") }
            try await scene.authctl("callback", "http://127.0.0.1:1/?code=a-forged-code-of-nobody&state=none")
            let location = try await Person().decide(isAllowed, at: page)
            let login = try Program("authctl", ["login", account, "--no-open"], environment: stage.environment)
            try await watch(login)
            try await scene.authctl("callback", location)
            _ = try await call.ended()
            login.signal(2)
            _ = try await login.ended()
        }
        let call = try SignInCall(stage, StartSignIn.Parameters(account: account, replace: true))
        _ = try await call.started()
        _ = try await stage.ask(
            .cancelSignIn,
            CancelSignIn.Parameters(account: account),
            for: CancelSignIn.Reply.self
        )
    }

    /// Records what other processes of this user can see of a program during a sign-in.
    private func watch(_ program: Program) async throws {
        guard let sight = try? SecretPlaces.sight(of: program.pid) else { return }
        scene.note(sight)
    }

    private func lookAround(_ number: Int) async throws {
        try await scene.authctl("status")
        try await scene.authctl("status", "--json")
        try await scene.authctl("account", "show", "basic")
        try await scene.authctl("account", "show", "robot", "--json")
        try await scene.authctl("doctor")
        try await scene.authctl("store", "check")
        try await scene.authctl("store", "backup", stage.folder.path + "/backup-\(number)")
        // Secrets in wrong places. The error messages must not repeat them.
        let grant = try await scene.issuer.issueGrant(clientID: "app")
        _ = try await stage.authctl(
            "account",
            "add",
            "extra\(number)",
            "--issuer",
            "ftp://nowhere",
            "--client-id",
            "app",
            "--refresh-token-file",
            "-",
            input: grant.refreshToken
        )
        try await scene.authctl(
            "account",
            "add",
            "extra\(number)",
            "--issuer",
            scene.url,
            "--client-id",
            "app",
            "--refresh-token-file",
            "-",
            input: grant.refreshToken
        )
        try await scene.issuer.revokeGrant(grant.family)
        try await scene.authctl("refresh", "extra\(number)")
        try await scene.authctl("logout", "extra\(number)", "--revoke")
        try await scene.authctl("account", "remove", "extra\(number)", "--yes")
    }
}
