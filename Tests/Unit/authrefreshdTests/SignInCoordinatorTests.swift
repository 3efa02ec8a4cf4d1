import AccountStorage
import DemoIssuer
import RefreshCore
@testable import authrefreshd
import TestSupport
import Testing

/// The effects of time and of the account's owner on a sign-in, with a clock that the test moves.
struct SignInCoordinatorTests {
    private typealias Reports = EventLog<RunningSignIn.Report>

    private func withSignIn(
        _ flow: SignInFlow,
        _ body: (CoordinatorRig, AccountID, Reports) async throws -> Void
    ) async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            let id = try await rig.add("work", url, issuer.issueGrant(clientID: "app"))
            let snapshot = try #require(try await rig.state(of: "work"))
            let reports = Reports()
            var request = SignInRequest()
            request.flow = flow
            _ = try await rig.inside { [request] in
                try $0.beginSignIn(request, of: snapshot, follower: { reports.append($0) })
            }
            try await reports.first("started") { if case .news = $0 { true } else { false } }
            try await body(rig, id, reports)
            await rig.stop()
        }
    }

    private func end(_ reports: Reports) async throws -> SignInEnd? {
        let last = try await reports.first("the end") { if case .ended = $0 { true } else { false } }
        if case .ended(let end) = last { return end }
        return nil
    }

    @Test func `followers learn of a beginning before everybody else, and of a failure after`() async throws {
        try await withIssuer { issuer, url in
            let rig = try CoordinatorRig()
            try await rig.start()
            _ = try await rig.add("work", url, issuer.issueGrant(clientID: "app"))
            let snapshot = try #require(try await rig.state(of: "work"))
            // The journal's lines, and among them what the follower is told.
            let log = rig.log
            _ = try await rig.inside {
                try $0.beginSignIn(SignInRequest(), of: snapshot) { report in
                    switch report {
                    case .news: log.append("follower: beginning")
                    case .ended: log.append("follower: end")
                    case .completed: break
                    }
                }
            }
            try await log.first("the beginning") { $0.contains("sign-in started") }
            await rig.pass(.seconds(600))
            try await log.first("the end") { $0 == "follower: end" }
            let told = ["follower: beginning", "sign-in started", "sign-in ended without tokens", "follower: end"]
            let heard = log.all.compactMap { line in told.first { line.contains($0) } }
            #expect(heard == told)
            await rig.stop()
        }
    }

    @Test(arguments: [SignInFlow.browser, .paste, .device])
    func `a sign-in without an answer ends after its time`(flow: SignInFlow) async throws {
        try await withSignIn(flow) { rig, id, reports in
            await rig.pass(.seconds(600))
            let end = try await end(reports)
            #expect(end == .timedOut)
            let isForgotten = await rig.inside { $0.signIns[id] == nil }
            #expect(isForgotten)
            #expect(rig.log.all.contains { $0.contains("sign-in ended without tokens") && $0.contains("in time") })
        }
    }

    @Test func `a sign-in ends with its account, and with the client that it was asked for`() async throws {
        try await withSignIn(.paste) { rig, id, reports in
            try await rig.inside { try $0.remove(id) }
            #expect(try await end(reports) == .cancelled(by: .removed))
        }
        try await withSignIn(.paste) { rig, _, reports in
            let id = try #require(try await rig.state(of: "work")).account.id
            _ = try await rig.inside {
                try $0.update(
                    id,
                    by: SettingsChange(setting: { $0.policy.leadTime = .seconds(60) })
                )
            }
            #expect(reports.count == 1)
            _ = try await rig.inside {
                try $0.update(
                    id,
                    by: SettingsChange(setting: { $0.registration.clientID = "other" })
                )
            }
            #expect(try await end(reports) == .cancelled(by: .changed))
        }
    }

    @Test func `a stopping daemon does not wait for people at a browser`() async throws {
        try await withSignIn(.browser) { rig, _, reports in
            await rig.stop()
            let end = try await end(reports)
            #expect(end == .cancelled(by: .stopping))
        }
    }

    @Test func `the secrets of a sign-in have the standards' length and are never repeated`() {
        let secrets = (0..<100).map { _ in SignInSecrets() }
        let all = secrets.flatMap { [$0.state, $0.nonce, $0.codeVerifier] }.map { $0.reveal() }
        #expect(Set(all).count == 300)
        // RFC 7636 §4.1: 43 to 128 characters of this alphabet.
        #expect(all.allSatisfy { $0.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil })
        #expect("\(secrets[0])" == "\(secrets[1])")
    }
}
