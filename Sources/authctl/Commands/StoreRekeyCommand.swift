internal import ArgumentParser
internal import AuthRefreshInterface

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
