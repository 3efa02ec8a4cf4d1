internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics
internal import Glibc

/// `authctl store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Back up, check, re-encrypt and restore the daemon's store.",
        discussion: """
            Examples:

              \(InvokedAs.here) store check
              \(InvokedAs.here) store backup ~/authrefreshd.sqlite
            """,
        subcommands: [
            StoreBackupCommand.self, StoreCheckCommand.self, StoreRekeyCommand.self, StoreRestoreCommand.self,
        ]
    )
}

/// `authctl store backup`.
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Save a copy of the store while the daemon runs.",
        discussion: """
            Examples:

              \(InvokedAs.here) store backup accounts-2026-11-21.sqlite

            The file is created with mode 0600; an existing file is never replaced. Its secrets are encrypted with \
            the store's key. The key is not in the file: keep a copy of the key too, somewhere else. While the key \
            is being changed, no backup can be made. If the change stopped half-way, the backup needs both keys, \
            and the command tells you which.

            The daemon keeps serving tokens meanwhile. It makes a copy beside the store and checks it, so the disk \
            needs room for a second store until this command has the copy. If the command is interrupted, the \
            daemon removes the copy.
            """
    )

    @Argument(help: "The file to make.", completion: .file())
    var file: String

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    /// The time limit in seconds. A million accounts take about a minute to copy and check, and other backups may come
    /// first.
    private static let patience: Int32 = 600

    func run() throws(Report) {
        var daemon = try connection.connect()
        // Create the file first. If the name is unusable, the daemon need not do anything.
        var target = try OutputFile(forSecrets: file)
        let reply = try daemon.ask(BackupStore.Parameters(), patience: Self.patience)
        let source = try Self.take(reply.path)
        defer { close(source) }
        let size = try target.copy(from: source)
        try target.finish()
        let answer: Answer = ["path": file, "bytes": size, "keys": reply.keys]
        try output.print(answer, or: "\(file): \(size) bytes\n")
        guard let keys = reply.keys else {
            return StandardError.note(
                "the file does not contain the store's key; without a copy of the key nobody can open it"
            )
        }
        StandardError.note(
            "a key change is unfinished: the file needs the keys \(keys.joined(separator: " and "));"
                + " finish it, then back up again: \(Command("store", "rekey"))"
        )
    }

    /// Opens the daemon's copy, which disappears when it is closed, whatever happens.
    ///
    /// The name of the copy removes a file. So it must be what the interface says: a numbered copy beside the store.
    private static func take(_ path: String) throws(Report) -> Int32 {
        guard let copy = path.wholeMatch(of: /(\/(?:.*\/)?accounts\.sqlite)\.outgoing-[0-9]+/),
            unsafe access(String(copy.1), F_OK) == 0
        else {
            let reason = "'\(PlainText.line(path))' is not one in the daemon's state folder, and stays as it is"
            throw .cannotReadBackup(reason, status: .badData)
        }
        let source = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw .cannotReadBackup(systemText(errno)) }
        unsafe unlink(path)
        return source
    }
}

/// `authctl store restore`.
struct StoreRestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Replace the store with a backup, while the daemon is stopped.",
        discussion: """
            Examples:

              systemctl --user stop authrefreshd.socket authrefreshd.service
              \(InvokedAs.here) store restore accounts-2026-11-21.sqlite
              systemctl --user start authrefreshd.socket

            Runs 'authrefreshd --restore FILE', which copies FILE, checks the copy, and replaces the store with \
            it. If FILE is damaged, is not a store, or needs another key, nothing changes. FILE itself is never \
            changed. The previous store is kept under a name that is printed; remove it when you no longer need \
            it.

            Stop the daemon first. If the key that FILE was encrypted with is no longer there, put it back. A key \
            that systemd passes as a credential is not passed to this command: name its folder in \
            CREDENTIALS_DIRECTORY.

            The backup does not contain refresh tokens that servers have issued since. Accounts of the backup get them \
            from the previous store. If there is no previous store, or it cannot be read, a server may refuse the old \
            ones: those accounts then need '\(InvokedAs.here) login'. If the backup is from another machine, accounts whose \
            server rotates refresh tokens are parked: see '\(InvokedAs.here) account resume'.

            Exit status: 75 if the disk is full or fails, 77 if the key is missing, 78 if a daemon has the store \
            open or FILE cannot be used.
            """
    )

    @Argument(help: "The backup.", completion: .file())
    var file: String

    @Flag(help: "Accepted by every command; the answer of this one is always text.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        // The daemon's program next to this one, because only the daemon opens the store.
        try ProgramBeside.daemon.become((connection.socket.map { ["--socket", $0] } ?? []) + ["--restore=" + file])
    }
}

