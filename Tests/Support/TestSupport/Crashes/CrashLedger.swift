import AuthRefreshInterface
import DemoIssuer

/// An account that needs a person after a crash run, with what the server and the journal say about it.
package struct CrashLoss: Sendable, Equatable {
    package let account: String
    package let reason: String?
    /// Whether the server's log has an exchange that used the token refused later, and served it before that daemon was
    /// killed.
    package let wasServedAndCut: Bool
    /// Whether a daemon had already announced the answer of that exchange. Then the answer should have been stored.
    package let wasToldAsStored: Bool
    /// When the daemon with that exchange in flight was killed, in microseconds since 1970.
    package let cutAt: Int64?
    /// Whether the journal says that an answer was lost, and then that a person is needed for that reason.
    package let isSaidInLog: Bool

    /// Whether the loss was unavoidable: the server had served the exchange, and its answer was not stored yet.
    package var isOfUnansweredExchange: Bool {
        reason == "outcomeUnknown" && wasServedAndCut && !wasToldAsStored
    }
}

/// Compares what the server saw with what the daemons logged.
struct CrashLedger {
    /// The end of a daemon. Times are in microseconds since 1970.
    struct Death {
        let killedAt: Int64
        /// When the next daemon was started. Everything that the server reads before belongs to the killed daemon,
        /// however late it reads it.
        var replacedAt = Int64.max
    }

    private let entries: [LogEntry]
    private let log: [String]
    private let deaths: [Death]

    init(entries: [LogEntry], log: [String], deaths: [Death]) {
        self.entries = entries
        self.log = log
        self.deaths = deaths
    }

    /// The number of exchanges after which the same token was sent again, because their answer had not been stored.
    var exchangesCut: Int {
        Dictionary(grouping: entries.filter { $0.family != nil }) { [$0.family, $0.generation] }.values
            .filter { sent in (sent.firstIndex { $0.outcome == .rotated } ?? sent.count) < sent.count - 1 }
            .count
    }

    func loss(of status: AccountStatus, family: Int) -> CrashLoss {
        let own = entries.filter { $0.family == family }
        let refused = own.last { $0.outcome == .spentTokenUsed }?.generation
        let served = own.first { $0.generation == refused && $0.outcome == .rotated }
        let next = own.first { $0.sequence > served?.sequence ?? .max }
        // The first kill after the exchange. Whether it was really a kill is checked below.
        let cut = served.flatMap { served in deaths.first { $0.replacedAt >= served.timeUSec } }
        let lines = log.filter { $0.contains("AUTHREFRESH_ACCOUNT=\(status.account) ") }
        let told = lines.filter { $0.contains("access token refreshed") }.compactMap(\.generation).max() ?? 0
        return CrashLoss(
            account: status.account,
            reason: status.reason,
            // There was a kill between the lost answer and the next time that this token was sent.
            wasServedAndCut: deaths.contains { death in
                guard let served, let next else { return false }
                return served.timeUSec <= death.replacedAt && death.killedAt <= next.timeUSec
            },
            wasToldAsStored: told > refused ?? .max,
            cutAt: cut?.killedAt,
            isSaidInLog: lines.contains { $0.contains("the answer to a refresh was lost") }
                && lines.contains { $0.contains("AUTHREFRESH_REASON=outcomeUnknown") }
        )
    }
}

extension String {
    /// The generation in a line of the journal. Both the server and the daemon count a grant's tokens from 1.
    fileprivate var generation: Int? {
        split(separator: " ").first { $0.hasPrefix("AUTHREFRESH_GENERATION=") }
            .flatMap { Int($0.dropFirst("AUTHREFRESH_GENERATION=".count)) }
    }
}
