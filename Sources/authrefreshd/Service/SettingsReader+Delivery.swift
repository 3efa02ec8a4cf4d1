internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// Reads the settings about how programs get the token.
extension SettingsReader {
    func check(delivery settings: inout AccountSettings) throws(VarlinkError) {
        let urls = settings.urls ?? []
        try Limit.urls.check(urls.count, atMost: CallerLimits.urlsMax)
        for url in urls where ServiceAddress(url) == nil {
            throw Complaint(
                field: "urls",
                "'\(url)' is not an address that a token may be sent to",
                hint: "https://HOST/PATH, without user name, query and fragment; http on loopback addresses only"
            ).error
        }
        if let username = settings.username, !Self.isUsername(username) {
            throw Complaint(
                field: "username",
                "it is not a user name",
                hint: "1 to 255 visible characters in one line"
            ).error
        }
        if let file = settings.tokenFile, AccountName(file) == nil {
            throw Complaint(
                field: "tokenFile",
                "'\(file)' is not a name for a token file",
                hint: "1 to 64 letters, digits and ._@+-, not starting with - or .; the daemon chooses the folder"
            ).error
        }
        let kind: TokenFile.Kind? = try Complaint.word(
            settings.tokenFileKind,
            field: "tokenFileKind",
            kind: "a known kind"
        )
        guard kind == nil || settings.tokenFile != nil else {
            throw Complaint(
                field: "tokenFileKind",
                "'\(settings.name)' has no token file",
                hint: "--token-file NAME"
            ).error
        }
        guard settings.tokenFile == nil || settings.confirm != true else {
            throw Complaint(
                field: "confirm",
                "the daemon cannot ask you when a program reads the account's token file",
                hint: "--clear token-file, or --clear confirm"
            ).error
        }
        // URLs are stored in normalized form, because they are looked up in that form.
        settings.urls = urls.compactMap { ServiceAddress($0)?.text }
    }

    private static func isUsername(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && !name.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}
