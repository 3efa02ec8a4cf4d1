internal import AccountStorage
internal import Dispatch
internal import SecretService
internal import Systemd

/// The daemon while the store's key is locked: it serves, says so, and waits for the key.
///
/// The Secret Service is asked again when it says that something has changed, when it comes or goes, and when a caller asks; there is
/// no polling. Nobody is prompted.
struct KeyWait {
    let keyring: StoreKeyring
    /// Nil: there is no session bus.
    let busAddress: String?
    let gate: ServiceGate
    let manager: ServiceManagerLink
    let changeLog: ChangeLog
    let happened: AsyncStream<Happening>.Continuation

    /// Returns when the Secret Service gives its keys.
    ///
    /// - Returns: false if the daemon is to end.
    func run(_ happenings: AsyncStream<Happening>, because error: StoreKeyError) async -> Bool {
        var error = error
        changeLog.storeLocked(error)
        manager.ready(status: status(error))
        var watch = watch()
        defer { watch?.cancel() }
        for await happening in happenings {
            switch happening {
            case .signal(.hangUp):
                manager.reloading()
                manager.ready(status: status(error))
            case .signal(.interrupt), .signal(.terminate):
                manager.stopping()
                return false
            case .busLost: watch = nil
            case .keyMayBeThere:
                if watch == nil { watch = self.watch() }
                // A keyring that refuses may be in the middle of its start: while one waits, that passes too.
                guard let still = await refusal() else { return true }
                guard still != error else { continue }
                error = still
                await gate.lock(error)
                manager.status(status(error))
            }
        }
        return false
    }

    /// Why the key cannot be had; nil if it can.
    private func refusal() async -> StoreKeyError? {
        let keyring = keyring
        let result = await BlockingCall.result { () throws(StoreKeyError) in try keyring.askSecretService() }
        switch result {
        case .success: return nil
        case .failure(let error): return error
        }
    }

    /// Nil if there is no bus now: the next caller has it looked for again.
    private func watch() -> SecretServiceWatch? {
        guard let busAddress else { return nil }
        return try? SecretServiceWatch(
            queue: gate.executor.queue,
            address: busAddress,
            onLost: { [happened] in happened.yield(.busLost) },
            onChange: { [happened] in happened.yield(.keyMayBeThere) }
        )
    }

    private func status(_ error: StoreKeyError) -> String {
        "locked: \(error.description); \(error.hint)"
    }
}
