import Glibc
import TestSupport
import Testing

@testable import SecretService

/// Which error a failed call becomes, and what it says.
@Suite struct SecretServiceErrorTests {
    @Test(
        arguments: [
            ("org.freedesktop.Secret.Error.IsLocked", "m", .locked),
            ("org.freedesktop.Secret.Error.NoSession", "no session", .refused(.reported(words: "no session"))),
            ("org.example.Error.Odd", nil, .refused(.reported(words: "org.example.Error.Odd"))),
            ("org.freedesktop.DBus.Error.ServiceUnknown", "gone", .unavailable(.reportedByBus(words: "gone"))),
            ("org.example.Error.NoReply", nil, .unavailable(.reportedByBus(words: "org.example.Error.NoReply"))),
            ("org.freedesktop.DBus.Error.Spawn.ExecFailed", "no exec", .unavailable(.reportedByBus(words: "no exec"))),
            ("System.Error.ENOTCONN", "cut", .unavailable(.reportedByBus(words: "cut"))),
            (nil, nil, .unavailable(.noAnswer(errno: ETIMEDOUT))),
        ] as [(String?, String?, SecretServiceError)]
    )
    func `an error of the bus is told from one of the service`(
        name: String?,
        message: String?,
        expected: SecretServiceError
    ) {
        #expect(SecretServiceError(errno: ETIMEDOUT, name: name, message: message) == expected)
    }

    // MARK: Texts

    private static let absences: [SecretServiceError.Absence] = [
        .noBus, .busUnusable(errno: ECONNREFUSED), .noAnswer(errno: ETIMEDOUT), .reportedByBus(words: "gone"),
        .noKeyring,
    ]

    private static let refusals: [SecretServiceError.Refusal] = [.reported(words: "no session"), .unreadableAnswer]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ absence: SecretServiceError.Absence) -> String {
        switch absence {
        case .noBus: "noBus"
        case .busUnusable: "busUnusable"
        case .noAnswer: "noAnswer"
        case .reportedByBus: "reportedByBus"
        case .noKeyring: "noKeyring"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ refusal: SecretServiceError.Refusal) -> String {
        switch refusal {
        case .reported: "reported"
        case .unreadableAnswer: "unreadableAnswer"
        }
    }

    @Test func `every reason is one plain line, and no two are the same`() {
        let texts = Self.absences.map(\.text) + Self.refusals.map(\.text)
        for text in texts { #expect(MessageForm.flaws(ofMessage: text) == []) }
        #expect(Set(texts).count == texts.count)
        #expect(Set(Self.absences.map(Self.name)).count == 5)
        #expect(Set(Self.refusals.map(Self.name)).count == 2)
    }
}
