internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import Dispatch
internal import OAuthClient
internal import RefreshCore
internal import Varlink

/// The calls about the whole store.
extension RefreshCoordinator {
    func backupStore(_ call: VarlinkCall, _ responder: VarlinkResponder) throws(VarlinkError) {
        _ = try call.decodeParameters(as: BackupStore.Parameters.self)
        let tell: @Sendable (Result<FinishedCopy, StoreKeepingError>) -> Void = { result in
            switch result {
            case .success(let copy):
                let keys = copy.keyIdentifiers
                responder.reply(BackupStore.Reply(path: copy.path, keys: keys.count > 1 ? keys : nil))
            case .failure(let failure): responder.fail(VarlinkError(backup: failure))
            }
        }
        let caller = try stored(receive(storeKeeping.backUp(tell)))
        responder.onDisconnect { self.later { $0.carryOut($0.storeKeeping.forgetBackupCaller(caller)) } }
    }

    func rekeyStore(_ call: VarlinkCall, _ responder: VarlinkResponder) throws(VarlinkError) {
        _ = try call.decodeParameters(as: RekeyStore.Parameters.self)
        let total = try stored(overview()).accounts
        let wantsMore = call.wantsMore
        let tell: @Sendable (Rekeying.News) -> Void = { news in
            switch news {
            case .progress(let progress):
                guard wantsMore else { return }
                responder.reply(RekeyStore.Reply(progress, total: total), continues: true)
            case .end(.success(let outcome)): responder.reply(RekeyStore.Reply(outcome))
            case .end(.failure(let failure)): responder.fail(VarlinkError(rekey: failure))
            }
        }
        let follower = receive(storeKeeping.rekey(tell))
        responder.onDisconnect { self.later { $0.storeKeeping.forgetRekeyFollower(follower) } }
    }

    func checkStore(_ call: VarlinkCall, _ responder: VarlinkResponder) throws(VarlinkError) {
        _ = try call.decodeParameters(as: CheckStore.Parameters.self)
        let total = try stored(overview()).accounts
        let follower = StoreChecking.Follower(wantsProgress: call.wantsMore) { news in
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

    func diagnose(_ call: VarlinkCall, _ responder: VarlinkResponder) throws(VarlinkError) {
        let asked = try call.decodeParameters(as: Diagnose.Parameters.self)
        if let names = asked.accounts, names.count > Interface.largestPage {
            throw VarlinkError(LimitExceededError(.page, maximum: Interface.largestPage))
        }
        let diagnosis = Diagnosis(
            coordinator: self,
            accounts: try asked.accounts?.map { name throws(VarlinkError) in
                try shownAccount(name).name
            }
        )
        let wantsMore = call.wantsMore
        let process = try beginDiagnosis(for: responder)
        let task = Task { @concurrent in
            var kept: [Finding] = []
            for await finding in diagnosis.findings() {
                if wantsMore {
                    responder.reply(Diagnose.Reply(findings: [finding]), continues: true)
                } else {
                    kept.append(finding)
                }
            }
            await self.diagnosisEnded(of: process)
            responder.reply(Diagnose.Reply(findings: kept))
        }
        responder.onDisconnect { task.cancel() }
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
        place = outcome.place.wireName
        leftover = outcome.leftover?.description
    }
}

extension StoreKeyPlace {
    fileprivate var wireName: String {
        switch self {
        case .credential, .nextCredential, .secretService, .file: rawValue
        // It becomes the key file as soon as that can be written.
        case .nextFile: StoreKeyPlace.file.rawValue
        }
    }
}

extension VarlinkError {
    fileprivate init(rekey failure: StoreKeepingError) {
        switch failure {
        case .store(.key(let error)) where error.isPassing:
            self.init(StoreLockedError(reason: error.description, hint: error.hint))
        case .store(.key(let error)):
            self.init(KeyNotReplacedError(reason: error.description, hint: error.hint))
        case .store(let error): self.init(error)
        case .interrupted:
            self =
                Complaint(
                    .storeUnavailable,
                    "the daemon is stopping; it continues the change of the key when it starts again",
                    hint: "\(Command("store", "rekey")) waits until that is done"
                ).error
        }
    }

    fileprivate init(backup failure: StoreKeepingError) {
        switch failure {
        case .store(let error): self.init(error)
        case .interrupted:
            self =
                Complaint(
                    .storeUnavailable,
                    "the daemon is stopping; no backup was made",
                    hint: "repeat the command: \(Command("store", "backup", "FILE"))"
                ).error
        }
    }

    fileprivate init(check failure: StoreKeepingError) {
        switch failure {
        // The check works on a copy.
        case .store(let error):
            let isFull = if case .diskFull = error { true } else { false }
            self =
                Complaint(
                    .storeUnavailable,
                    "it cannot be copied for the check: \(error)",
                    hint: isFull
                        ? "the check works on a copy: free as much space as the store takes"
                        : error.hint
                ).error
        case .interrupted:
            self =
                Complaint(
                    .storeUnavailable,
                    "the daemon is stopping; the check is incomplete",
                    hint: "repeat the command: \(Command("store", "check"))"
                ).error
        }
    }
}
