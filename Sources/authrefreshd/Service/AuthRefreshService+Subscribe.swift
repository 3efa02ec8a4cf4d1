internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// Following changes.
extension AuthRefreshService {
    func subscribe(_ call: VarlinkCall, _ responder: VarlinkResponder, on coordinator: isolated RefreshCoordinator)
        throws
    {
        let asked = try call.decodeParameters(as: Subscribe.Parameters.self)
        guard call.wantsMore else { throw VarlinkError.expectedMore }
        let maximum = coordinator.settings.maxSubscribers
        guard coordinator.subscribers.count < maximum else {
            throw VarlinkError(LimitExceededError(.subscribers, maximum: maximum))
        }
        let present = try snapshots(asked.accounts, on: coordinator)
        let now = coordinator.timebase.now().wall.microseconds
        // State, "ready" and entry into the list happen in one turn of the queue: no change can fall in between.
        for start in stride(from: 0, to: present.count, by: Interface.largestPage) {
            let page = present[start..<min(start + Interface.largestPage, present.count)].map(\.wireStatus)
            responder.reply(Subscribe.Reply(event: "present", atUSec: now, accounts: page), continues: true)
        }
        responder.reply(Subscribe.Reply(event: "ready", atUSec: now, accounts: []), continues: true)
        coordinator.subscribe(responder, to: asked.accounts.map { _ in Set(present.map(\.id)) })
    }

    private func snapshots(_ names: [String]?, on coordinator: isolated RefreshCoordinator) throws -> [ShownAccount] {
        if let names {
            guard names.count <= CallerLimits.subscribedAccountsMax else { throw tooMany }
            return try names.map { try shownAccount($0, on: coordinator) }
        }
        let all = try coordinator.accounts(after: nil, limit: CallerLimits.subscribedAccountsMax + 1)
        guard all.count <= CallerLimits.subscribedAccountsMax else { throw tooMany }
        return all
    }

    private var tooMany: VarlinkError {
        VarlinkError(LimitExceededError(.subscribedAccounts, maximum: CallerLimits.subscribedAccountsMax))
    }
}
