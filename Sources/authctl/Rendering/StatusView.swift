internal import AuthRefreshInterface
internal import Basics
internal import TextEncodings

/// The output of `authctl status`: a table, then what to do, then a summary in one line.
struct StatusView {
    static let noAccounts = "no accounts"
    /// The command that adds the first account, as the README begins.
    static let firstLogin = Command("login", "work", "--provider", "google")
    /// What a person without accounts is told.
    static let firstAccount: Hint = "to add the first account: \(firstLogin)"

    let accounts: [AccountStatus]
    let time: LocalTime

    /// Lines about the daemon itself, each with a newline.
    var condition = ""

    /// A line for each problem of the daemon itself, with a newline; empty if there is none.
    static func condition(of info: GetInfo.Reply) -> String {
        (info.online ? "" : "no network route: only servers on this machine are asked\n")
            + (info.trouble.map { "trouble: \(PlainText.line($0))\n" } ?? "")
    }

    /// `1 account`, `3 accounts`.
    static func accounts(_ count: some BinaryInteger) -> String { "\(count) \(count == 1 ? "account" : "accounts")" }

    /// The lines, each with a newline.
    func render(_ style: TerminalStyle) -> String {
        guard !accounts.isEmpty else { return Self.noAccounts + "\n" + condition }
        let notes = accounts.compactMap { StatusNote($0, time)?.render(style) }.joined(separator: "\n")
        let parts = [table(accounts).render(style), notes, end(style).joined(separator: "\n") + "\n"]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    /// The same for a screen that scrolls: the most urgent accounts come first, and nothing exceeds the width.
    func screen(_ style: TerminalStyle) -> StatusScreen {
        guard !accounts.isEmpty else {
            return StatusScreen(header: [], body: [Self.noAccounts], rowCount: 0, end: Self.lines(condition))
        }
        let urgent = accounts.enumerated().sorted {
            ($0.element.urgency(at: time.nowUSec), $0.offset) < ($1.element.urgency(at: time.nowUSec), $1.offset)
        }.map(\.element)
        let table = Self.lines(table(urgent).render(style))
        let notes = urgent.compactMap { StatusNote($0, time)?.render(style, breaking: true) }
        return StatusScreen(
            header: Array(table.prefix(1)),
            body: table.dropFirst() + notes.flatMap { [""] + Self.lines($0) },
            rowCount: urgent.count,
            end: end(style)
        )
    }

    private func end(_ style: TerminalStyle) -> [String] {
        Self.lines(summary + "\n" + clocks + condition).flatMap {
            WrappedText.lines($0, width: style.width, indent: 2)
        }
    }

    private static func lines(_ text: String) -> [String] {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty ?? false { lines.removeLast() }
        return lines
    }

    private func table(_ accounts: [AccountStatus]) -> TextTable {
        // Show this column only if a server has sent a name.
        let hasPeople = accounts.contains { $0.person?.best != nil }
        var table = TextTable(
            header: ["ACCOUNT", "STATE", "EXPIRES", "NEXT REFRESH", "ISSUER"] + (hasPeople ? ["SIGNED IN AS"] : []),
            cuttable: [4, 0],
            droppable: (hasPeople ? [5] : []) + [3, 4, 2]
        )
        table.rows = accounts.map { status in
            let person = hasPeople ? [TextTable.Cell(text: PlainText.line(status.person?.best ?? "-"))] : []
            return [
                TextTable.Cell(text: PlainText.line(status.account)),
                TextTable.Cell(text: PlainText.line(status.state), colour: colour(of: status)),
                TextTable.Cell(text: expiry(of: status)),
                TextTable.Cell(text: nextRefresh(of: status)),
                TextTable.Cell(text: Self.host(of: status.issuer)),
            ] + person
        }
        return table
    }

    private func expiry(of status: AccountStatus) -> String {
        guard let end = status.expiresAtUSec else { return "-" }
        return switch status.expiryBasis {
        case nil: time.relative(end)
        case "unlimited": "never"
        case .some: "\(time.relative(end)) (assumed)"
        }
    }

    private func nextRefresh(of status: AccountStatus) -> String {
        if status.knownState == .refreshing { return "now" }
        guard let next = status.nextAttemptAtUSec else { return "-" }
        return next <= time.nowUSec ? "now" : time.relative(next)
    }

    private func colour(of status: AccountStatus) -> TerminalStyle.Colour? {
        switch status.knownState {
        case .fresh: .green
        case .refreshing: .cyan
        case .retrying: status.isValid(at: time.nowUSec) ? .yellow : .red
        case .refreshTokenExpiring: .yellow
        case .interactionRequired, .misconfigured: .red
        case .signedOut, .parked: .faint
        case nil: nil
        }
    }

    /// A line for each server whose clock differs from this machine's by a minute or more. One of the two is wrong, and
    /// with a wrong clock, certificates and tokens are misjudged.
    private var clocks: String {
        let skews = Dictionary(accounts.map { (Self.host(of: $0.issuer), $0.clockSkewSec ?? 0) }) { first, _ in first }
        return skews.filter { $0.value.magnitude >= 60 }.sorted { $0.key < $1.key }.reduce(into: "") { text, skew in
            let length = LocalTime.length(Int64(clamping: skew.value.magnitude))
            let direction = skew.value > 0 ? "ahead of" : "behind"
            text += "the clock of \(skew.key) is \(length) \(direction) this machine's\n"
        }
    }

    /// `3 accounts: 2 fresh, 1 interaction-required`, with the most urgent states first.
    private var summary: String {
        let counts = Dictionary(grouping: accounts, by: \.state).mapValues(\.count)
        let known = AccountState.allCases.map(\.rawValue)
        let order = known.filter { counts[$0] != nil } + counts.keys.filter { !known.contains($0) }.sorted()
        let parts = order.map { "\(counts[$0] ?? 0) \(PlainText.line($0))" }
        return "\(Self.accounts(accounts.count)): \(parts.joined(separator: ", "))"
    }

    /// The host of an issuer's URL, with its port; the whole text if it is not a URL.
    static func host(of issuer: String) -> String {
        PlainText.line(ShownHost.of(issuer))
    }
}

/// The states of accounts, by their wire names.
enum AccountState: String, CaseIterable, Sendable {
    case fresh
    case refreshing
    case retrying
    case interactionRequired = "interaction-required"
    case refreshTokenExpiring = "refresh-token-expiring"
    case signedOut = "signed-out"
    case misconfigured
    case parked
}

extension AccountStatus {
    /// The state; nil if the daemon is newer and the state is unknown here.
    var knownState: AccountState? { AccountState(rawValue: state) }