/// `authctl store check`.
struct StoreCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the whole store while the daemon runs.",
        discussion: """
            Examples:

              \(InvokedAs.here) store check

            Checks the database file, the row of each account, the encryption of each secret, the schedule, the \
            permissions of the files and the store's key. Nothing is changed. The daemon keeps serving tokens: it \
            makes a copy beside the store, with the secrets still encrypted, and checks the copy. The disk needs \
            room for a second store meanwhile. With a million accounts the check takes about a minute.

            Prints the first 1000 findings, each with what to do about it.

            Exit status: 0 if the store is sound, 65 if something was found, 75 if it could not be checked.
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        var last: CheckStore.Reply?
        var findings: [StoreFinding] = []
        try daemon.ask(CheckStore.Parameters()) {
            reply throws(Report) in
            last = reply
            // People see findings as they come; programs get all of them in one answer.
            if output.json { findings += reply.findings } else { try show(reply.findings) }
        }
        guard var last else { throw .unreadableReply }
        last.findings = findings
        let verdict =
            switch last.found {
            case 0: "the store is sound"
            case 1: "1 finding"
            default: "\(last.found) findings"
            }
        try output.print(last, or: "\(StatusView.accounts(last.accounts)) checked: \(verdict)\n")
        guard last.found == 0 else { throw .reported(.badData) }
    }

    private func show(_ findings: [StoreFinding]) throws(Report) {
        for finding in findings {
            let subject = finding.account.map { "account '\(PlainText.line($0))'" } ?? "store"
            let width = TerminalStyle.standardOutput.width
            let found = "\(subject): \(PlainText.line(finding.summary))"
            let hint = WrappedText.message(finding.help, by: .here, width: width.map { $0 - 4 })
            let lines = WrappedText.lines(found, width: width, indent: 2) + hint.map { "    " + $0 }
            try StandardOutput.show(lines.joined(separator: "\n") + "\n")
        }
    }
}

/// `authctl store rekey`.
struct StoreRekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Encrypt the store with a new key, and destroy the old one.",
        discussion: """
            Examples:

              \(InvokedAs.here) store rekey

            The daemon keeps serving tokens meanwhile. If this command or the daemon is interrupted, the daemon \
            finishes the change later; if you run the command again, it waits for the end.

            The configuration decides where the new key is kept: in a systemd credential 'store-key.next' if the \
            daemon was given one, in the Secret Service with 'store_key: secret-service', otherwise in the key \
            file. So this also moves the key from one place to another. Only you can replace a key that is a \
            systemd credential: pass the new one as 'store-key.next' beside the old one, restart the daemon, run \
            this, then make it 'store-key'.

            Earlier backups open only with the old key. The copy that an upgrade kept beside the store, \
            'accounts.sqlite.before-upgrade', is removed. Stores that '\(InvokedAs.here) store restore' kept stay encrypted \
            with the old key: remove them yourself.
            """
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        var daemon = try connection.connect()
        var last: RekeyStore.Reply?
        try daemon.ask(RekeyStore.Parameters()) { last = $0 }
        guard let last, let key = last.key, let place = last.place else { throw .unreadableReply }
        try output.print(
            last,
            or: "\(StatusView.accounts(last.accounts)) encrypted with the new key \(PlainText.line(key)),"
                + " kept in \(Self.words(for: place))\n"
        )
        if last.unreadable > 0 {
            StandardError.note(
                "no key opens \(last.unreadable) of the secrets; they were left as they are: \(Command("status"))"
            )
        }
        if let leftover = last.leftover {
            StandardError.note("the old key is not destroyed yet: \(PlainText.line(leftover))")
        }
        StandardError.note(
            "earlier backups open only with the old key; make a new one: \(Command("store", "backup", "FILE"))"
        )
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
