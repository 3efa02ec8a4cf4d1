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

    @Test(arguments: MessageSamples.requestFaults)
    func `why nothing is sent, or an answer cannot be used, is one plain line`(_ fault: RequestFault) {
        #expect(MessageForm.flaws(ofMessage: fault.summary) == [])
    }

    @Test(arguments: MessageSamples.contradictions)
    func `why an issuer is contradicted is one plain line`(_ contradiction: IssuerContradiction) {
        #expect(MessageForm.flaws(ofMessage: contradiction.text) == [])
    }

    @Test(arguments: MessageSamples.silences)
    func `why an issuer cannot be asked is one plain line`(_ silence: IssuerSilence) {
        #expect(MessageForm.flaws(ofMessage: silence.text, names: ["HTTPS_PROXY"]) == [])
    }

    @Test func `no text is without a sample`() {
        typealias Samples = MessageSamples
        #expect(Set(Samples.requestFaults.map(Samples.name)).count == Samples.requestFaultsCount)
        #expect(Set(Samples.joseErrors.map(Samples.name)).count == Samples.joseErrorsCount)
        #expect(Set(Samples.silences.map(Samples.name)).count == Samples.silencesCount)
        #expect(Set(Samples.contradictions.map(Samples.name)).count == Samples.contradictionsCount)
        #expect(Set(Samples.profileFlaws.map(Samples.name)).count == Samples.profileFlawsCount)
    }
}
