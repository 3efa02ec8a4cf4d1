import AuthRefreshInterface
import Testing

@testable import authctl

@Suite struct LocalTimeTests {
    private let time = LocalTime(nowUSec: 1_800_000_000_000_000)

    @Test(
        arguments: [
            (0, "now"), (1, "in 1 s"), (-1, "1 s ago"), (119, "in 119 s"), (120, "in 2 min"), (-7199, "119 min ago"),
            (7200, "in 2 h"), (172_799, "in 47 h"), (172_800, "in 2 days"), (-8_640_000, "100 days ago"),
        ] as [(Int64, String)]
    )
    func `a distance is told in its largest unit and never rounded up`(seconds: Int64, words: String) {
        #expect(time.relative(time.nowUSec + seconds * 1_000_000) == words)
    }

    @Test func `a token that ends within the second is not promised a second`() {
        #expect(time.relative(time.nowUSec + 999_999) == "now")
    }

    @Test(arguments: [Int64.min, Int64.max])
    func `absurd instants are survived`(instant: Int64) {
        #expect(!time.relative(instant).isEmpty)
        #expect(!time.both(instant).isEmpty)
    }

    @Test func `another day carries its date`() {
        let tomorrow = time.nowUSec + 86_400_000_000
        #expect(time.clock(time.nowUSec).wholeMatch(of: /[0-9]{2}:[0-9]{2}/) != nil)
        #expect(time.clock(tomorrow).wholeMatch(of: /2027-01-1[56] [0-9]{2}:[0-9]{2}/) != nil)
    }
}

@Suite struct PlainTextTests {
    @Test func `characters that steer a terminal are replaced`() {
        #expect(
            PlainText.line("a\u{1B}[31m\nb\u{202E}c\u{9B}\u{7F}d") == "a\u{FFFD}[31m\u{FFFD}b\u{FFFD}c\u{FFFD}\u{FFFD}d"
        )
    }

    @Test func `other text stays`() {
        #expect(PlainText.line("Zugriff verweigert: 許可") == "Zugriff verweigert: 許可")
    }
}

@Suite struct TextTableTests {
    private var table: TextTable {
        var table = TextTable(header: ["A", "B"], cuttable: [1])
        table.rows = [[TextTable.Cell(text: "name"), TextTable.Cell(text: "0123456789abcdef", colour: .red)]]
        return table
    }

    @Test func `without a terminal nothing is cut and nothing is coloured`() {
        #expect(table.render(TerminalStyle()) == "A     B\nname  0123456789abcdef\n")
    }

    @Test func `a narrow terminal cuts the column that may be cut`() {
        #expect(table.render(TerminalStyle(width: 16)) == "A     B\nname  012345678…\n")
    }

    @Test func `a column keeps eight characters in the narrowest terminal`() {
        #expect(table.render(TerminalStyle(width: 1)) == "A     B\nname  0123456…\n")
    }

    @Test func `colour does not move columns`() {
        let coloured = table.render(TerminalStyle(isColoured: true))
        #expect(coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "") == table.render(TerminalStyle()))
        #expect(coloured.contains("\u{1B}[1;31m0123456789abcdef\u{1B}[0m"))
    }
}

@Suite struct AccountStateTests {
    private func status(_ state: AccountState, expiresAt: Int64? = nil, failures: Int64 = 0) -> AccountStatus {
        AccountStatus(
            account: "work",
            state: state.rawValue,
            issuer: "https://as.example",
            generation: 1,
            expiresAtUSec: expiresAt,
            failures: failures
        )
    }

    @Test func `an attempt under way after failures counts as retrying`() {
        #expect(status(.refreshing, expiresAt: 5, failures: 2).exitStatus(at: 10) == .tryAgainLater)
        #expect(status(.refreshing, expiresAt: 15, failures: 2).exitStatus(at: 10) == .success)
        #expect(status(.refreshing).exitStatus(at: 10) == .success)
    }

    @Test func `a refresh that failed is no success even if the old token is valid`() {
        #expect(status(.retrying, expiresAt: 15, failures: 1).exitStatus(at: 10) == .success)
        #expect(status(.retrying, expiresAt: 15, failures: 1).refreshExitStatus == .tryAgainLater)
    }

    @Test func `what a person must do outranks what time heals`() {
        let outcomes: [authctl.ExitStatus] = [
            .tryAgainLater, .interactionRequired, .misconfigured, .signedOut, .success,
        ]
        #expect(outcomes.reduce(.success, authctl.ExitStatus.worst) == .interactionRequired)
        #expect(authctl.ExitStatus.worst(.tryAgainLater, .success) == .tryAgainLater)
    }
}
