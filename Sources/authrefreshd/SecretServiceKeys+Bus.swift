internal import AccountStorage
internal import RefreshCore
internal import SecretService

extension SecretServiceKeys {
    /// The items of the store in `stateDirectory`, at the Secret Service on this bus.
    ///
    /// - Parameter address: of the session bus; nil if there is none.
    static func onSessionBus(_ address: String?, stateDirectory: String) -> SecretServiceKeys {
        let ours = ["xdg:schema": "io.authrefresh.StoreKey", "store": stateDirectory]
        @Sendable func withSession<Result>(
            _ body: (SecretServiceSession) throws(SecretServiceError) -> Result
        ) throws(StoreKeyError) -> Result {
            guard let address else { throw .secretServiceUnavailable(reason: "there is no session bus") }
            do throws(SecretServiceError) {
                return try body(SecretServiceSession(address: address))
            } catch {
                throw StoreKeyError(error)
            }
        }
        return SecretServiceKeys(
            load: { () throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in try session.secrets(ours) }
            },
            add: { (contents, identifier) throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in
                    try session.create(
                        contents,
                        label: "Key of the token store of authrefreshd (\(stateDirectory))",
                        attributes: ours.merging(["key": identifier]) { $1 }
                    )
                }
            },
            removeOthers: { (identifier) throws(StoreKeyError) in
                try withSession { (session) throws(SecretServiceError) in
                    try session.delete(ours, sparing: ["key": identifier])
                }
            }
        )
    }
}

extension StoreKeyError {
    fileprivate init(_ error: SecretServiceError) {
        switch error {
        case .locked: self = .secretServiceLocked
        case .unavailable(let reason): self = .secretServiceUnavailable(reason: reason)
        case .refused(let reason): self = .secretServiceRefused(reason: reason)
        }
    }
}
