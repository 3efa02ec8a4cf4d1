internal import AuthRefreshInterface
internal import Foundation
internal import TestSupport

/// Uses with files, the command for changes, and the settings that decide where a token may go.
extension Integration {
    static let others: [Integration] =
        [
            tokenFile("access") { $0.access.accessToken },
            tokenFile("id") { $0.idToken.token },
            tokenFile("bearer-header") { "Authorization: Bearer \($0.access.accessToken)" },
            jsonFile, metrics, metricsFile, onChange, forwardStart, forwarded, confirmWithoutAgent, confirmed,
            forgetAfter,
        ]

    // MARK: Token files

    private static func tokenFile(
        _ kind: String,
        isContent: @escaping @Sendable (String, IntegrationTokens) -> Bool
    ) -> Integration {
        let account = "file-\(kind)"
        return Integration(
            name: "token file, \(kind)",
            account: account,
            manner: .file,
            settings: { ($0.tokenFile, $0.tokenFileKind) = (account, kind) },
            verdicts: [
                .nothing: .answer, .restarted: .answer, .serverDown: .answer, .diskFull: .answer, .readOnly: .answer,
                .tokenFolderGone: .answer, .runtimeFolderGone: .answer,
                .notRunning: .answer, .killed: .answer, .activated: .answer,
                .signedOut: .refusal(1, "No such file"), .serverDownAndEnded: .refusal(1, "No such file"),
                .serviceManagerGone: .leftOut(noCommand),
                .unknown: .leftOut("a path names no account"),
            ],
            use: { try await $0.readTokenFile() },
            isAnswer: { outcome, use in
                guard outcome.end == .exited(0), let tokens = try? use.scene.tokens(of: use.target) else {
                    return false
                }
                return isContent(outcome.output, tokens)
            }
        )
    }

    private static func tokenFile(
        _ kind: String,
        content: @escaping @Sendable (IntegrationTokens) -> String
    ) -> Integration {
        tokenFile(kind, isContent: { $0 == content($1) })
    }

