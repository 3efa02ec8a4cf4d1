internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd

/// Running the configured command.
extension RefreshCoordinator {
    /// Requests a run of the command for news of an account, if a command is configured.
    func noteForChangeCommand(_ news: AccountNews, of snapshot: AccountSnapshot, previousName: String?) {
        guard let command = settings.changeCommand, command.isWanted(news) else { return }
        let change = ChangeCommand.environment(of: news, snapshot, previousName: previousName)
        if !changeCommands.add(change, of: snapshot.account.id) {
            let limit = CallerLimits.changesWaitingMax
            changeCommandFailed(.changeCommandFailed("the changes of more than \(limit) accounts wait"))
        }
        // This runs later, because an announcement is being delivered now.
        later { $0.runNextChangeCommands(at: $0.timebase.now()) }
    }

    /// Starts the commands that may start.
    func runNextChangeCommands(at now: Moment) {
        guard let command = settings.changeCommand, !isStopping else { return }
        let next = changeCommands.next(command, at: now)
        guard !next.isEmpty else { return }
        do throws(SystemdError) {
            let units = try changeCommandUnits()
            for unit in next { units.start(unit) }
        } catch {
            serviceManagerIsUnreachable(error)
        }
    }

    private func changeCommandUnits() throws(SystemdError) -> TransientUnits {
        if let units = changeCommands.units { return units }
        guard let folder = runtimeDirectory else { throw .busUnavailable(errno: Self.noEntry) }
        let units = try TransientUnits(
            runtimeDirectory: folder,
            queue: queue,
            onEvent: { [weak self] event in self?.later { $0.changeCommandUnitChanged(event) } },
            onLost: { [weak self] error in self?.later { $0.serviceManagerIsUnreachable(error) } }
        )
        changeCommands.units = units
        return units
    }

    /// ENOENT: if no folder is configured, nothing is in it.
    private static let noEntry: Int32 = 2

    private func changeCommandUnitChanged(_ event: TransientUnits.Event) {
        switch event {
        case .exists(let unit):
            if let account = ChangeCommand.account(of: unit) { changeCommands.existed(account) }
        case .refused(let unit, let reason):
            if let account = ChangeCommand.account(of: unit) { changeCommands.ended(account) }
            changeCommandFailed(.changeCommandFailed(reason))
        case .removed(let unit):
            guard let account = ChangeCommand.account(of: unit) else { return }
            changeCommands.ended(account)
            changeCommands.noteSuccess()
        }
        runNextChangeCommands(at: timebase.now())
    }

    private func serviceManagerIsUnreachable(_ error: SystemdError) {
        changeCommands.giveUp()
        changeCommandFailed(.changeCommandFailed("the user's service manager cannot be reached: \(error)"))
    }

    private func changeCommandFailed(_ line: JournalEvent) {
        guard changeCommands.noteFailure() else { return }
        changeLog.write(line)
    }
}

extension ChangeCommand {
    /// What the command is told of a change. It contains no token. Names that are also fields of the journal mean the
    /// same.
    static func environment(
        of news: AccountNews,
        _ snapshot: AccountSnapshot,
        previousName: String?
    ) -> [String: String] {
        var environment = [
            "AUTHREFRESH_EVENT": news.rawValue, "AUTHREFRESH_ACCOUNT": snapshot.account.name.text,
            "AUTHREFRESH_STATE": news == .accountRemoved ? "removed" : snapshot.shown.rawValue,
            "AUTHREFRESH_ISSUER": snapshot.account.issuer.url,
        ]
        environment["AUTHREFRESH_PREVIOUS_NAME"] = previousName
        environment["AUTHREFRESH_REASON"] = snapshot.state.interaction?.reason.rawValue
        let end = snapshot.state.accessToken?.expiresAt(at: snapshot.at)
        environment["AUTHREFRESH_EXPIRES_AT_USEC"] = end.map { "\($0.microseconds)" }
        return environment
    }

    /// The systemd unit that runs the command for a change.
    func unit(for change: [String: String], of account: AccountID) -> TransientUnit {
        let (event, name) = (change["AUTHREFRESH_EVENT"] ?? "", change["AUTHREFRESH_ACCOUNT"] ?? "")
        return TransientUnit(
            name: Self.unit(of: account),
            description: "authrefreshd: \(event) of \(name)",
            command: words,
            environment: change,
            timeLimitUSec: UInt64(max(timeLimit.microseconds, 1))
        )
    }
}
