internal import AuthRefreshInterface
internal import RefreshCore
internal import Systemd

/// The coordinator's steps for the configured command.
enum ChangeCommandSteps {
    /// Requests a run of the command for news of an account, if a command is configured.
    static func note(
        _ news: AccountNews,
        of snapshot: AccountSnapshot,
        previousName: String?,
        on coordinator: isolated RefreshCoordinator
    ) {
        guard let command = coordinator.settings.changeCommand, command.isWanted(news) else { return }
        let change = ReportedChange(news, of: snapshot, previousName: previousName)
        if !coordinator.changeCommands.add(change, of: snapshot.account.id) {
            let limit = CallerLimits.changesWaitingMax
            fail(.changeCommandFailed("the changes of more than \(limit) accounts wait"), on: coordinator)
        }
        // This runs later, because an announcement is being delivered now.
        coordinator.later { runNext(at: $0.timebase.now(), on: $0) }
    }

    /// Starts the commands that may start.
    static func runNext(at now: Moment, on coordinator: isolated RefreshCoordinator) {
        guard let command = coordinator.settings.changeCommand, !coordinator.isStopping else { return }
        let next = coordinator.changeCommands.next(command, at: now)
        guard !next.isEmpty else { return }
        do throws(SystemdError) {
            let units = try units(on: coordinator)
            for unit in next { units.start(unit) }
        } catch {
            coordinator.changeCommands.giveUp()
            fail(unreachable(error), on: coordinator)
        }
    }

    private static func units(on coordinator: isolated RefreshCoordinator) throws(SystemdError) -> TransientUnits {
        if let units = coordinator.changeCommands.units { return units }
        guard let folder = coordinator.runtimeDirectory else { throw .busUnavailable(errno: noEntry) }
        let units = try TransientUnits(
            runtimeDirectory: folder,
            queue: coordinator.queue,
            onEvent: { [weak coordinator] event in coordinator?.later { take(event, on: $0) } },
            onLost: { [weak coordinator] error in
                coordinator?.later { coordinator in
                    coordinator.changeCommands.giveUp()
                    fail(unreachable(error), on: coordinator)
                }
            }
        )
        coordinator.changeCommands.units = units
        return units
    }

    /// ENOENT: if no folder is configured, nothing is in it.
    private static let noEntry: Int32 = 2

    private static func take(_ event: TransientUnits.Event, on coordinator: isolated RefreshCoordinator) {
        switch event {
        case .exists(let unit):
            if let account = ChangeCommand.account(of: unit) { coordinator.changeCommands.existed(account) }
        case .refused(let unit, let reason):
            if let account = ChangeCommand.account(of: unit) { coordinator.changeCommands.ended(account) }
            fail(.changeCommandFailed(reason), on: coordinator)
        case .removed(let unit):
            guard let account = ChangeCommand.account(of: unit) else { return }
            coordinator.changeCommands.ended(account)
            coordinator.changeCommands.noteSuccess()
        }
        runNext(at: coordinator.timebase.now(), on: coordinator)
    }

    private static func unreachable(_ error: SystemdError) -> JournalEvent {
        .changeCommandFailed("the user's service manager cannot be reached: \(error)")
    }

    private static func fail(_ line: JournalEvent, on coordinator: isolated RefreshCoordinator) {
        guard coordinator.changeCommands.noteFailure() else { return }
        coordinator.changeLog.write(line)
    }
}
