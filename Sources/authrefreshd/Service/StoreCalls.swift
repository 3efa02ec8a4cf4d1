internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import RefreshCore
internal import Synchronization
internal import Varlink

/// The calls about the whole store.
extension RefreshCoordinator {
    func backupStore(_: BackupStore.Parameters, _ responder: VarlinkResponder) throws(VarlinkError) {
        let tell: @Sendable (Result<FinishedCopy, StoreKeepingError>) -> Void = { result in
            switch result {
            case .success(let copy):
                let keys = copy.keyIdentifiers
                responder.reply(BackupStore.Reply(path: copy.path, keys: keys.count > 1 ? keys : nil))
            case .failure(.store(let error)): responder.fail(VarlinkError(error))
            case .failure(.interrupted):
                let error = StoreUnavailableError(
                    reason: "the daemon is stopping; no backup was made",
                    hint: "repeat the command: \(Command("store", "backup", "FILE"))"
                )
                responder.fail(error.error)
            }
        }
        let caller = try stored(receive(storeKeeping.backUp(tell)))
        responder.onDisconnect { self.later { $0.carryOut($0.storeKeeping.forgetBackupCaller(caller)) } }
    }

    func rekeyStore(_: RekeyStore.Parameters, wantsMore: Bool, _ responder: VarlinkResponder) throws(VarlinkError) {
        let total = try stored(overview()).accounts
        let tell: @Sendable (Rekeying.News) -> Void = { news in
            switch news {
            case .progress(let progress):
                guard wantsMore else { return }
                responder.reply(RekeyStore.Reply(progress, total: total), continues: true)
            case .end(.success(let outcome)): responder.reply(RekeyStore.Reply(outcome))
            case .end(.failure(.store(.key(let error)))) where error.isPassing:
                responder.fail(StoreLockedError(reason: error.description, hint: error.hint).error)
            case .end(.failure(.store(.key(let error)))):
                responder.fail(KeyNotReplacedError(reason: error.description, hint: error.hint).error)
            case .end(.failure(.store(let error))): responder.fail(VarlinkError(error))
            case .end(.failure(.interrupted)):
                let error = StoreUnavailableError(
                    reason: "the daemon is stopping; it continues the change of the key when it starts again",
                    hint: "\(Command("store", "rekey")) waits until that is done"
                )
                responder.fail(error.error)
            }
        }
        let follower = receive(storeKeeping.rekey(tell))
        responder.onDisconnect { self.later { $0.storeKeeping.forgetRekeyFollower(follower) } }
    }

    func checkStore(_: CheckStore.Parameters, wantsMore: Bool, _ responder: VarlinkResponder) throws(VarlinkError) {
        let total = try stored(overview()).accounts
        let follower = StoreChecking.Follower(wantsProgress: wantsMore) { news in
            switch news {
            case .progress(let progress): responder.reply(CheckStore.Reply(progress, total: total), continues: true)
            case .end(.success(let outcome)): responder.reply(CheckStore.Reply(outcome, total: outcome.accounts))
            case .end(.failure(let failure)): responder.fail(VarlinkError(check: failure))
            }
        }
        do throws(StoreError) {
            let number = try receive(storeKeeping.check(for: follower))
            responder.onDisconnect { self.later { $0.storeKeeping.forgetCheckFollower(number) } }
        } catch {
            throw VarlinkError(check: .store(error))
        }
    }

    func diagnose(_ asked: Diagnose.Parameters, wantsMore: Bool, _ responder: VarlinkResponder) throws(VarlinkError) {
        try Limit.page.check(asked.accounts?.count ?? 0, atMost: Interface.largestPage)
        let diagnosis = Diagnosis(
            coordinator: self,
            accounts: try asked.accounts?.map { name throws(VarlinkError) in
                try shownAccount(name).name
            }
        )
        try ask(for: responder) {
            let kept = Mutex<[Finding]>([])
            await diagnosis.run { finding in
                if wantsMore {
                    responder.reply(Diagnose.Reply(findings: [finding]), continues: true)
                } else {
                    kept.withLock { $0.append(finding) }
                }
            }
            return Diagnose.Reply(findings: kept.withLock(\.self))
        }
    }
}

extension CheckStore.Reply {
    fileprivate init(_ progress: StoreChecking.Progress, total: Int) {
        self.init(
            accounts: Int64(progress.accounts),
            total: Int64(max(total, progress.accounts)),
            found: Int64(progress.found),
            findings: progress.findings.map(AuthRefreshInterface.StoreFinding.init)
        )
    }
}

extension AuthRefreshInterface.StoreFinding {
    fileprivate init(_ finding: AccountStorage.StoreFinding) {
        self.init(kind: finding.kind, account: finding.account, summary: finding.summary, hint: finding.hint)
    }
}

extension RekeyStore.Reply {
    fileprivate init(_ progress: Rekeying.Progress, total: Int) {
        self.init(
            accounts: Int64(progress.accounts),
            total: Int64(max(total, progress.accounts)),
            unreadable: Int64(progress.unreadable)
        )
    }

    fileprivate init(_ outcome: Rekeying.Outcome) {
        self.init(outcome.progress, total: outcome.progress.accounts)
        key = outcome.key
        // A next file becomes the key file as soon as that can be written.
        place = (outcome.place == .nextFile ? StoreKeyPlace.file : outcome.place).rawValue
        leftover = outcome.leftover?.description
    }
}

extension VarlinkError {
    fileprivate init(check failure: StoreKeepingError) {
        switch failure {
        // The check works on a copy.
        case .store(let error):
            let isFull = if case .diskFull = error { true } else { false }
            self =
                StoreUnavailableError(
                    reason: "it cannot be copied for the check: \(error)",
                    hint: isFull
                        ? "the check works on a copy: free as much space as the store takes"
                        : error.hint ?? Hint(Command("status"))
                ).error
        case .interrupted:
            self =
                StoreUnavailableError(
                    reason: "the daemon is stopping; the check is incomplete",
                    hint: "repeat the command: \(Command("store", "check"))"
                ).error
        }
    }
}
