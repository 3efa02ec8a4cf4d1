internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// The store's files and its key.
extension DaemonCondition {
    /// With less free space, a store that grows by a few accounts is in danger. A backup or a change of the key needs
    /// more.
    private static let leastFreeSpace: Int64 = 64 << 20
    /// SQLite cuts the log back to 8 MiB at each checkpoint. A much longer log has had no checkpoint for a long time.
    private static let longestLog: Int64 = 256 << 20

    func checkStore(_ tell: (Finding) -> Void) async {
        let path = storePath
        let files = await BlockingCall.result(within: Diagnosis.fileLimit) { StoreCondition(path: path) }
        let silence = Finding.error(
            .store,
            "the store's file system has not answered within \(Diagnosis.fileLimit.words)",
            of: path,
            needs: .time,
            advice: "look at the file system: \(Command(program: "findmnt"))"
        )
        (files.map(storeFindings) ?? [silence]).forEach(tell)
        // The place of the key is the store's folder, which is not there either.
        if case .gone = overview.trouble { return }
        let place = await BlockingCall.result(within: Diagnosis.fileLimit) { [keyring, keyIdentifier] in
            Result { () throws(StoreKeyError) in try keyring.locate(keyIdentifier) }
        }
        tell(keyFinding(place))
        if isRekeying {
            let wait: Hint = "\(Command("store", "rekey")) waits until that is done"
            tell(.note(.key, "the store is being encrypted with a new key", advice: wait))
        }
    }

    private func storeFindings(_ files: StoreCondition) -> [Finding] {
        let path = files.path
        var findings: [Finding] = []
        if let trouble = overview.trouble {
            let advice = trouble.hint ?? Hint(Command(program: "journalctl", "--user", "-u", "authrefreshd"))
            findings.append(.error(.store, trouble.description, of: path, needs: .repair, advice: advice))
        }
        if files.mode == nil, !storeHasName || findings.isEmpty {
            findings.append(
                .error(
                    .store,
                    "the file is gone: the daemon still has it open, but loses it when it stops",
                    of: path,
                    needs: .repair,
                    advice:
                        "before you restart it: \(Command("store", "backup", "FILE")), then stop it, then "
                        + "\(Command("store", "restore", "FILE"))"
                )
            )
        }
        findings += permissionFindings(files) + sizeFindings(files)
        guard findings.isEmpty else { return findings }
        let free = files.freeSpace.map { ", \(Self.size($0)) are free" } ?? ""
        let sizes = "\(Self.size(files.size)), log \(Self.size(files.logSize))\(free)"
        return [.ok(.store, "closed to other users; \(sizes)", of: path)]
    }

    private func permissionFindings(_ files: StoreCondition) -> [Finding] {
        var findings: [Finding] = []
        if let mode = files.mode, mode & 0o077 != 0 {
            findings.append(
                .error(
                    .store,
                    "other users can open it (mode 0\(String(mode, radix: 8)))",
                    of: files.path,
                    needs: .repair,
                    advice: Hint(Command(program: "chmod", "600", path: files.path))
                )
            )
        }
        if let mode = files.folderMode, mode & 0o022 != 0 {
            findings.append(
                .error(
                    .store,
                    "other users can write to its folder (mode 0\(String(mode, radix: 8)))",
                    of: files.path,
                    needs: .repair,
                    advice: "\(Command(program: "chmod", "700")) its folder"
                )
            )
        }
        return findings
    }

    private func sizeFindings(_ files: StoreCondition) -> [Finding] {
        var findings: [Finding] = []
        if files.logSize > Self.longestLog {
            findings.append(
                .warning(
                    .store,
                    "its write-ahead log has grown to \(Self.size(files.logSize))",
                    of: files.path,
                    needs: .repair,
                    advice: Hint(Command(program: "systemctl", "--user", "restart", "authrefreshd"))
                )
            )
        }
        if let free = files.freeSpace, free < Self.leastFreeSpace {
            findings.append(
                .warning(
                    .store,
                    "its file system has only \(Self.size(free)) left",
                    of: files.path,
                    needs: .repair,
                    advice: "free some space: the daemon cannot keep what the servers send on a full disk"
                )
            )
        }
        return findings
    }

    /// `512 bytes`, `12 KiB`, `3 MiB` or `2 GiB`, never rounded up.
    private static func size(_ bytes: Int64) -> String {
        switch bytes {
        case ..<1024: "\(bytes) bytes"
        case ..<(1 << 20): "\(bytes >> 10) KiB"
        case ..<(10 << 30): "\(bytes >> 20) MiB"
        default: "\(bytes >> 30) GiB"
        }
    }

    private func keyFinding(_ place: Result<StoreKeyPlace, StoreKeyError>?) -> Finding {
        switch place {
        case nil:
            .warning(
                .key,
                "the place of the key has not answered within \(Diagnosis.fileLimit.words)",
                needs: .time,
                advice: "a daemon that starts now has to wait for it: look at the file system and the keyring"
            )
        case .success(let place): .ok(.key, "the store's key is \(words(place))")
        case .failure(let error) where error.isPassing:
            .warning(.key, error.description, needs: .time, advice: error.hintWhileOpen)
        case .failure(let error):
            .error(
                .key,
                "\(error): this daemon still works, but could not open the store after a restart",
                needs: .repair,
                advice: error.hintWhileOpen
            )
        }
    }

    private func words(_ place: StoreKeyPlace) -> String {
        let file = keyring.source.keyFilePath
        return switch place {
        case .credential: "the systemd credential '\(StoreKeySource.name)'"
        case .nextCredential: "the systemd credential '\(StoreKeySource.nextName)'"
        case .secretService: "in the Secret Service"
        case .file: "in '\(file)', closed to other users"
        case .nextFile: "in '\(file).next', closed to other users"
        }
    }
}
