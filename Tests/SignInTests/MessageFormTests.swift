import TestSupport
import Testing

@testable import SignIn

/// Holds every text of `Messages.swift` to the form: what failed, on what, why.
@Suite struct MessageFormTests {
    private static let faults: [SignInFault] =
        [
            .personUnknown(owner: "joe@example.org"), .personNotNamed(owner: "joe@example.org"), .storeUnwritable,
            .codeRefused, .serverError,
        ]
        + Mistrust.allCases.map(SignInFault.mistrusted)

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ fault: SignInFault) -> String {
        switch fault {
        case .personUnknown: "personUnknown"
        case .personNotNamed: "personNotNamed"
        case .storeUnwritable: "storeUnwritable"
        case .codeRefused: "codeRefused"
        case .serverError: "serverError"
        case .mistrusted: "mistrusted"
        }
    }

    @Test func `every reason is one plain line, and no two are the same`() {
        for fault in Self.faults { #expect(MessageForm.flaws(ofMessage: fault.reason) == []) }
        #expect(Set(Self.faults.map(\.reason)).count == Self.faults.count)
        #expect(Set(Self.faults.map(Self.name)).count == 6)
    }

    @Test(arguments: [RedirectListenerError.portTaken(8765), .cannotListen(port: 80, errno: 13)])
    func `why a port cannot be listened on is one plain line that names the port`(_ error: RedirectListenerError) {
        #expect(MessageForm.flaws(ofMessage: error.reason) == [])
        switch error {
        case .portTaken(let port), .cannotListen(let port, _):
            #expect(error.reason.contains("port \(port) "), "\(error.reason)")
        }
    }
}
