import AccountStorage
import DemoIssuer
@testable import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

/// Decisions that contradict the store. They end with an error, and do not hold up others.
struct RefusedCommitTests {
    /// A decision about `record` that was kept because it could not be stored, and never can be.
    private static func poison(_ owner: AccountID, _ record: Record, _ write: StateWrite) -> AccountTransition {
        let account = Account(
            id: owner,
            name: record.account.name,
            issuer: record.account.issuer,
            registration: record.account.registration
        )
        return AccountTransition(
            record: Record(
                account: account,
                issuerID: record.issuerID,
                state: record.state,
                createdAt: record.createdAt
            ),
            arrival: QueuedEvent(account: owner, event: .host(.deadlineReached)),
            event: .host(.deadlineReached),
            effects: [],
            write: write,
            failureBefore: nil
        )
    }

    /// Adds the decision that `write` makes from the record of `first`, then has `second` refreshed.
    ///
    /// - Parameter owner: the account of the decision; nil for `first`.
    private func expectSecondServed(
        owner: AccountID? = nil,
        after write: @escaping @Sendable (Record) -> StateWrite,
        says line: String?
    ) async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let first = try await rig.add("first", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: first)
            try await rig.inside { coordinator in
                guard let record = try coordinator.store.record(first) else { return }
                coordinator.records.keep(Self.poison(owner ?? first, record, write(record)))
            }
            let second = try await rig.add("second", url, try await issuer.issueGrant(clientID: "app"))
            let outcome = await rig.waitForToken(of: second)
            #expect(outcome.snapshot?.shown == .fresh)
            #expect(await rig.inside { $0.records.areStored && $0.trouble == nil })
            // The account itself continues from its stored state.
            #expect(try await rig.state(of: "first")?.shown == .fresh)
            if let line { try await rig.log.first("the line") { $0.contains(line) } }
            await rig.stop()
        }
    }

    @Test func `an answer for an unknown generation is dropped and reported`() async throws {
        try await expectSecondServed(
            after: { record in
                var state = record.state
                state.generation = Generation(9)
                return StateWrite(account: record.account.id, base: record.state.generation, state: state)
            },
            says: "brought no refresh token of generation 9"
        )
    }

    @Test func `a decision on an old generation is dropped and reported`() async throws {
        try await expectSecondServed(
            after: { StateWrite(account: $0.account.id, base: Generation(0), state: $0.state) },
            says: "a write for generation 0 was refused"
        )
    }

    @Test func `a decision on a removed account is dropped silently`() async throws {
        try await expectSecondServed(
            owner: AccountID(4711),
            after: { StateWrite(account: AccountID(4711), base: Generation(0), state: $0.state) },
            says: nil
        )
    }

    @Test func `the answer in a refused decision is decided again on the stored state`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let id = try await rig.add("work", url, try await issuer.issueGrant(clientID: "app"))
            _ = await rig.waitForToken(of: id)
            let tokens = StoredTokens(
                accessToken: AccessToken(Secret("late-access"), type: "Bearer"),
                refreshToken: RefreshToken(Secret("late-refresh"))
            )
            try await rig.inside { coordinator in
                guard let record = try coordinator.store.record(id) else { return }
                let answer = Event.answer(
                    .tokensIssued(
                        record.state.generation,
                        Issuance(lifetime: .seconds(3600), isRotated: true)
                    )
                )
                let arrival = QueuedEvent(account: id, event: answer, tokens: tokens)
                let write = StateWrite(account: id, base: Generation(0), state: record.state, tokens: .store(tokens))
                coordinator.records.keep(
                    AccountTransition(
                        record: record,
                        arrival: arrival,
                        event: answer,
                        effects: [],
                        write: write,
                        failureBefore: nil
                    )
                )
                coordinator.submit(.host(.deadlineReached), for: id)
            }
            let refused = "a change contradicts the store"
            try await rig.log.first("the refusal") { $0.hasPrefix(refused) }
            let index = try #require(rig.log.all.firstIndex { $0.hasPrefix(refused) })
            try await rig.log.first("the second try", from: index) { $0.hasPrefix("access token refreshed") }
            #expect(try await rig.inside { try $0.records.accessToken(of: id)?.secret.reveal() } == "late-access")
            #expect(await rig.inside { $0.records.areStored })
            await rig.stop()
        }
    }
}
