internal import AccountStorage
internal import AuthRefreshInterface
internal import RefreshCore

/// Checks the store's files and its key.
struct StoreInspection: Sendable {
    /// With less free space, a store that grows by a few accounts is in danger. A backup or a change of the key needs
    /// more.
    private static let leastFreeSpace: Int64 = 64 << 20
    /// SQLite cuts the log back to 8 MiB at each checkpoint. A much longer log has had no checkpoint for a long time.
    private static let longestLog: Int64 = 256 << 20

    let condition: DaemonCondition

    func run(_ tell: (Finding) -> Void) async {
        let path = condition.storePath
        if let files = await BlockingCall.result(within: Diagnosis.fileLimit, of: { StoreCondition(path: path) }) {
            storeFindings(files).forEach(tell)
        } else {
            tell(StoreFileFinding.hangs(limit: Diagnosis.fileLimit).finding(at: path))
        }
        // The place of the key is the store's folder, which is not there either.
        if case .gone = condition.overview.trouble { return }
        let (keyring, identifier) = (condition.keyring, condition.keyIdentifier)
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) {
            Result { () throws(StoreKeyError) in try keyring.locate(identifier) }
        }
        tell(keyFinding(place))
        if condition.isRekeying { tell(KeyFinding.rekeying.finding) }
    }

    private func storeFindings(_ files: StoreCondition) -> [Finding] {
        var findings: [StoreFileFinding] = []
        if let trouble = condition.overview.trouble { findings.append(.trouble(trouble)) }
        if let mode = files.mode {
            if mode & 0o077 != 0 { findings.append(.fileOpen(mode: mode)) }
        } else if !condition.storeHasName || findings.isEmpty {
            findings.append(.fileGone)
        }
        if let mode = files.folderMode, mode & 0o022 != 0 { findings.append(.folderOpen(mode: mode)) }
        if files.logSize > Self.longestLog { findings.append(.logGrown(bytes: files.logSize)) }
        if let free = files.freeSpace, free < Self.leastFreeSpace { findings.append(.littleSpace(bytes: free)) }
        if findings.isEmpty {
            findings.append(.well(bytes: files.size, log: files.logSize, free: files.freeSpace))
        }
        return findings.map { $0.finding(at: files.path) }
    }

    private func keyFinding(_ place: Result<StoreKeyPlace, StoreKeyError>?) -> Finding {
        switch place {
        case nil: KeyFinding.hangs(limit: Diagnosis.fileLimit).finding
        case .success(let place): KeyFinding.found(place, file: condition.keyring.source.keyFilePath).finding
        case .failure(let error) where error.isPassing: KeyFinding.unavailable(error).finding
        case .failure(let error): KeyFinding.gone(error).finding
        }
    }
}
