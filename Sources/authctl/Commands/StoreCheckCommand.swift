internal import ArgumentParser
internal import AuthRefreshInterface

/// `authctl store check`.
struct StoreCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the whole store while the daemon works.",
        discussion: """
            Checks the database file, the row of each account, the seal of each secret, the schedule, the permissions of the \
            files and the store's key. Nothing is changed. The daemon goes on serving: it copies the store beside itself, sealed as \
            it is, and checks the copy, which takes as much space as the store until the end, and about a minute with a million \
            accounts.

            Each finding is told with what to do about it, the first 1000 of them. Exit status: 0 if the store is sound, 65 if \
            something was found, 75 if it could not be checked.

            Examples:

              authctl store check
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        var last: CheckStore.Reply?
        var findings: [StoreFinding] = []
        try daemon.ask(.checkStore, CheckStore.Parameters(), forEach: CheckStore.Reply.self) {
            reply throws(AuthctlError) in
            last = reply
            // People read while it goes on, programs get it all in one answer.
            if output.json { findings += reply.findings } else { try show(reply.findings) }
        }
        guard var last else { throw .connection(.unreadableReply) }
        last.findings = findings
        let noun = last.accounts == 1 ? "account" : "accounts"
        try output.print(last, or: "\(last.accounts) \(noun) checked: \(Self.verdict(last.found))\n")
        guard last.found == 0 else { throw .reported(.badData) }
    }

    private func show(_ findings: [StoreFinding]) throws(AuthctlError) {
        for finding in findings {
            let subject = finding.account.map { "account '\(PlainText.line($0))'" } ?? "store"
            try StandardOutput.show(
                "\(subject): \(PlainText.line(finding.summary))\n    \(PlainText.line(finding.hint))\n"
            )
        }
    }

    private static func verdict(_ found: Int64) -> String {
        switch found {
        case 0: "the store is sound"
        case 1: "1 finding"
        default: "\(found) findings"
        }
    }
}
