internal import ArgumentParser
internal import AuthRefreshInterface
internal import Glibc

/// `authctl store backup`.
struct StoreBackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Save a copy of the store while the daemon works.",
        discussion: """
            The file is made with mode 0600; an existing one is never replaced. The secrets in it are sealed with the \
            store's key, which is not part of it: keep a copy of the key too, elsewhere. While the key is being changed no \
            copy is made; if the change came to a halt, the copy takes both keys, and you are told which.

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

    /// Seconds. A million accounts take about one minute to copy and check, and other backups may be in front.
    private static let patience: Int32 = 600

    func run() throws(AuthctlError) {
        var daemon = try connection.connect()
        // First the file, then the copy: a name that cannot be used costs the daemon nothing.
        var target = try NewFile(path: file)
        let reply = try daemon.ask(
            .backupStore,
            BackupStore.Parameters(),
            for: BackupStore.Reply.self,
            patience: Self.patience
        )
        let source = unsafe open(reply.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw .cannotReadBackup(errno: errno) }
        // Whatever happens from here on, the copy goes when it is closed.
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
