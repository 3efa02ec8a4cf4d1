import OAuthMessages
import TestSupport
import Testing

/// Holds every text of `OAuthMessages` and `OAuthClient` to the form: what failed, on what, why.
@Suite struct MessageFormTests {
    @Test(arguments: MessageSamples.profileFlaws)
    func `what is wrong with a profile's value follows its key`(_ flaw: ProfileFlaw) {
        #expect(MessageForm.flaws(ofMessage: flaw.text) == [])
        let first = flaw.text.prefix { $0 != " " }
        #expect(["must", "is", "has", "cannot"].contains(first), "\(flaw.text)")
    }

    @Test func `no text is without a sample`() {
        typealias Samples = MessageSamples
        #expect(Set(Samples.profileFlaws.map(Samples.name)).count == Samples.profileFlawsCount)
    }
}
