import AuthRefreshInterface
import Basics
import Foundation
import TestSupport
import Testing

@testable import authctl

@Suite struct HistoryTests {
    /// A history that ends five hours after 1970, of lines that come in the middle of their hours.
    private func hours(_ events: [(hour: Int64, event: String)]) -> [HourState] {
        let lines = events.map { hour, event in
            let at = hour * AccountHistory.hour + AccountHistory.hour / 2
            return #"{"__REALTIME_TIMESTAMP":"\#(at)","AUTHREFRESH_EVENT":"\#(event)"}"#
        }
        let journal = JournalLine.lines(in: lines.joined(separator: "\n"))
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
        let empty = "your journal has no entry about 'work' for the last"
        #expect(here.map(\.text) == ["\(empty) hour; for its state: authctl status work"])
        let absent = HistoryCommand.notes(onNothingAbout: "work", hours: 48, journald: "/no-such-socket")
        #expect(
            absent.map(\.text) == [
                "\(empty) 48 hours; for its state: authctl status work",
                "journald does not run on this machine; the daemon writes to its standard error instead",
            ]
        )
    }

    /// The lines of a history of two days, with an outage that has a long cause.
    private func lines(width: Int?) throws -> [String] {
        let journal = JournalLine.lines(
            in: #"""
                {"__REALTIME_TIMESTAMP":"90000000000","AUTHREFRESH_EVENT":"token-refreshed"}
                {"__REALTIME_TIMESTAMP":"150000000000","AUTHREFRESH_EVENT":"refresh-failed","AUTHREFRESH_ERROR":"\#(Self.cause)"}
                """#
        )
        let history = AccountHistory(lines: journal, nowUSec: 48 * AccountHistory.hour, hourCount: 48)
        let text = history.text(of: "work", TerminalStyle(width: width))
        return text.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?/, with: "T")
            .split(separator: "\n").map(String.init)
    }

    @Test func `the events of a history are wrapped beside their times`() throws {
        let margin = String(repeating: " ", count: 21)
        let end = [
            "T  refreshed", "T  refresh failed: the authorization server is busy and asks",
            margin + "to come again later",
        ]
        #expect(Array(try lines(width: 80).suffix(3)) == end)
        #expect(try lines(width: nil).last == "T  refresh failed: \(Self.cause)")
    }

    @Test func `on a narrow terminal a line of the plot has half a day, and nothing exceeds the width`() throws {
        let narrow = try lines(width: 40)
        #expect(narrow.filter { $0.wholeMatch(of: /T  [ .~]{12}/) != nil }.count == 4)
        #expect(try lines(width: 80).filter { $0.wholeMatch(of: /T  [ .~]{24}/) != nil }.count == 2)
        // A time has 16 columns in the plot, and 19 before an event.
        #expect(narrow.allSatisfy { $0.count + ($0.hasPrefix("T") ? 18 : 0) <= 40 })
        #expect(narrow.last == "  to come again later")
    }

    private static let cause = "the authorization server is busy and asks to come again later"

    @Test func `the history has short words for all news, none the same`() {
        let events = AccountNews.allCases.map(\.rawValue)
        for event in events {
            let words = AccountHistory.words(for: event)
            #expect(words.first?.isLowercase == true, "\(event)")
            #expect(!words.replacing("sign-in", with: "").contains("-"), "\(event)")
            // With its time, a count and the time of the first one, it fits into a line.
            #expect(words.count <= 32, "\(event)")
        }
        #expect(Set(events.map(AccountHistory.words)).count == events.count)
    }

    @Test func `the history calls the hours as its JSON and the page about it do`() throws {
        let page = try SourceTree.text("Sources/authrefreshd/Documentation.docc/JSON-of-authctl.md")
        let row = try #require(page.split(separator: "\n").first { $0.contains("The worst state in this hour") })
        let named = row.matches(of: /`([a-z-]+)`/).map { String($0.1) }.filter { $0 != "state" }
        #expect(Set(named) == Set(HourState.allCases.map(\.rawValue)))
        let legend = try #require(lines(width: nil).first)
        #expect(
            legend == "work, a character for each of the last 48 hours: . fresh, ~ retrying, ! needs you, - signed out"
        )
        for state in HourState.allCases where state != .unknown {
            #expect(legend.contains(" \(state.rawValue.replacing("-", with: " "))"), "\(state)")
        }
        // What the status calls an account that needs somebody.
        #expect(AccountHistory.words(for: "interaction-required") == "needs you")
    }

}
