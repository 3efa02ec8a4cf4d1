import Testing

@testable import RefreshCore

@Suite struct BackOffRuleTests {
    /// The arguments are the number of consecutive failures, then the shortest and the longest wait in seconds: the
    /// table of `BackOffRule`.
    @Test(arguments: [(1, 1, 2), (2, 2, 4), (4, 8, 16), (8, 128, 256), (9, 150, 300), (1000, 150, 300)])
    func `transient waits follow the table`(failures: Int, shortest: Int, longest: Int) {
        #expect(BackOffRule.transient(failures: failures, jitter: 0) == .seconds(shortest))
        #expect(BackOffRule.transient(failures: failures, jitter: 1) == .seconds(longest))
    }

    @Test(arguments: [(1, 150, 300), (2, 300, 600), (4, 1200, 2400), (8, 1800, 3600), (.max, 1800, 3600)])
    func `waits for a person follow the table`(failures: Int, shortest: Int, longest: Int) {
        #expect(BackOffRule.misconfigured(failures: failures, jitter: 0) == .seconds(shortest))
        #expect(BackOffRule.misconfigured(failures: failures, jitter: 1) == .seconds(longest))
    }

    @Test func `the server's wish is respected, and only made longer by jitter`() {
        #expect(BackOffRule.retryAfter(.seconds(60), jitter: 0) == .seconds(60))
        #expect(BackOffRule.retryAfter(.seconds(60), jitter: 1) == .seconds(66))
        #expect(BackOffRule.retryAfter(.seconds(86_400), jitter: 0) == .seconds(3600))
    }

    @Test(arguments: [(86_400, 30_000), (3600, 30_000), (600, 30_000), (60, 3000), (8, 400), (1, 250)])
    func `the pause before believing a refusal is a small part of a refresh period`(lifetime: Int, pause: Int) {
        #expect(BackOffRule.confirmation(lifetime: .seconds(lifetime)) == .milliseconds(pause))
    }

    @Test(arguments: [(60, 30_000), (30, 15_000), (2, 1000)])
    func `the pause ends within the server's grace`(grace: Int, pause: Int) {
        #expect(BackOffRule.confirmation(lifetime: nil, grace: .seconds(grace)) == .milliseconds(pause))
        #expect(BackOffRule.confirmation(lifetime: .seconds(3600), grace: .seconds(grace)) == .milliseconds(pause))
    }
}
