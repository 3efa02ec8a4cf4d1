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
            throw .invalid(WrongDelivery.noTokenAddress(url))
        }
        if let username = settings.username, !Self.isUsername(username) {
            throw .invalid(WrongDelivery.noUserName)
        }
        if let file = settings.tokenFile, AccountName(file) == nil {
            throw .invalid(WrongDelivery.noFileName(file))
        }
        if let kind = settings.tokenFileKind {
            guard TokenFile.Kind(rawValue: kind) != nil else {
                let known = TokenFile.Kind.allCases.map(\.rawValue)
                throw .invalid(WrongDelivery.unknownFileKind(name: kind, known: known))
            }
            guard settings.tokenFile != nil else {
                throw .invalid(WrongDelivery.fileKindWithoutFile(account: settings.name))
            }
        }
        guard settings.tokenFile == nil || settings.confirm != true else {
            throw .invalid(WrongDelivery.cannotAskBeforeFile)
        }
        var delivery = try meaning(try settings.delivery())
        // URLs are stored in normalized form, because they are looked up in that form.
        delivery.urls = urls.compactMap { ServiceAddress($0)?.text }
        return delivery
    }

    private static func isUsername(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && !name.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}
