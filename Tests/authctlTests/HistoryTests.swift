import Testing

@testable import authctl

@Suite struct HistoryTests {
    /// A history that ends five hours after 1970, of lines that come in the middle of their hours.
    private func hours(_ events: [(hour: Int64, event: String)]) -> [HourState] {
        let lines = events.map { hour, event in
            let at = hour * AccountHistory.hour + AccountHistory.hour / 2
            return #"{"__REALTIME_TIMESTAMP":"\#(at)","AUTHREFRESH_EVENT":"\#(event)"}"#
        }
        let journal = AccountJournal.lines(in: lines.joined(separator: "\n"))
        return AccountHistory(lines: journal, nowUSec: 5 * AccountHistory.hour, hourCount: 5).hours
    }

    @Test func `a parked account that was resumed is not signed out any more`() {
        let parked = hours([(0, "account-parked")])
        #expect(parked == [.signedOut, .signedOut, .signedOut, .signedOut, .signedOut])
        let resumed = hours([(0, "account-parked"), (1, "account-resumed")])
        #expect(resumed == [.signedOut, .signedOut, .unknown, .unknown, .unknown])
        let refreshed = hours([(0, "account-parked"), (1, "account-resumed"), (2, "token-refreshed")])
        #expect(refreshed == [.signedOut, .signedOut, .fresh, .fresh, .fresh])
    }

    @Test func `a journal without an entry says so, and whether journald runs`() {
        let here = HistoryCommand.notes(onNothingAbout: "work", hours: 1, journald: "/")
        #expect(here == [.emptyHistory(account: "work", hours: 1)])
        let absent = HistoryCommand.notes(onNothingAbout: "work", hours: 48, journald: "/no-such-socket")
        #expect(absent == [.emptyHistory(account: "work", hours: 48), .noJournald])
    }
}
