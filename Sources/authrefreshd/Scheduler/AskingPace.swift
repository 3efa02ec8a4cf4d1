internal import RefreshCore

/// Keeps callers from having a server asked more than once a second for the same token.
///
/// Whoever asks again within that second waits for the rest of it; then one request answers all of them. So `--force` and `Refresh` always
/// bring what is newer than the call, and a program in a loop costs one request a second.
struct AskingPace {
    /// The time between two requests for the same token that callers cause.
    static let interval = RefreshRule.shortestInterval

    /// What is asked for: a token set, or, if that is nil, the account's default token.
    private struct Token: Hashable {
        let account: AccountID
        let set: TokenSet?
    }

    private var lastAsked: [Token: Moment] = [:]
    /// Arrivals that wait for the rest of their second, in their order; one for each event however many callers it has.
    private var postponed: [Arrival] = []
    /// How many tokens may be remembered before those that were asked for long ago are forgotten.
    private var crowd = 64

    /// Notes that the server is being asked for a token.
    mutating func note(_ account: AccountID, _ set: TokenSet?, at now: Moment) {
        if lastAsked.count >= crowd {
            lastAsked = lastAsked.filter { Self.rest(since: $0.value, at: now) > .zero }
            crowd = max(64, 2 * lastAsked.count)
        }
        lastAsked[Token(account: account, set: set)] = now
    }

    /// Puts `arrival` off if the server was asked for the same token less than a second ago.
    ///
    /// - Returns: whether it has to wait; `takeReady` brings it again.
    mutating func postpone(_ arrival: Arrival, at now: Moment) -> Bool {
        guard arrival.event.isForWaiters, rest(of: arrival, at: now) > .zero else { return false }
        if !postponed.contains(where: { $0.account == arrival.account && $0.event == arrival.event }) {
            postponed.append(arrival)
        }
        return true
    }

    /// The events of an account that wait for the rest of their second.
    func postponed(of account: AccountID) -> Set<Event> {
        Set(postponed.lazy.filter { $0.account == account }.map(\.event))
    }

    /// Takes the arrivals whose second is over.
    mutating func takeReady(at now: Moment) -> [Arrival] {
        guard !postponed.isEmpty else { return [] }
        let ready = postponed.filter { rest(of: $0, at: now) == .zero }
        if !ready.isEmpty { postponed = postponed.filter { rest(of: $0, at: now) > .zero } }
        return ready
    }

    /// How long it is until `takeReady` has something; nil if nothing waits.
    func wait(at now: Moment) -> Duration? {
        postponed.map { rest(of: $0, at: now) }.min()
    }

    private func rest(of arrival: Arrival, at now: Moment) -> Duration {
        let last = lastAsked[Token(account: arrival.account, set: arrival.event.tokenSet)]
        return last.map { Self.rest(since: $0, at: now) } ?? .zero
    }

    private static func rest(since last: Moment, at now: Moment) -> Duration {
        max(interval - now.elapsed(since: last), .zero)
    }
}
