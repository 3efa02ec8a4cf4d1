internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// `authctl apply`.
struct ApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Give accounts the settings in a file: add what is missing, change what differs.",
        discussion: """
            Examples:

              \(InvokedAs.here) account export --settings > accounts.json
              \(InvokedAs.here) apply accounts.yaml --dry-run
              \(InvokedAs.here) apply accounts.yaml

            The file is YAML or JSON. It has a list 'accounts' with the settings of each account, by the names that \
            '\(InvokedAs.here) account show --json' prints:

              accounts:
                - name: work
                  provider: google
                  clientId: 1234.apps.googleusercontent.com
                  clientSecretFile: ~/.config/work.secret
                  scopes: [openid, email]

            The file describes the whole of an account's settings: a setting that it leaves out is cleared. Grants \
            stay as they are, and so do accounts that the file does not name, unless you use --prune. The daemon \
            checks everything first, and stores all of it at once or nothing.

            The file never contains a secret. clientSecretFile and clientKeyFile name a file, and \
            clientSecretCredential and clientKeyCredential a systemd credential. A secret that the file does not \
            name stays.

            If an account asks first (confirm), you are asked on the desktop before it is changed or removed. The \
            answer is one line for each account, and with --json also whether anything was changed. --dry-run also \
            shows the old and the new value of each setting.
            """
    )

    @Argument(help: "The file; '-' reads standard input.", completion: .file())
    var file: String

    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @Flag(help: "Also remove accounts that the file does not name, with their tokens.")
    var prune = false

    @Flag(
        help:
            "Do not ask before --prune removes accounts; sign out at once where forgetAfterSec is over; set lists of allowed callers that you are not on."
    )
    var yes = false

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    /// The time limit in seconds: a person may be asked about several accounts.
    private static let patience: Int32 = 600

    func run() throws(Report) {
        guard !prune || yes || dryRun || Question.canBeAsked && file != "-" else {
            throw .usage(
                "'--prune' removes accounts with their tokens, and nobody can be asked",
                hint: Hint(Command(words: ["apply", "FILE", "--prune", "--yes"]))
            )
        }
        let words = ["--called", InvokedAs.here.name, "--settings", file] + (output.json ? ["--json"] : [])
        let json = try ProgramBeside.importer.output(words, bytesMax: SettingsFile.bytesMax)
        let described = try SettingsFile(json).accounts
        var daemon = try connection.connect()
        var parameters = ApplyAccounts.Parameters(accounts: described)
        parameters.prune = prune ? true : nil
        parameters.signOutNow = yes ? true : nil
        if prune, !yes, !dryRun { try confirm(parameters, &daemon) }
        parameters.dryRun = dryRun ? true : nil
        let applied = try daemon.ask(
            parameters,
            settingList: \.withoutCaller,
            isMeant: yes,
            patience: Self.patience
        ).accounts
        let isChange = applied.contains { $0.outcome != "unchanged" }
        let answer: Answer = ["accounts": applied, "changed": isChange, "dryRun": dryRun]
        try output.print(answer, or: applied.map(line).joined())
        if !dryRun { finish(described, applied) }
    }

    /// Asks before accounts are removed.
    private func confirm(
        _ parameters: ApplyAccounts.Parameters,
        _ daemon: inout DaemonConnection
    ) throws(Report) {
        var trial = parameters
        trial.dryRun = true
        trial.withoutCaller = true
        let accounts = try daemon.ask(trial, patience: Self.patience).accounts
        let removed = accounts.filter { $0.outcome == "removed" }.map { "'\(PlainText.line($0.account))'" }
        guard !removed.isEmpty else { return }
        let question = "The file does not name \(removed.joined(separator: ", ")). Remove them with their tokens?"
        guard try Question.confirm(question) else { throw .cancelled }
    }

    /// What was done with one account, or would be, as a line with a newline.
    private func line(_ account: AppliedAccount) -> String {
        let outcome =
            switch (account.outcome, dryRun) {
            case ("added", true): "would be added"
            case ("changed", true): "would be changed"
            case ("removed", true): "would be removed"
            default: account.outcome
            }
        let settings = account.settings.map { ": " + $0.joined(separator: ", ") } ?? ""
        return PlainText.line("\(account.account): \(outcome)\(settings)") + "\n" + difference(account)
    }

    /// The values that would change, as the file has them: `-` before each old one and `+` before each new one.
    private func difference(_ account: AppliedAccount) -> String {
        guard let before = account.before, let after = account.after else { return "" }
        return Setting.all.filter { before[$0] != after[$0] }.flatMap { setting in
            [("-", before[setting]), ("+", after[setting])].compactMap { sign, value in
                value.map { "  \(sign) \(setting.name): \(PlainText.line($0.fileText))\n" }
            }
        }.joined()
    }

    /// What else a new or changed account needs on this desktop.
    private func finish(_ described: [DescribedAccount], _ applied: [AppliedAccount]) {
        var signedOut: [String] = []
        for (account, outcome) in zip(described.map(\.settings), applied.map(\.outcome)) where outcome != "unchanged" {
            account.warnOfTokenFile(by: account)
            SchemeHandler.register(for: account)
            if outcome == "added", account.grantType == nil { signedOut.append(account.name) }
        }
        guard !output.json, let first = signedOut.first else { return }
        let name = signedOut.count == 1 ? PlainText.line(first) : "ACCOUNT"
        StandardError.note("next: \(Command("login", name))")
    }
}

extension SettingValue {
    /// The value as it stands in a file, in JSON and YAML alike.
    fileprivate var fileText: String {
        switch self {
        case .text(let text): JSONText.quote(text)
        case .list(let texts): "[\(texts.map(JSONText.quote).joined(separator: ", "))]"
        case .map(let members):
            "{\(members.sorted { $0.key < $1.key }.map { "\(JSONText.quote($0)): \(JSONText.quote($1))" }.joined(separator: ", "))}"
        case .flag(let flag): String(flag)
        case .number(let number), .seconds(let number): String(number)
        }
    }
}
