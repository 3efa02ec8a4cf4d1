import RefreshCore
import Testing

@testable import authrefreshd

/// Which failures during an outage have a line in the journal.
@Suite struct OutagesTests {
    private let retryAt = Timestamp(microseconds: 0)

    private func failed(_ failureClass: FailureClass, status: Int? = nil) -> AccountChange {
        .refreshFailed(
            RefreshFailure(
                failureClass,
                detail: FailureDetail(summary: "failed", httpStatus: status, correlationID: "c1")
            ),
            retryAt: retryAt
        )
    }

    @Test func `one outage of a server is one line, whatever the number of accounts and attempts`() throws {
        var outages = Outages()
        let (one, other) = (try Issuer(url: "https://one.example"), try Issuer(url: "https://other.example"))
        #expect(outages.note(failed(.unanswered, status: 503), at: one) == 0)
        for _ in 1...5 { #expect(outages.note(failed(.unanswered, status: 500), at: one) == nil) }
        // Another server, and another kind of failure, are news.
        #expect(outages.note(failed(.unanswered, status: 503), at: other) == 0)
        #expect(outages.note(failed(.unreachable), at: one) == 0)
        #expect(outages.note(failed(.unreachable), at: one) == nil)
        // The first refresh says how much was left out, and the next outage is told anew.
        #expect(outages.note(.tokenRefreshed, at: one) == 6)
        #expect(outages.note(.tokenRefreshed, at: one) == 0)
        #expect(outages.note(failed(.unanswered, status: 503), at: one) == 0)
    }

    @Test func `an answer that the end of a daemon cut off is told for each account`() throws {
        var outages = Outages()
        let issuer = try Issuer(url: "https://one.example")
        let cut = RefreshFailure(.unanswered, detail: FailureDetail(summary: "the daemon stopped"))
        for _ in 1...3 { #expect(outages.note(.refreshFailed(cut, retryAt: retryAt), at: issuer) == 0) }
    }

    @Test func `a refusal of one account is told at each attempt`() throws {
        var outages = Outages()
        let issuer = try Issuer(url: "https://one.example")
        for _ in 1...3 { #expect(outages.note(failed(.unavailable, status: 401), at: issuer) == 0) }
        #expect(outages.note(failed(.unavailable, status: 429), at: issuer) == 0)
        #expect(outages.note(failed(.unavailable, status: 429), at: issuer) == nil)
    }
}
