internal import AuthRefreshInterface
internal import TestSupport

/// The helpers that other tools start.
extension Integration {
    static let tools: [Integration] = [
        gitGet, gitStore, gitErase, dockerGet, dockerStore, dockerErase, dockerList, kubeCredential, googleExecutable,
        execCommand,
    ]

    /// The effect of a fault on a caller that wants a token.
    ///
    /// - Parameter words: the error texts if the tokens have expired, and if no account has the name.
    static func forToken(
        gone: String = "no daemon answers",
        killed: String = askedAgain,
        ended: Verdict = .refusal(75, "no valid token for"),
        unknown: Verdict = .refusal(4, "no account is named 'nobody'")
    ) -> [IntegrationFault: Verdict] {
        [
            .nothing: .answer, .restarted: .answer, .serverDown: .answer, .diskFull: .answer, .readOnly: .answer,
            .runtimeFolderGone: .answer, .activated: .answer,
            .notRunning: .refusal(69, gone, isFound: false), .killed: .refusal(69, killed, isFound: false),
            .signedOut: .refusal(5, "is signed out"),
            .serverDownAndEnded: ended,
            .tokenFolderGone: .leftOut(noTokenFile), .serviceManagerGone: .leftOut(noCommand),
            .unknown: unknown,
        ]
    }

    /// What is said if the daemon ends during a call, and no other follows.
    static let ended = "the daemon ended the connection"
    /// What is said if that call was made again.
    static let askedAgain = ended + "; authctl asked again, but no daemon answers"
    static let noCommand = "it starts nothing but the command of on_change"
    static let noTokenFile = "only token files are in that folder"

    /// A command that reads no standard input.
    private static func command(
        _ name: String,
        account: String,
        manner: Manner = .plain,
        _ verdicts: [IntegrationFault: Verdict],
        words: @escaping @Sendable (String) -> [String],
        isAnswer: @escaping @Sendable (String, IntegrationUse) -> Bool
    ) -> Integration {
        Integration(
            name: name,
            account: account,
            manner: manner,
            verdicts: verdicts,
            use: { try await $0.scene.stage.authctl(words($0.target)) },
            isAnswer: { $0.end == .exited(0) && isAnswer($0.output, $1) }
        )
    }

    // MARK: git

    /// The text that git writes to a helper's standard input.
    static func gitQuestion(_ use: IntegrationUse, password: String? = nil) -> String {
        "protocol=https\nhost=\(use.host)\npath=app.git\n"
            + (password.map { "username=oauth2\npassword=\($0)\n" } ?? "")
    }

    /// What git is answered.
    static func gitAnswer(_ tokens: IntegrationTokens) -> String {
        let access = tokens.access
        return
            "username=oauth2\npassword=\(access.accessToken)\npassword_expiry_utc=\(access.expiresAtUSec / 1_000_000)"
    }

    static let gitGet = Integration(
        name: "git get",
        account: "git-get",
        manner: .git,
        verdicts: forToken(unknown: .silence),
        use: { try await $0.scene.stage.authctl("git-credential", "get", input: gitQuestion($0)) },
        isAnswer: { $0.end == .exited(0) && $0.output == gitAnswer($1.tokens) }
    )

    static let gitStore = Integration(
        name: "git store",
        account: "git-store",
        manner: .git,
        verdicts: everywhere(.silence),
        use: {
            let input = gitQuestion($0, password: $0.tokens.access.accessToken)
            return try await $0.scene.stage.authctl("git-credential", "store", input: input)
        },
        isAnswer: { _, _ in false }
    )

    static let gitErase = Integration(
        name: "git erase",
        account: "git-erase",
        verdicts: forErase(unknown: .silence),
        use: {
            let input = gitQuestion($0, password: $0.tokens.access.accessToken)
            return try await $0.erase("git-credential", input)
        },
        isAnswer: isErased
    )

    /// The effect of a fault on the report of a refused token.
    private static func forErase(unknown: Verdict) -> [IntegrationFault: Verdict] {
        let old = Verdict.refusal(75, "authctl status")
        return [
            .nothing: .answer, .restarted: .answer, .readOnly: .answer, .runtimeFolderGone: .answer,
            .activated: .answer, .killed: .refusal(69, askedAgain),
            .notRunning: .refusal(69, "no daemon answers"), .signedOut: .silence, .serverDown: old,
            .serverDownAndEnded: old, .diskFull: .refusal(75, "store"), .tokenFolderGone: .leftOut(noTokenFile),
            .serviceManagerGone: .leftOut(noCommand), .unknown: unknown,
        ]
    }

    /// There is no output, and the account has another token.
    private static func isErased(_ outcome: CommandOutcome, _ use: IntegrationUse) -> Bool {
        outcome == CommandOutcome(output: "", errors: "", end: .exited(0))
    }