    /// Whether the store cannot read the account.
    var isDamaged: Bool { reason == "damaged" }

    /// The position in a list ordered by urgency; 0 comes first.
    func urgency(at nowUSec: Int64) -> Int {
        switch knownState {
        case .interactionRequired: 0
        case .misconfigured: 1
        case .retrying: isValid(at: nowUSec) ? 4 : 2
        case .signedOut: 3
        case .refreshTokenExpiring: 5
        case nil: 6
        case .refreshing: failures > 0 ? 4 : 8
        case .parked: 7
        case .fresh: hint == nil ? 8 : 5
        }
    }

    /// Whether there is an access token that has not expired.
    func isValid(at nowUSec: Int64) -> Bool {
        expiresAtUSec.map { $0 > nowUSec } ?? false
    }

    /// The exit status of `authctl status ACCOUNT`: whether a token is available.
    func exitStatus(at nowUSec: Int64) -> ExitStatus {
        switch knownState {
        case .fresh, .refreshTokenExpiring, nil: .success
        // An attempt after failures still counts as retrying, so that the status does not alternate.
        case .refreshing, .retrying: failures == 0 || isValid(at: nowUSec) ? .success : .tryAgainLater
        case .interactionRequired: .interactionRequired
        case .signedOut: .signedOut
        case .misconfigured: .misconfigured
        case .parked: isValid(at: nowUSec) ? .success : .signedOut
        }
    }

    /// The exit status after waiting for a refresh. A token that is still valid does not count as success.
    var refreshExitStatus: ExitStatus {
        switch knownState {
        case .fresh, .refreshTokenExpiring, nil: failures == 0 ? .success : .tryAgainLater
        case .refreshing, .retrying: .tryAgainLater
        case .interactionRequired: .interactionRequired
        case .signedOut, .parked: .signedOut
        case .misconfigured: .misconfigured
        }
    }
}
