import AuthRefreshInterface
import Basics
@testable import authimport
import RefreshCore
import TextEncodings
import TestSupport
import Testing

/// What `authimport` says about an error of the daemon, and about the steps that it leaves to a person.
@Suite struct ErrorReplyTests {
    private static let unknown = reply("io.authrefresh.LimitExceeded", "{}")

    /// An error of each kind that the texts tell apart.
    private static let replies = [
        unknown,
        reply(InvalidSettingsError.name, #"{"field":"scopes","reason":"there are too many","hint":"drop some"}"#),
        reply(InvalidSettingsError.name, #"{"field":"scopes","reason":"there are too many"}"#),
        reply(
            InteractionRequiredError.name,
            #"{"account":"work","reason":"grantEnded","oauthError":"invalid_grant","sinceUSec":1,"hint":"authctl login"}"#
        ),
        reply(MisconfiguredError.name, #"{"account":"work","reason":"the client is unknown","hint":"check it"}"#),
        reply(TemporarilyUnavailableError.name, #"{"account":"work","reason":"the server is busy"}"#),
    ]

    /// Those whose text depends on the daemon's reason, because the server gave no code.
    private static let codeless = InteractionReason.allCases.map {
        reply(
            InteractionRequiredError.name,
            #"{"account":"work","reason":"\#($0.rawValue)","sinceUSec":1,"hint":"authctl login"}"#
        )
    }

    private static func reply(_ name: String, _ parameters: String) -> ErrorReply {
        ErrorReply(name: name, parameters: parameters)
    }

    @Test func `every error of the daemon is told by its reason, not by its name`() {
        for reply in Self.replies + Self.codeless {
            let error = reply.error
            #expect(MessageForm.flaws(ofMessage: error.message) == [])
            let isKnown = reply.name != Self.unknown.name
            #expect(error.message.contains(reply.name) != isKnown, "\(error.message)")
        }
        #expect(Self.replies.map(\.error.hint?.text) == [nil, "drop some", nil, "authctl login", "check it", nil])
        #expect(Set(Self.replies.map(\.error.message)).count == 5)
        // What is a code on the wire is words here.
        for (reason, reply) in zip(InteractionReason.allCases, Self.codeless) {
            #expect(!reply.error.message.contains(reason.rawValue), "\(reply.error.message)")
        }
    }

    /// What is shown while an account's program must stop, and after the account was taken over: a command, or a short
    /// line that ends in one.
    @Test(arguments: SourceProgram.allCases)
    func `every step that is left to a person is one plain line`(_ program: SourceProgram) throws {
        #expect(MessageForm.flaws(ofMessage: program.stop("work")) == [])
        for token in [nil, "r-1"] {
            let account = MovableAccount(
                source: program,
                settings: AccountSettings(name: "work"),
                refreshToken: token.map { Secret($0) },
                origin: "/home/me/a file"
            )
            let steps = program.retire(account, sourceName: "work", name: "work")
            #expect(!steps.isEmpty)
            for step in steps.map(\.text) {
                #expect(MessageForm.flaws(ofMessage: step) == [])
                #expect(!step.contains("/home/me/a file") || step.contains("'/home/me/a file'"), "\(step)")
            }
        }
    }
}