    // MARK: docker

    static let dockerGet = Integration(
        name: "docker get",
        account: "docker-get",
        manner: .docker,
        verdicts: forToken(unknown: .refusal(1, "credentials not found in native keychain")),
        use: { try await $0.scene.stage.authctl("docker-credential", "get", input: $0.host) },
        isAnswer: { $0.end == .exited(0) && $0.output == dockerAnswer($1) }
    )

    /// What docker is answered.
    static func dockerAnswer(_ use: IntegrationUse) -> String {
        let secret = use.tokens.access.accessToken
        return #"{"ServerURL":"\#(use.host)","Username":"oauth2accesstoken","Secret":"\#(secret)"}"#
    }

    static let dockerStore = Integration(
        name: "docker store",
        account: "docker-store",
        manner: .docker,
        verdicts: forToken(
            ended: .refusal(1, "authctl stores no passwords"),
            unknown: .refusal(1, "authctl stores no passwords")
        ).merging([.signedOut: .refusal(1, "authctl stores no passwords")]) { $1 },
        use: {
            try await $0.scene.stage.authctl("docker-credential", "store", input: dockerAnswer($0))
        },
        isAnswer: { $0.end == .exited(0) && $0.output.isEmpty && $1.target == "docker-store" }
    )

    static let dockerErase = Integration(
        name: "docker erase",
        account: "docker-erase",
        manner: .docker,
        verdicts: forErase(unknown: .silence),
        use: { try await $0.erase("docker-credential", $0.host) },
        isAnswer: isErased
    )

    private static let dockerList = Integration(
        name: "docker list",
        account: "docker-list",
        manner: .docker,
        verdicts: forToken().merging([
            .signedOut: .answer, .serverDownAndEnded: .answer, .unknown: .leftOut("it is asked for no address"),
        ]) { $1 },
        use: { try await $0.scene.stage.authctl("docker-credential", "list") },
        isAnswer: { outcome, use in
            let urls = use.scene.rows.map { "https://\($0.account).example.org/" }.sorted()
            let members = urls.map { #""\#($0)":"oauth2accesstoken""# }.joined(separator: ",")
            return outcome.end == .exited(0) && outcome.output == "{\(members)}"
        }
    )

    // MARK: Others

    private static let kubeCredential = command(
        "kube-credential",
        account: "kube",
        forToken(),
        words: { ["kube-credential", $0] }
    ) { output, use in
        output.hasPrefix(#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","#)
            && output.hasSuffix(#","token":"\#(use.tokens.idToken.token)"}}"#)
    }

    private static let googleExecutable = command(
        "google-executable",
        account: "google",
        manner: .google,
        forToken(),
        words: { ["google-executable", $0] }
    ) { output, use in
        let end = use.tokens.idToken.expiresAtUSec / 1_000_000
        let type = "urn:ietf:params:oauth:token-type:id_token"
        return output == #"{"version":1,"success":true,"token_type":"\#(type)","expiration_time":\#(end),"#
            + #""id_token":"\#(use.tokens.idToken.token)"}"#
    }

    static let execCommand = command(
        "exec",
        account: "exec",
        forToken(),
        words: { ["exec", $0, "--env", "T", "--", "/bin/sh", "-c", "echo \"$T\""] }
    ) { $0 == $1.tokens.access.accessToken }
}

extension IntegrationUse {
    /// Reports the token as refused. The daemon keeps a token that is younger than a second, so this reports it again.
    fileprivate func erase(_ command: String, _ input: String) async throws -> CommandOutcome {
        // A token that is younger than a second is kept in any case. A daemon that is stopped, to be killed, is not told.
        if !fault.killsWhileAsked { try? await scene.stage.pass(.seconds(1)) }
        let end = ContinuousClock.now + .patience
        while true {
            let before = await scene.grant(of: target).generation
            let outcome = try await scene.stage.authctl(command, "erase", input: input)
            let isKept = outcome.end == .exited(0) && fault.replacesErased && before > 0
            guard isKept, await scene.grant(of: target).generation == before else { return outcome }
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "another token of \(target)") }
        }
    }
}

extension IntegrationFault {
    /// Whether an account changes by it.
    var isChange: Bool { [.signedOut, .serverDown, .serverDownAndEnded].contains(self) }

    /// Whether a token that is reported as refused is replaced at once.
    fileprivate var replacesErased: Bool {
        switch self {
        case .nothing, .restarted, .activated, .readOnly, .runtimeFolderGone: true
        case .notRunning, .killed, .signedOut, .serverDown, .serverDownAndEnded, .diskFull, .tokenFolderGone,
            .serviceManagerGone, .unknown:
            false
        }
    }
}
