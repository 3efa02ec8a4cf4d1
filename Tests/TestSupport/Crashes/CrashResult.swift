/// What a run of daemons that were killed came to.
package struct CrashResult: Sendable, CustomStringConvertible {
    package let kills: Int
    package let seconds: Double
    /// Until the last kill.
    package let refreshes: Int
    /// Exchanges that the server served and whose answer no daemon has stored.
    package let exchangesCut: Int
    package let spentTokenUses: Int
    package let overlaps: Int
    /// Daemons that ended by themselves before they were killed.
    package let refusedStarts: Int
    /// What a check of the whole store found in the end, `PRAGMA integrity_check` included.
    package let storeFindings: Int
    package let lost: [CrashLoss]
    /// Accounts that came neither to a token nor to a question.
    package let unexplained: [String]

    package var description: String {
        "\(kills) kills in \(Int(seconds)) s, \(refreshes) refreshes, \(exchangesCut) exchanges cut, "
            + "\(lost.count) accounts lost"
    }
}

extension CrashResult {
    /// Runs that are shorter need not have met every moment.
    private static let killsThatMeetAll = 50

    /// What must not be: a grant lost that need not have been, a store that does not open, or a run in which nothing was under way, which
    /// shows nothing.
    ///
    /// - Parameter hasGrace: whether the server forgave a second use of a token: then nothing may be lost at all.
    package func surprises(hasGrace: Bool) -> [String] {
        var surprises = lossSurprises(hasGrace: hasGrace)
        if refusedStarts > 0 { surprises.append("\(refusedStarts) daemons did not start, or ended by themselves") }
        if storeFindings > 0 { surprises.append("\(storeFindings) findings in the store") }
        if overlaps > 0 { surprises.append("\(overlaps) refreshes of a grant beside another") }
        if refreshes <= kills / 4 { surprises.append("only \(refreshes) refreshes") }
        if exchangesCut == 0, kills >= Self.killsThatMeetAll { surprises.append("no kill fell into an exchange") }
        // Most daemons live long enough to store the answers of their first requests: a third of all exchanges is cut, on a busy machine
        // half. A daemon that held answers back before it stored them would store hardly any.
        if exchangesCut > refreshes * 9 / 10, kills >= Self.killsThatMeetAll {
            surprises.append("\(exchangesCut) of \(refreshes) answers were not stored")
        }
        return surprises
    }

    private func lossSurprises(hasGrace: Bool) -> [String] {
        guard !hasGrace else {
            let uses = spentTokenUses > 0 ? ["\(spentTokenUses) spent tokens sent"] : []
            return lost.map { "lost: \($0)" } + uses
        }
        let wrong = lost.filter { !$0.isOfUnansweredExchange }
        // A daemon that is killed after it has stored a decision and before it has logged it says nothing: a moment of a millisecond
        // in a life of a hundred, and longer on a busy machine. What it stored, status tells. A daemon that did not log them would be
        // silent after every kill. What one kill cut is decided on together when the next daemon starts, in one commit, so kills are
        // counted, not accounts.
        let unsaid = lost.filter { !$0.isSaidInLog }
        let killsWithLosses = Set(lost.map(\.cutAt)).count
        let killsUnsaid = Set(unsaid.map(\.cutAt)).count
        // A machine that is busy with something else lets a commit take longer, and so does the disk. A daemon that held answers back
        // before it stored them would lose nearly all of them so.
        let kept = lost.filter(\.wasKeptUnstored)
        return wrong.map { "lost though its answer had been stored: \($0)" }
            + (kept.count > lost.count / 2 + 1 ? kept.map { "lost though its answer had arrived: \($0)" } : [])
            + (killsUnsaid > killsWithLosses / 10 + 1 ? ["\(unsaid.count) losses that the journal does not tell"] : [])
            + unexplained.map { "neither fresh nor a question: \($0)" }
    }
}
