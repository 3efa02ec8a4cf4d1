import AuthRefreshInterface
import Foundation
import Basics
import Testing
import TextEncodings

@testable import authctl

/// Numbers of the daemon at the ends of 64 bits. They are shown, and nothing overflows.
@Suite struct AbsurdNumbersTests {
    private static let ends: [Int64] = [.min, .min + 1, -1, 0, .max]

    /// The numbers that are shown alone: all figures are at one end.
    @Test(arguments: ends)
    func `figures for Prometheus`(number: Int64) {
        let account = AccountExpiry(account: "work", state: "fresh", expiresAtUSec: number)
        let metrics = GetMetrics.Reply(
            version: "1",
            atUSec: number == .min ? .max : .min,
            startedAtUSec: number,
            online: true,
            states: ["fresh": number, "retrying": number],
            accounts: [account, account],
            requestsSucceeded: number,
            requestsFailed: ["unreachable": number],
            bucketEndsMs: [number, number],
            buckets: [number, number, number],
            requestsMs: number
        )
        let all = Int128(number) * 3
        #expect(MetricsText(metrics).text.contains("\nauthrefresh_token_request_duration_seconds_count \(all)\n"))
    }

    private func account(_ number: Int64, _ state: String) throws -> AccountStatus {
        let times = [
            "expiresAtUSec", "refreshedAtUSec", "nextAttemptAtUSec", "refreshTokenExpiresAtUSec",
            "clientSecretExpiresAtUSec", "clockSkewSec", "failures", "sinceUSec", "generation", "signOutAtUSec",
        ]
        let numbers = times.map { "\"\($0)\":\(number)" }.joined(separator: ",")
        let set = #"{"expiresAtUSec":\#(number)}"#
        let text = #"{"account":"work","state":"\#(state)","issuer":"i","tokenSets":[\#(set)],\#(numbers)}"#
        return try JSONDecoder().decode(AccountStatus.self, from: Data(text.utf8))
    }

    @Test(arguments: ends)
    func `the states of an account`(number: Int64) throws {
        for state in AccountState.allCases.map(\.rawValue) {
            let status = try account(number, state)
            for now: Int64 in [0, .max] {
                let view = StatusView(accounts: [status], time: LocalTime(nowUSec: now))
                #expect(view.render(TerminalStyle(width: 80)).contains("work"))
                #expect(view.screen(TerminalStyle(width: 40)).rowCount == 1)
                let change = Subscribe.Reply(event: "token-refreshed", atUSec: number, accounts: [status])
                #expect(change.text(TerminalStyle()).contains("work"))
            }
        }
    }

    @Test func `times of journal lines that nobody could have written are left out`() {
        for number in Self.ends where number != 0 {
            let end = #""AUTHREFRESH_EXPIRES_AT_USEC":"\#(number)""#
            let line = #"{"__REALTIME_TIMESTAMP":"1","AUTHREFRESH_EVENT":"e",\#(end)}"#
            #expect(JournalLine.lines(in: line).map(\.expiresAtUSec) == [nil])
            let at = #"{"__REALTIME_TIMESTAMP":"\#(number)","AUTHREFRESH_EVENT":"e"}"#
            #expect(JournalLine.lines(in: at).isEmpty)
        }
    }
}
