internal import ArgumentParser
internal import AuthRefreshInterface
internal import CommandLineProgram
internal import Glibc
internal import Terminal

/// `authctl store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look after the daemon's store.",
        subcommands: [
            StoreBackupCommand.self, StoreCheckCommand.self, StoreRekeyCommand.self, StoreRestoreCommand.self,
        ]
    )
}

/// `authctl store backup`.
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Save a copy of the store while the daemon works.",
        discussion: """
            The file is created with mode 0600; an existing file is never replaced. Its secrets are encrypted with \
            the store's key. The key is not in the file: keep a copy of the key too, somewhere else. While the key \
            is being changed, no backup can be made. If the change stopped half-way, the backup needs both keys, and \
            the command tells you which.

            The daemon goes on serving meanwhile. It copies the store beside itself and checks the copy, which takes as much \
            space as the store until this command has it. If the command is interrupted, the daemon removes its copy.

            Examples:

              authctl store backup accounts-2026-11-21.sqlite
            """
    )

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    /// The time limit in seconds. A million accounts take about a minute to copy and check, and other backups may come
    /// first.
    private static let patience: Int32 = 600

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        // Create the file first. If the name is unusable, the daemon need not do anything.
        var target = try NewFile(path: file)
        let reply = try daemon.ask(
            .backupStore,
            BackupStore.Parameters(),
            for: BackupStore.Reply.self,
            patience: Self.patience
        )
        let source = unsafe open(reply.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw .cannotReadBackup(errno: errno) }
        // From here on, the copy disappears when it is closed, whatever happens.
        unsafe unlink(reply.path)
        defer { close(source) }
        let size = try target.copy(from: source)
        try target.keep()
        try output.print(FileAnswer(path: file, bytes: size, keys: reply.keys), or: "\(file): \(size) bytes\n")
        guard let keys = reply.keys else {
            return StandardError.note(
                "the store's key is not in this file; without a copy of the key it cannot be opened"
            )
        }
        StandardError.note(
            "a change of the store's key is unfinished: this file opens with the keys \(keys.joined(separator: " and "))"
                + " together only, which are not in it; finish the change with authctl store rekey, then make another backup"
        )
    }
}

/// `authctl store restore`.
struct StoreRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put a backup in the place of the store, while the daemon is stopped.",
        discussion: """
            Runs 'authrefreshd --restore FILE', which copies FILE, checks the copy, and puts it in the place of the store. If \
            FILE is damaged, is not a store, or needs another key, nothing changes. FILE itself is never changed. The store from \
            before is kept under a name that is printed; remove it when you do not need it any more.

            Stop the daemon first, and put the key back that FILE was sealed with, if it is not there. A key that systemd \
            passes as a credential is not passed to this command: name its folder in CREDENTIALS_DIRECTORY.

            Refresh tokens that were replaced since the backup was made are in it in their old form, and the server may refuse \
            them: those accounts then need 'authctl login'.

            Exit status: 75 if the disk is full or fails, 77 if the key is missing, 78 if a daemon has the store open or FILE \
            cannot be used.

            Examples:

              systemctl --user stop authrefreshd.socket authrefreshd.service
              authctl store restore accounts-2026-11-21.sqlite
              systemctl --user start authrefreshd.socket
            """
    )

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @Flag(help: "Accepted, as by every command; the answer is text all the same.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        // The daemon's program next to this one, because only the daemon opens the store.
        try ProgramBeside.daemon.become((connection.socket.map { ["--socket", $0] } ?? []) + ["--restore=" + file])
    }
}

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
            // People see findings as they come; programs get all of them in one answer.
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

/// `authctl store rekey`.
struct StoreRekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Seal the store with a new key, and destroy the old one.",
        discussion: """
            The daemon goes on serving meanwhile. If this command or the daemon is interrupted, the change is finished later by \
            itself; running it again waits for the end.

            The new key is kept where the configuration says: a systemd credential 'store-key.next' if the daemon was given \
            one, the Secret Service with 'store_key: secret-service', otherwise the key file. So this also moves the key from \
            one place to another. A key that is a systemd credential can only be replaced by you: pass the new one as \
            'store-key.next' beside the old one, restart the daemon, run this, then make it 'store-key'.

            Backups made before open with the old key only. The copy that an upgrade kept beside the store, \
            'accounts.sqlite.before-upgrade', is removed. Stores that 'authctl store restore' kept stay sealed with the old \
            key: remove them yourself.

            Examples:

              authctl store rekey
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        var last: RekeyStore.Reply?
        try daemon.ask(.rekeyStore, RekeyStore.Parameters(), forEach: RekeyStore.Reply.self) { last = $0 }
        guard let last, let key = last.key, let place = last.place else { throw .connection(.unreadableReply) }
        let noun = last.accounts == 1 ? "account" : "accounts"
        try output.print(
            last,
            or:
                "\(last.accounts) \(noun) sealed with the new key \(PlainText.line(key)), kept in \(Self.words(for: place))\n"
        )
        if last.unreadable > 0 {
            StandardError.note("\(last.unreadable) secrets open with no key and stay as they are: authctl status")
        }
        if let leftover = last.leftover {
            StandardError.note("the old key is not destroyed yet: \(PlainText.line(leftover))")
        }
        StandardError.note("earlier backups open with the old key only; make a new one: authctl store backup FILE")
    }

    private static func words(for place: String) -> String {
        switch place {
        case "credential": "the systemd credential 'store-key'"
        case "next-credential": "the systemd credential 'store-key.next'"
        case "secret-service": "the Secret Service"
        case "file": "the key file"
        // A newer daemon may know more places.
        default: PlainText.line(place)
        }
    }
}
