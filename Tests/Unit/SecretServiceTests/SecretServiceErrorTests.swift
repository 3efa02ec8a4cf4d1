import Glibc
import Testing

@testable import Systemd

/// Which error a failed call becomes.
@Suite struct SecretServiceErrorTests {
    @Test(
        arguments: [
            ("org.freedesktop.Secret.Error.IsLocked", "m", .locked),
            ("org.freedesktop.Secret.Error.NoSession", "no session", .refused(reason: "it says 'no session'")),
            ("org.example.Error.Odd", nil, .refused(reason: "it says 'org.example.Error.Odd'")),
            ("org.freedesktop.DBus.Error.ServiceUnknown", "gone", .unavailable(reason: "the session bus says 'gone'")),
            (
                "org.example.Error.NoReply", nil,
                .unavailable(reason: "the session bus says 'org.example.Error.NoReply'")
            ),
            (
                "org.freedesktop.DBus.Error.Spawn.ExecFailed", "no exec",
                .unavailable(reason: "the session bus says 'no exec'")
            ),
            ("System.Error.ENOTCONN", "cut", .unavailable(reason: "the session bus says 'cut'")),
            (nil, nil, .unavailable(reason: "the session bus does not answer: Connection timed out")),
        ] as [(String?, String?, SecretServiceError)]
    )
    func `an error of the bus is told from one of the service`(
        name: String?,
        message: String?,
        expected: SecretServiceError
    ) {
        #expect(SecretServiceError(errno: ETIMEDOUT, name: name, message: message) == expected)
    }
}
