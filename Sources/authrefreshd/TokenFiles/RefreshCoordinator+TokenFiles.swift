internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore
internal import Varlink

/// The coordinator's steps for token files.
extension RefreshCoordinator {
    /// Writes the files that an earlier daemon had written, and removes those that belong to no account.
    func beginTokenFiles() throws(StoreError) {
        tokenFiles.sweep()
        let accounts = try store.accountsWithTokenFile(limit: CallerLimits.tokenFilesMax)
        updateTokenFiles(of: accounts, at: timebase.now())
    }

    /// Updates the files after committed decisions.
    func updateTokenFiles(after decisions: [AccountTransition], at now: Moment) {
        let concerned = decisions.lazy.map(\.record.account).filter {
            $0.delivery.file != nil || self.tokenFiles.contains($0.id)
        }
        updateTokenFiles(of: concerned.map(\.id), at: now)
    }

    /// Removes expired tokens, and retries what has failed.
    func advanceTokenFiles(at now: Moment) {
        updateTokenFiles(of: tokenFiles.due(at: now), at: now)
    }

    /// Updates the files of these accounts.
    func updateTokenFiles(of accounts: [AccountID], at now: Moment) {
        for account in accounts { lookAtTokenFile(of: account, at: now) }
        writeNextTokenFiles()
    }

    private func lookAtTokenFile(of account: AccountID, at now: Moment) {
        do throws(StoreError) {
            guard let record = try records.record(of: account) else {
                return tokenFiles.want(nil, nil, nil, lack: nil, of: account)
            }
            let token = try tokenFileText(of: record, at: now)
            tokenFiles.want(record.account.delivery.file, token?.content, token?.text, lack: token?.lack, of: account)
        } catch {
            let file = tokenFiles.file(of: account)
            tokenFiles.want(file, nil, nil, lack: error.description, of: account)
        }
    }

    /// Runs the next batch without blocking the coordinator's queue.
    private func writeNextTokenFiles() {
        guard let (jobs, kept) = tokenFiles.nextBatch() else { return }
        tokenFiles.work.run(true) { [folder = tokenFiles.folder] in
            folder.carryOut(jobs, keeping: kept)
        } then: { [weak self] faults in
            self?.later { coordinator in
                let news = coordinator.tokenFiles.ended(faults, at: coordinator.timebase.now())
                coordinator.tellOfTokenFiles(news)
                coordinator.writeNextTokenFiles()
                coordinator.wake()
            }
        }
    }

    private func tellOfTokenFiles(_ news: TokenFiles.News?) {
        switch news {
        case nil: break
        case .well: changeLog.write(.tokenFilesWritten)
        case .failed(let account, let reason):
            let record = account.flatMap { try? records.record(of: $0) }
            changeLog.write(.tokenFilesFailed(reason, of: record?.account.name))
        }
    }

    /// Checks the name of a token file.
    ///
    /// - Parameter account: the account that gets `file`; nil for a new account.
    /// - Throws: `InvalidSettings` if the file belongs to another account, `LimitExceeded` if there are too many.
    func checkTokenFile(_ file: TokenFile?, of account: AccountID?) throws(VarlinkError) {
        guard let file else { return }
        if let owner = try stored(store.owner(ofTokenFile: file.name, besides: account)) {
            throw Complaint(
                field: "tokenFile",
                "'\(file.name)' is already the token file of '\(owner.name)'",
                hint: "--token-file NAME with another name, or "
                    + Hint(Command("account", "edit", owner.name, "--clear", "token-file"))
            ).error
        }
        let isKnown = account.map { tokenFiles.contains($0) } ?? false
        if !isKnown { try checkRoom(forTokenFiles: 1) }
    }

    func checkRoom(forTokenFiles count: Int) throws(VarlinkError) {
        try Limit.tokenFiles.check(tokenFiles.count + count, atMost: CallerLimits.tokenFilesMax)
    }
}
