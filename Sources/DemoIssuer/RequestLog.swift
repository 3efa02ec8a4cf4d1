/// One request as the server saw it; it names grants by number and holds no token.
package struct LogEntry: Sendable, Equatable, Codable {
    /// What became of the request.
    package enum Outcome: String, Sendable, Codable, CaseIterable {
        /// The request has arrived and waits out a `delayBefore`; a second entry follows when it is served.
        case held = "held"
        case issued = "issued"
        case rotated = "rotated"
        case graceRepeat = "grace-repeat"
        case spentTokenUsed = "spent-token-used"
        case expiredToken = "expired-token"
        case unknownToken = "unknown-token"
        case revokedGrant = "revoked-grant"
        case wrongClient = "wrong-client"
        case scopeTooWide = "scope-too-wide"
        case unknownTarget = "unknown-target"
        /// Client authentication failed.
        case clientRefused = "client-refused"
        /// An assertion that is not good.
        case assertionRefused = "assertion-refused"
        /// A parameter is missing, doubled or not supported.
        case malformed = "malformed"
        /// A scripted fault took the endpoint's place, or the client hung up before it was served.
        case notServed = "not-served"
        /// A person is asked for consent.
        case asked = "asked"
        /// The person has consented.
        case approved = "approved"
        /// The person has not consented.
        case denied = "denied"
        /// A device asks, and nobody has decided yet.
        case pending = "pending"
        /// A code or a device code was exchanged for a grant.
        case opened = "opened"
        /// The code is unknown, has ended, or belongs to another request.
        case unknownCode = "unknown-code"
        case spentCodeUsed = "spent-code-used"
        /// A browser came with a token of ours, and its session has ended.
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
    /// The request's path.
    package let path: String
    /// nil where the request had none.
    package let grantType: String?
    /// nil when no known client was named.
    package let clientID: String?
    /// The family and generation of the refresh token *sent*; nil when it is unknown or there was none.
    package let family: Int?
    package let generation: Int?
    package let outcome: Outcome
    /// Whether another refresh of the same family was in flight when this one arrived.
    package let overlaps: Bool
    /// Name of the scripted fault that befell the request, if any.
    package let fault: String?
    /// µs since the Unix epoch, when the last byte of the answer was about to leave, or the connection had ended without; nil before
    /// that.
    package internal(set) var answeredUSec: Int64?
}

/// Totals since the start; unlike the log they forget nothing.
package struct RequestCounters: Sendable, Equatable, Codable {
    /// Requests to the token endpoint.
    package var tokenRequests = 0
    /// Refresh requests with a token that had been replaced, those forgiven by the grace period not included.
    package var spentTokenUses = 0
    /// Requests that got the previous answer again.
    package var graceRepeats = 0
    /// Refresh requests that arrived while another of the same family was in flight.
    package var overlaps = 0
    /// Refresh requests that were granted, repeats not included.
    package var refreshes = 0
}

/// The last requests and the totals.
struct RequestLog {
    /// Enough for the longest test; at about 200 bytes an entry the whole log stays below 20 MB.
    static let capacity = 100_000

    private(set) var counters = RequestCounters()
    private(set) var lastSequence = 0
    // Filled from the front and cut in bulk, so that an append costs the same however long the log is.
    private var kept: [LogEntry] = []

    /// The entries after `sequence` that are still kept, oldest first.
    func entries(after sequence: Int) -> ArraySlice<LogEntry> {
        guard let first = kept.first?.sequence else { return [] }
        return kept.dropFirst(max(0, sequence + 1 - first)).suffix(Self.capacity)
    }

    /// Notes a token request's arrival.
    mutating func countArrival(overlaps: Bool) {
        counters.tokenRequests += 1
        if overlaps { counters.overlaps += 1 }
    }

    /// Writes a request down under the next sequence number.
    mutating func append(_ request: Draft, outcome: LogEntry.Outcome, at now: Duration) {
        switch outcome {
        case .issued, .rotated: counters.refreshes += 1
        case .graceRepeat: counters.graceRepeats += 1
        case .spentTokenUsed: counters.spentTokenUses += 1
        case .held, .expiredToken, .unknownToken, .revokedGrant, .wrongClient, .scopeTooWide, .unknownTarget,
            .clientRefused, .assertionRefused,
            .malformed,
            .notServed, .revoked, .introspected, .accessAccepted, .accessRefused, .asked, .approved, .denied, .pending,
            .opened, .unknownCode, .spentCodeUsed, .sessionEnded, .registered,
            .deregistered:
            break
        }
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

    /// Notes when the answer to a request left, the first time.
    mutating func noteAnswered(_ sequence: Int, at now: Duration) {
        guard let first = kept.first?.sequence, kept.indices.contains(sequence - first) else { return }
        guard kept[sequence - first].answeredUSec == nil else { return }
        kept[sequence - first].answeredUSec = now.wholeMicroseconds
    }

    /// What is known of a request before its outcome.
    struct Draft {
        let path: String
        var grantType: String?
        var clientID: String?
        var position: TokenPosition?
        var overlaps = false
        var fault: Fault?

        /// The same of a client that is known by now.
        func naming(_ client: String) -> Draft {
            var draft = self
            draft.clientID = client
            return draft
        }
    }
}
