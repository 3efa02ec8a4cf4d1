import AuthRefreshInterface
import Glibc
import Logging
import RefreshCore
import Synchronization
import Systemd
import TestSupport
import Testing
import Varlink

@testable import authrefreshd

struct RefusalLogTests {
    private let log = EventLog<String>()
    private let changeLog: ChangeLog

    init() {
        changeLog = ChangeLog(logger: Logger(label: "test") { [log] _ in CollectingLogHandler(log: log) })
    }

    /// - Returns: the lines that were written.
    private func refuse(_ refusal: PeerFinding, times: Int) -> ArraySlice<String> {
        let before = log.count
        for _ in 0..<times { changeLog.record(.refused(refusal, peer: nil)) }
        return log.all[before...]
    }

    @Test func `no refusal reason at the socket hides another, and no user hides another`() throws {
        let all = CallerLimits.refusalLinesMax
        let reasons: [PeerFinding] = [
            .messageMalformed, .messageIncomplete, .messageTooLong(limit: 1), .peerUnknown,
            .repliesNotRead(limit: 1), .peerNotAllowed(uid: 1001), .peerNotAllowed(uid: 1002),
        ]
        for (index, refusal) in reasons.enumerated() {
            let lines = refuse(refusal, times: all + 3)
            #expect(lines.count == all)
            let first = try #require(lines.first)
            #expect(first.contains("\(JournalKey.error.rawValue)=\(refusal)"), "\(first)")
            #expect(MessageForm.flaws(ofMessage: "\(refusal)") == [])
            // The number of lines left out for the previous reason.
            #expect(first.contains("\(JournalKey.leftOut.rawValue)=3") == (index > 0), "\(first)")
            for line in lines.dropFirst() { #expect(!line.contains(JournalKey.leftOut.rawValue), "\(line)") }
        }
    }

    @Test(arguments: HeldResource.allCases)
    func `the journal names the program with the most, whatever is crowded, and remembers it for doctor`(
        resource: HeldResource
    ) throws {
        let all = CallerLimits.refusalLinesMax
        var lines: ArraySlice<String> = []
        // Other amounts are no other reason.
        for amount in 1...all + 3 {
            let crowding = Shares.Crowding(capacity: 100, process: getpid(), amount: amount)
            lines += refuse(.crowded(resource, crowding), times: 1)
        }
        #expect(lines.count == all)
        let name = try #require(PeerProcess.name(of: getpid()))
        let first = try #require(lines.first)
        #expect(first.contains("'\(name)' (process \(getpid())) has 1 of 100 "), "\(first)")
        #expect(!first.contains("Crowding"), "\(first)")
        let recent = changeLog.recentHoarders()
        #expect(recent.count == 1)
        #expect(recent.first?.text.contains("has \(all + 3) of 100 \(resource.limit.words)") == true)
        #expect(changeLog.recentHoarders(at: .now + .seconds(3600)).isEmpty)
    }

    @Test func `refusals at the socket hide no refusals by lists, and no list hides another's`() throws {
        let all = CallerLimits.refusalLinesMax
        _ = refuse(.messageMalformed, times: all + 3)
        for (name, leftOut) in [("work", nil), ("home", "5")] {
            let account = try #require(AccountName(name))
            let before = log.count
            for _ in 0..<all + 5 { changeLog.denied("no", of: account) }
            let lines = log.all[before...]
            #expect(lines.count == all)
            let first = try #require(lines.first)
            #expect(first.contains("\(JournalKey.account.rawValue)=\(name)"), "\(first)")
            #expect(first.contains(JournalKey.leftOut.rawValue) == (leftOut != nil), "\(first)")
            if let leftOut { #expect(first.contains("\(JournalKey.leftOut.rawValue)=\(leftOut)"), "\(first)") }
        }
    }
}
