internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// Reads the settings about how programs get the token.
extension SettingsReader {
    func delivery(_ settings: AccountSettings) throws(VarlinkError) -> Delivery {
        let urls = settings.urls ?? []
        guard urls.count <= CallerLimits.urlsMax else {
            throw VarlinkError(LimitExceededError(.urls, maximum: CallerLimits.urlsMax))
        }
        for url in urls where ServiceAddress(url) == nil {
            throw .invalidSetting(
                "urls",
                "'\(url)' is no address that a token may go to",
                "https://HOST/PATH, without a name, a query or a fragment; http on loopback addresses only"
            )
        }
        if let username = settings.username, !Self.isUsername(username) {
            throw .invalidSetting("username", "it is no user name", "1 to 255 visible characters in one line")
        }
        if let file = settings.tokenFile, AccountName(file) == nil {
            throw .invalidSetting(
                "tokenFile",
                "'\(file)' is no name for a token file",
                "1 to 64 letters, digits and ._@+-, not starting with - or .; the folder is the daemon's"
            )
        }
        if let kind = settings.tokenFileKind {
            guard TokenFile.Kind(rawValue: kind) != nil else {
                let known = TokenFile.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidSetting("tokenFileKind", "'\(kind)' is no kind known here", "known: \(known)")
            }
            guard settings.tokenFile != nil else {
                throw .invalidSetting("tokenFileKind", "'\(settings.name)' has no token file", "--token-file NAME")
            }
        }
        guard settings.tokenFile == nil || settings.confirm != true else {
            throw .invalidSetting(
                "confirm",
                "nobody can be asked before a program reads the account's token file",
                "--clear token-file, or --clear confirm"
            )
        }
        var delivery = try meaning(try settings.delivery())
        // In normalized form, in which they are looked up.
        delivery.urls = urls.compactMap { ServiceAddress($0)?.text }
        return delivery
    }

    private static func isUsername(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && !name.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}
