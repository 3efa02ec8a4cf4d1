import AuthRefreshInterface
import Basics
import Testing

@testable import authctl

@Suite struct AccountStateTests {
    private func status(_ state: AccountState, expiresAt: Int64? = nil, failures: Int64 = 0) -> AccountStatus {
        AccountStatus(
            account: "work",
            state: state.rawValue,
            issuer: "https://as.example",
            generation: 1,
            expiresAtUSec: expiresAt,
            failures: failures
        )
    }

    @Test func `an attempt under way after failures counts as retrying`() {
        #expect(status(.refreshing, expiresAt: 5, failures: 2).exitStatus(at: 10) == .tryAgainLater)
        #expect(status(.refreshing, expiresAt: 15, failures: 2).exitStatus(at: 10) == .success)
        #expect(status(.refreshing).exitStatus(at: 10) == .success)
    }

    @Test func `a failed refresh is not a success even if the old token is valid`() {
        #expect(status(.retrying, expiresAt: 15, failures: 1).exitStatus(at: 10) == .success)
        #expect(status(.retrying, expiresAt: 15, failures: 1).refreshExitStatus == .tryAgainLater)
    }

    @Test func `a problem for a person outranks one that passes by itself`() {
        let outcomes: [Basics.ExitStatus] = [
            .tryAgainLater, .interactionRequired, .misconfigured, .signedOut, .success,
        ]
        #expect(outcomes.reduce(.success, Basics.ExitStatus.worst) == .interactionRequired)
        #expect(Basics.ExitStatus.worst(.tryAgainLater, .success) == .tryAgainLater)
    }
}
