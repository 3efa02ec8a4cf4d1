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
    /// When the last daemon was killed, in microseconds since 1970. It had an exchange in flight, and the next one lived on.
    package let lastKill: Int64
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
        // The daemon logs on a thread of its own, so a kill takes lines with it, as many as the machine is slow. Of the last kill
        // all losses must be in the log, because the daemon that decided on them was not killed.
        let last = lost.filter { $0.cutAt == lastKill }
        return wrong.map { "lost though its answer had been stored: \($0)" }
            + (last.isEmpty ? ["the last kill fell into no exchange"] : [])
            + last.filter { !$0.isSaidInLog }.map { "the journal does not tell: \($0)" }
            + unexplained.map { "neither fresh nor a question: \($0)" }
    }
}
