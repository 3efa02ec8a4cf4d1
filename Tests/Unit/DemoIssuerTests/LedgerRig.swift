@testable import DemoIssuer

/// A ledger with times counted from a start.
final class LedgerRig {
    static let start = Duration.seconds(1_000_000)

    private var ledger: GrantLedger

    init(_ policy: GrantPolicy) {
        ledger = GrantLedger(policy: policy)
    }

    /// A grant for `alice` with the scope `mail calendar`.
    func issue(client: String = "app") -> IssuedGrant {
        ledger.issueGrant(clientID: client, subject: "alice", scope: "mail calendar")
    }

    func refresh(
        _ token: String,
        client: String = "app",
        asking asked: AskedToken = AskedToken(),
        after elapsed: Duration = .zero
    ) -> RefreshDecision {
        ledger.refresh(token, clientID: client, asking: asked, at: Self.start + elapsed)
    }

    /// Refreshes, and requires that the token is rotated.
    func rotate(_ token: String, after elapsed: Duration = .zero) throws -> IssuedTokens {
        guard case .rotated(let tokens) = refresh(token, after: elapsed) else { throw Unexpected() }
        return tokens
    }

    func liveToken(_ token: String, after elapsed: Duration = .zero) -> LiveToken? {
        ledger.liveToken(token, at: Self.start + elapsed)
    }

    func revoke(_ token: String, clientID: String) -> LogEntry.Outcome {
        ledger.revoke(token, clientID: clientID)
    }

    func revokeGrant(_ family: Int) -> Bool {
        ledger.revokeGrant(family)
    }

    func summary(ofGrant family: Int) -> GrantSummary? {
        ledger.summary(ofGrant: family)
    }

    struct Unexpected: Error {}
}