    private static let jsonFile = tokenFile("json") { text, tokens in
        text.hasPrefix("{") && text.hasSuffix("}") && text.contains(#""accessToken":"\#(tokens.access.accessToken)""#)
    }

    // MARK: Figures

    private static let figures = "# HELP authrefresh_info "

    private static let metrics = Integration(
        name: "metrics",
        account: "metrics",
        verdicts: everywhere(.answer).merging([
            .notRunning: .refusal(69, "no daemon answers"), .killed: .refusal(69, askedAgain),
            .tokenFolderGone: .leftOut(noTokenFile), .unknown: .leftOut(noAccountIsAsked),
        ]) { $1 },
        use: { try await $0.scene.stage.authctl("metrics") },
        isAnswer: { outcome, use in
            let count = use.scene.rows.count
            let states: [IntegrationFault: String] = [.nothing: "fresh", .signedOut: "signed-out"]
            let isRight = states[use.fault].map { outcome.output.contains(#"{state="\#($0)"} \#(count)"#) } ?? true
            return outcome.end == .exited(0) && outcome.output.hasPrefix(figures) && isRight
        }
    )

    private static let noAccountIsAsked = "it is asked for no account"

    private static let metricsFile = Integration(
        name: "metrics --output",
        account: "metrics-file",
        verdicts: everywhere(.answer).merging([
            .notRunning: .refusal(69, "no daemon answers"), .killed: .refusal(69, askedAgain),
            .diskFull: .refusal(75, "hint: "), .readOnly: .refusal(77, "hint: "),
            .tokenFolderGone: .leftOut(noTokenFile), .unknown: .leftOut(noAccountIsAsked),
        ]) { $1 },
        use: { try await $0.writeFigures() },
        isAnswer: { outcome, _ in outcome.end == .exited(0) && outcome.output == "written" }
    )

    /// The same verdict for every fault. Without the service manager no command runs, so there is no verdict.
    static func everywhere(_ verdict: Verdict) -> [IntegrationFault: Verdict] {
        let verdicts = Dictionary(uniqueKeysWithValues: IntegrationFault.allCases.map { ($0, verdict) })
        return verdicts.merging([.serviceManagerGone: .leftOut(noCommand)]) { $1 }
    }

    private static let onChange = Integration(
        name: "on_change",
        account: "change",
        verdicts: everywhere(.answer).merging([
            .notRunning: .leftOut("nothing changes without a daemon"),
            .killed: .leftOut("nothing changes without a daemon"), .tokenFolderGone: .leftOut(noTokenFile),
            .diskFull: .leftOut("nothing changes while nothing can be written"), .serviceManagerGone: .answer,
            .unknown: .leftOut(noAccountIsAsked),
        ]) { $1 },
        use: { try await $0.change() },
        isAnswer: { outcome, _ in outcome.output == "told" }
    )

    // MARK: Forwarding

    private static let forwardStart = Integration(
        name: "forward, at its start",
        account: "forward-start",
        verdicts: everywhere(.answer).merging([
            .notRunning: .refusal(69, "no daemon answers"), .killed: .refusal(69, askedAgain),
            .tokenFolderGone: .leftOut(noTokenFile), .unknown: .refusal(4, "no account is named 'nobody'"),
        ]) { $1 },
        use: { use in
            let program = try use.scene.forward(use.target, by: .shortLived)
            let end = try await program.ended()
            return CommandOutcome(output: program.outputText, errors: program.errorText, end: end)
        },
        isAnswer: { outcome, _ in outcome.end == .exited(0) && outcome.output == "ssh was started" }
    )

    static let forwarded = Integration(
        name: "token by a forwarded socket",
        account: "forwarded",
        verdicts: forToken(gone: ended, killed: ended),
        use: { try await $0.scene.authctlElsewhere("token", $0.target) },
        isAnswer: { outcome, use in
            outcome.end == .exited(0) && outcome.output == use.tokens.access.accessToken
        }
    )

    // MARK: Where a token may go

    private static let confirmWithoutAgent = Integration(
        name: "--confirm, no agent",
        account: "confirm-alone",
        verdicts: everywhere(.refusal(77, "authagent, which would ask you, is not running")).merging([
            .notRunning: .refusal(69, "no daemon answers"), .killed: .refusal(69, askedAgain),
            .tokenFolderGone: .leftOut(noTokenFile), .unknown: .leftOut("an account that is none asks nobody"),
        ]) { $1 },
        asksFirst: true,
        use: { try await $0.scene.stage.authctl("token", $0.target) },
        isAnswer: { _, _ in false }
    )

    private static let agentIsCut = "its agent loses the daemon, too"

    private static let confirmed = Integration(
        name: "--confirm, allowed",
        account: "confirm-allowed",
        verdicts: forToken().merging([
            .killed: .leftOut(agentIsCut), .activated: .leftOut(agentIsCut),
            .unknown: .leftOut("an account that is none asks nobody"),
        ]) { $1 },
        asksFirst: true,
        use: { try await $0.askWithAgent() },
        isAnswer: { outcome, use in
            outcome.end == .exited(0) && outcome.output == use.tokens.access.accessToken
        }
    )

    private static let forgetAfter = Integration(
        name: "--forget-after, when it is over",
        account: "forget",
        settings: { $0.forgetAfterSec = 600 },
        verdicts: everywhere(.leftOut("its time runs there as with nothing wrong")).merging([
            .nothing: .refusal(5, "is signed out"), .restarted: .refusal(5, "is signed out"),
            .serverDown: .refusal(5, "is signed out"), .notRunning: .refusal(69, "no daemon answers"),
            .diskFull: .refusal(75, "store"),
        ]) { $1 },
        endsByItself: true,
        use: { use in
            let end = try use.scene.tokens(of: use.target).signOutAtUSec ?? 0
            // Without a daemon, time needs not pass.
            if use.fault != .notRunning { try await use.scene.stage.pass(until: end) }
            return try await use.scene.stage.authctl("token", use.target)
        },
        isAnswer: { _, _ in false }
    )
}
