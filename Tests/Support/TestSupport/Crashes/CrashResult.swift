/// The result of a crash run.
package struct CrashResult: Sendable, CustomStringConvertible {
    package let kills: Int
    package let seconds: Double
    /// The number of refreshes until the last kill.
    package let refreshes: Int
    /// The number of exchanges that the server served and no daemon stored.
    package let exchangesCut: Int
    package let spentTokenUses: Int
    package let overlaps: Int
    /// The number of daemons that ended by themselves before they were killed.
    package let refusedStarts: Int
    /// The number of faults found by a check of the whole store at the end, including `PRAGMA integrity_check`.
    package let storeFindings: Int
    package let lost: [CrashLoss]
    /// Accounts that ended with neither a token nor a question to a person.
    package let unexplained: [String]

    package var description: String {
        "\(kills) kills in \(Int(seconds)) s, \(refreshes) refreshes, \(exchangesCut) exchanges cut, "
            + "\(lost.count) accounts lost"
    }
}

extension CrashResult {
    /// Shorter runs may not hit every kind of moment.
    private static let killsThatMeetAll = 50

    /// What went wrong: an avoidable loss of a grant, a store that does not open, or a run without any exchange in
    /// flight, which proves nothing.
    ///
    /// - Parameter hasGrace: whether the server accepted a second use of a token. Then no grant may be lost at all.
    package func surprises(hasGrace: Bool) -> [String] {
        var surprises = lossSurprises(hasGrace: hasGrace)
        if refusedStarts > 0 { surprises.append("\(refusedStarts) daemons did not start, or ended by themselves") }
        if storeFindings > 0 { surprises.append("\(storeFindings) findings in the store") }
        if overlaps > 0 { surprises.append("\(overlaps) refreshes of a grant beside another") }
        if refreshes <= kills / 4 { surprises.append("only \(refreshes) refreshes") }
        if exchangesCut == 0, kills >= Self.killsThatMeetAll { surprises.append("no kill fell into an exchange") }
        if exchangesCut >= refreshes, kills >= Self.killsThatMeetAll {
            surprises.append("none of \(refreshes) answers was stored")
        }
        return surprises
    }

    private func lossSurprises(hasGrace: Bool) -> [String] {
        guard !hasGrace else {
            let uses = spentTokenUses > 0 ? ["\(spentTokenUses) spent tokens sent"] : []
            return lost.map { "lost: \($0)" } + uses
        }
        let wrong = lost.filter { !$0.isOfUnansweredExchange }
        // A daemon that is killed after it stored a decision and before it logged it leaves no log line; `status` still
        // shows what was stored. How many kills hit that moment depends on the machine. A daemon that never logged its
        // decisions would leave no line after any kill. The next daemon decides on everything that one kill cut off in
        // one commit, so kills are counted, not accounts.
        let unsaid = lost.filter { !$0.isSaidInLog }
        let killsWithLosses = Set(lost.map(\.cutAt)).count
        let killsUnsaid = Set(unsaid.map(\.cutAt)).count
        return wrong.map { "lost though its answer had been stored: \($0)" }
            + (killsUnsaid > 1 && killsUnsaid == killsWithLosses
                ? ["\(unsaid.count) losses that the journal does not tell"] : [])
            + unexplained.map { "neither fresh nor a question: \($0)" }
    }
}
