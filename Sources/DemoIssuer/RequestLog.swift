/// The log entry of a request. It identifies grants by number and contains no token.
package struct LogEntry: Sendable, Equatable, Codable {
    /// The outcome of a request.
    package enum Outcome: String, Sendable, Codable, CaseIterable {
        /// The request has arrived and waits because of `delayBefore`. A second entry follows when it is served.
        case held = "held"
        case issued = "issued"
        case rotated = "rotated"
        case graceRepeat = "grace-repeat"
        case spentTokenUsed = "spent-token-used"
        case unknownToken = "unknown-token"
        case revokedGrant = "revoked-grant"
        case wrongClient = "wrong-client"
        case scopeTooWide = "scope-too-wide"
        case unknownTarget = "unknown-target"
        /// Client authentication failed.
        case clientRefused = "client-refused"
        /// The assertion is not valid.
        case assertionRefused = "assertion-refused"
        /// A parameter is missing, repeated or not supported.
        case malformed = "malformed"
        /// A scripted fault replaced the endpoint, or the client hung up before it was served.
        case notServed = "not-served"
        /// A person is asked for consent.
        case asked = "asked"
        /// The person has consented.
        case approved = "approved"
        /// The person has not consented.
        case denied = "denied"
        /// A device polls, and nobody has decided yet.
        case pending = "pending"
        /// A code or a device code was exchanged for a grant.
        case opened = "opened"
        /// The code is unknown, has expired, or belongs to another request.
        case unknownCode = "unknown-code"
        case spentCodeUsed = "spent-code-used"
        /// A browser presented one of our tokens, and its session has ended.
        case sessionEnded = "session-ended"
        /// A client was registered, or has updated its registration.
        case registered = "registered"
        /// A client has deleted its registration.
        case deregistered = "deregistered"
        case revoked = "revoked"
        case introspected = "introspected"
        case accessAccepted = "access-accepted"
        case accessRefused = "access-refused"
    }

    /// 1 for the first request since the start, without gaps.
    package let sequence: Int
    /// µs since the Unix epoch, when the outcome was decided.
    package let timeUSec: Int64
    /// The path of the request.
    package let path: String
    /// The grant type; nil if the request had none.
    package let grantType: String?
    /// The client; nil if the request named no known client.
    package let clientID: String?
    /// The family and generation of the refresh token in the request; nil if it is unknown or missing.
    package let family: Int?
    package let generation: Int?
    package let outcome: Outcome
    /// Whether another refresh of the same family was in flight when this one arrived.
    package let overlaps: Bool
    /// The name of the scripted fault for the request, if any.
    package let fault: String?
}

/// Totals since the start. Unlike the log, they are never cut.
package struct RequestCounters: Sendable, Equatable, Codable {
    /// Requests to the token endpoint.
    package var tokenRequests = 0
    /// Refresh requests with a replaced token, without those within the grace period.
    package var spentTokenUses = 0
    /// Requests that got the previous answer again.
    package var graceRepeats = 0
    /// Refresh requests that arrived while another of the same family was in flight.
    package var overlaps = 0
    /// Refresh requests that were granted, without repeats.
    package var refreshes = 0
}

/// The last requests, and the totals.
struct RequestLog {
    /// The most entries, enough for the longest test. With about 200 bytes each, the whole log stays below 20 MB.
    static let capacity = 100_000

    private(set) var counters = RequestCounters()
    private(set) var lastSequence = 0
    // Filled at the end and cut in bulk, so that appending costs the same for any length of the log.
    private var kept: [LogEntry] = []

    /// The stored entries after `sequence`, oldest first.
    func entries(after sequence: Int) -> ArraySlice<LogEntry> {
        guard let first = kept.first?.sequence else { return [] }
        return kept.dropFirst(max(0, sequence + 1 - first)).suffix(Self.capacity)
    }

    /// Counts the arrival of a token request.
    mutating func countArrival(overlaps: Bool) {
        counters.tokenRequests += 1
        if overlaps { counters.overlaps += 1 }
    }

    /// Records a request with the next sequence number.
    mutating func append(_ request: Draft, outcome: LogEntry.Outcome, at now: Duration) {
        if [.issued, .rotated].contains(outcome) { counters.refreshes += 1 }
        if outcome == .graceRepeat { counters.graceRepeats += 1 }
        if outcome == .spentTokenUsed { counters.spentTokenUses += 1 }
        lastSequence += 1
        let entry = LogEntry(
            sequence: lastSequence,
            timeUSec: now.wholeMicroseconds,
            path: request.path,
            grantType: request.grantType,
            clientID: request.clientID,
            family: request.position?.family,
            generation: request.position?.generation,
            outcome: outcome,
            overlaps: request.overlaps,
            fault: request.fault?.name
        )
        kept.append(entry)
        if kept.count >= 2 * Self.capacity { kept.removeFirst(Self.capacity) }
    }

    /// What is known about a request before its outcome.
    struct Draft {
        let path: String
        var grantType: String?
        var clientID: String?
        var position: TokenPosition?
        var overlaps = false
        var fault: Fault?

        /// The same request with the client, which is now known.
        func naming(_ client: String) -> Draft {
            var draft = self
            draft.clientID = client
            return draft
        }
    }
}
