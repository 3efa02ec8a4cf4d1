import DemoIssuer
import TestSupport
import Testing
import VarlinkClient

@testable import authdemo

/// Holds every error of `authdemo` to the form: what failed, on what, why.
@Suite struct MessageFormTests {
    private static let ends: [FeedEnd] = [
        .connection(.timedOut), .refused(name: "io.authrefresh.LimitExceeded"), .unreadableReply, .completed,
    ]

    private static let issuers: [DemoIssuerError] = [
        .startedBefore, .cannotListen(port: 80, errno: 13), .cannotListen(port: 80, errno: 0), .noSuchClient(id: "app"),
        .noSuchGrant(family: 2), .noRequest(within: .seconds(5)), .tooManyFaults,
    ]

    private static let steps: [DemoStep] = [
        .daemonListens, .command("authctl status"), .firstRefresh, .silentRefresh(number: 1), .resourceAnswers,
        .revocationNoticed, .newGrantUsed, .refreshOfNewGrant, .daemonStops,
    ]

    private static let errors: [DemoError] =
        [
            .noProgram(path: "/bin/authctl"), .cannotMake(path: "/tmp/demo"), .cannotStart(program: "authctl"),
            .cannotWriteOutput, .daemonEnded(.status(1)), .daemonDidNotStop(limit: .seconds(5)),
            .commandFailed(command: "authctl status", expected: 0, end: .status(75), errors: ""),
            .accessTokenRefused(httpStatus: 401), .accessTokenRefused(httpStatus: nil),
            .wrongReason(oauthError: nil, hint: nil), .brokenPromise(overlaps: 1, spentTokenUses: 0),
            .interrupted(signal: 2),
        ] + ends.map(DemoError.subscriptionEnded) + issuers.map(DemoError.issuer)
        + steps.map { DemoError.tookTooLong($0, limit: .seconds(20)) }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ error: DemoError) -> String {
        switch error {
        case .noProgram: "noProgram"
        case .cannotMake: "cannotMake"
        case .cannotStart: "cannotStart"
        case .cannotWriteOutput: "cannotWriteOutput"
        case .issuer: "issuer"
        case .tookTooLong: "tookTooLong"
        case .daemonEnded: "daemonEnded"
        case .daemonDidNotStop: "daemonDidNotStop"
        case .subscriptionEnded: "subscriptionEnded"
        case .commandFailed: "commandFailed"
        case .accessTokenRefused: "accessTokenRefused"
        case .wrongReason: "wrongReason"
        case .brokenPromise: "brokenPromise"
        case .interrupted: "interrupted"
        }
    }

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    private static func name(_ step: DemoStep) -> String {
        switch step {
        case .daemonListens: "daemonListens"
        case .command: "command"
        case .firstRefresh: "firstRefresh"
        case .silentRefresh: "silentRefresh"
        case .resourceAnswers: "resourceAnswers"
        case .revocationNoticed: "revocationNoticed"
        case .newGrantUsed: "newGrantUsed"
        case .refreshOfNewGrant: "refreshOfNewGrant"
        case .daemonStops: "daemonStops"
        }
    }

    @Test func `every error is one plain line`() {
        for error in Self.errors {
            #expect(MessageForm.flaws(ofMessage: error.description) == [])
            // A case of an enumeration is no sentence.
            #expect(!error.description.contains("timedOut"))
        }
        #expect(Set(Self.errors.map(Self.name)).count == 14)
        #expect(Set(Self.steps.map(Self.name)).count == 9)
    }
}
