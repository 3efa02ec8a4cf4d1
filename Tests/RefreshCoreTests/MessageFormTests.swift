import TestSupport
import Testing

@testable import RefreshCore

/// Holds every text of the core to the form.
@Suite struct MessageFormTests {
    @Test(arguments: CoreFault.allCases)
    func `every summary is one plain line`(_ fault: CoreFault) {
        #expect(MessageForm.flaws(ofMessage: fault.summary) == [])
    }

    @Test(arguments: AccessTokenFlaw.allCases)
    func `the flaw of an access token is one plain line`(_ flaw: AccessTokenFlaw) {
        #expect(MessageForm.flaws(ofMessage: flaw.failure.detail.summary) == [])
    }
}
