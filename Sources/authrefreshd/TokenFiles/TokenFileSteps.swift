internal import AccountStorage
internal import AuthRefreshInterface
internal import BlockingWork
internal import CommandLineProgram
internal import RefreshCore
internal import Varlink

/// The coordinator's steps for token files.
enum TokenFileSteps {
    /// Writes the files that an earlier daemon had written, and removes those that belong to no account.
    static func begin(on coordinator: isolated RefreshCoordinator) throws(StoreError) {
        coordinator.tokenFiles.sweep()
        let accounts = try coordinator.store.accountsWithTokenFile(limit: CallerLimits.tokenFilesMax)
        concern(accounts, at: coordinator.timebase.now(), on: coordinator)
    }

    /// Updates the files after committed decisions.
    static func follow(_ decisions: [Decision], at now: Moment, on coordinator: isolated RefreshCoordinator) {
        let concerned = decisions.lazy.map(\.record.account).filter {
            $0.delivery.file != nil || coordinator.tokenFiles.contains($0.id)
        }
        concern(concerned.map(\.id), at: now, on: coordinator)
    }

    /// Removes expired tokens, and retries what has failed.
    static func advance(at now: Moment, on coordinator: isolated RefreshCoordinator) {
        concern(coordinator.tokenFiles.due(at: now), at: now, on: coordinator)
    }

    /// Updates the files of these accounts.
    static func concern(_ accounts: [AccountID], at now: Moment, on coordinator: isolated RefreshCoordinator) {
        for account in accounts { look(at: account, at: now, on: coordinator) }
        runNext(on: coordinator)
    }

    private static func look(at account: AccountID, at now: Moment, on coordinator: isolated RefreshCoordinator) {
        do throws(StoreError) {
            guard let record = try coordinator.records.record(of: account) else {
                return coordinator.tokenFiles.want(nil, nil, lack: nil, of: account) { nil }
            }
            let token = try TokenFileText(record, at: now, on: coordinator)
            coordinator.tokenFiles.want(record.account.delivery.file, token?.content, lack: token?.lack, of: account) {
                token?.text
            }
        } catch {
            let file = coordinator.tokenFiles.file(of: account)
            coordinator.tokenFiles.want(file, nil, lack: error.description, of: account) { nil }
        }
    }

    /// Runs the next batch without blocking the coordinator's queue.
    private static func runNext(on coordinator: isolated RefreshCoordinator) {
        guard let batch = coordinator.tokenFiles.nextBatch() else { return }
        coordinator.tokenFiles.work.run(true) {
            batch.folder.carryOut(batch.jobs, keeping: batch.kept)
        } then: { [weak coordinator] faults in
            coordinator?.later { coordinator in
                let news = coordinator.tokenFiles.ended(batch, faults, at: coordinator.timebase.now())
                tell(news, on: coordinator)
                runNext(on: coordinator)
                coordinator.wake()
            }
        }
    }

    private static func tell(_ news: TokenFiles.News?, on coordinator: isolated RefreshCoordinator) {
        switch news {
        case nil: break
        case .well: coordinator.changeLog.write(.tokenFilesWritten)
        case .failed(let account, let reason):
            let record = account.flatMap { try? coordinator.records.record(of: $0) }
            coordinator.changeLog.write(.tokenFilesFailed(reason, of: record?.account.name))
        }
    }

    /// Checks the name of a token file.
    ///
    /// - Parameter account: the account that gets `file`; nil for a new account.
    /// - Throws: `InvalidSettings` if the file belongs to another account, `LimitExceeded` if there are too many.
    static func check(
        _ file: TokenFile?,
        of account: AccountID?,
        on coordinator: isolated RefreshCoordinator
    ) throws(VarlinkError) {
        guard let file else { return }
        let owner: (id: AccountID, name: String)?
        do throws(StoreError) {
            owner = try coordinator.store.owner(ofTokenFile: file.name, besides: account)
        } catch {
            throw VarlinkError(error)
        }
        if let owner {
            throw Complaint(
                field: "tokenFile",
                "'\(file.name)' is already the token file of '\(owner.name)'",
                hint: "--token-file NAME with another name, or "
                    + Hint(Command("account", "edit", owner.name, "--clear", "token-file"))
            ).error
        }
        let isKnown = account.map { coordinator.tokenFiles.contains($0) } ?? false
        guard isKnown || coordinator.tokenFiles.count < CallerLimits.tokenFilesMax else {
            throw VarlinkError(LimitExceededError(.tokenFiles, maximum: CallerLimits.tokenFilesMax))
        }
    }
}
