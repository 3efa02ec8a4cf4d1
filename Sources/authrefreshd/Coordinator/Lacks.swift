internal import AccountStorage
internal import Logging

/// What the daemon lacks, and works on without.
struct Lacks: Sendable {
    /// Descriptors for callers, who are let in one at a time.
    var descriptors = false
    /// Why the next daemon would not find the store's key; nil if it would.
    var key: StoreKeyError?

    /// A sentence for each.
    var texts: [String] {
        var texts: [String] = []
        if descriptors { texts.append("no descriptor is left, callers are let in one at a time") }
        if let key { texts.append("the store's key is gone: \(key.description)") }
        return texts
    }
}

extension RefreshCoordinator {
    /// Notes whether there are descriptors for callers.
    func descriptorsChanged(areLacking: Bool) {
        lacks.descriptors = areLacking
        onStatusChange()
    }

    /// Looks whether the next daemon would find the store's key; a keyring that is locked or away for the moment says nothing of that.
    func checkKey() async {
        let (keyring, identifier) = (keyring, store.keyIdentifier)
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) {
            Result { () throws(StoreKeyError) in try keyring.locate(identifier) }
        }
        // A change of the key that began or ended meanwhile has taken away the one that was looked for; it looks after the new one itself.
        guard rekeying == nil, store.keyIdentifier == identifier else { return }
        switch place {
        case .success: keyFound()
        case .failure(let error) where !error.isPassing:
            if lacks.key == nil { changeLog.write(.keyGone, [JournalKey.error: "\(error.description)"]) }
            lacks.key = error
        case nil, .failure: return
        }
        onStatusChange()
    }

    /// Notes that the key is where it is looked for.
    func keyFound() {
        guard lacks.key != nil else { return }
        lacks.key = nil
        changeLog.write(.keyReturned)
    }
}
