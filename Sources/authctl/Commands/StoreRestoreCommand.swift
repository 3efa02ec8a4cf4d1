internal import ArgumentParser
internal import Glibc

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
        // The daemon's program beside this one: nobody else opens the store.
        let own = Surroundings.real.program
        let program = String(own[..<(own.lastIndex(of: "/") ?? own.startIndex)]) + "/authrefreshd"
        let words = [program] + (connection.socket.map { ["--socket", $0] } ?? []) + ["--restore=" + file]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        unsafe execv(program, &arguments)
        let number = errno
        unsafe arguments.forEach { unsafe free($0) }
        throw .cannotStartDaemon(path: program, errno: number)
    }
}
