import RefreshCore

/// From everything that can be seen of a failed refresh to what it means: an ordered list, the first row that fits
/// decides.
///
/// Only an answer of the authorization server itself reaches the classes that can end a grant: rows about the
/// transport, about proxies and about pages for people come before or after those about error codes and never share a
/// class with them.
struct FailureTable: Sendable {
    let rows: [FailureRow]

    /// The rows of `FailureTable+Rows.swift`.
    static let standard = FailureTable(rows: standardRows)

    /// The row that decides; the last row of `standard` fits everything.
    func row(for signal: FailureSignal) -> FailureRow {
        rows.first { $0.condition.fits(signal) } ?? FailureTable.anythingElse
    }

    static let anythingElse = FailureRow(
        "anything else",
        Condition(),
        .unavailable,
        "the server gave an answer that is not one of a token endpoint"
    )
}

/// One rule.
struct FailureRow: Sendable {
    /// What the row is about; tests refer to it.
    let name: String
    let condition: Condition
    let failureClass: FailureClass
    /// Constant text for people; see `FailureDetail.summary`.
    let summary: String
    let consequence: Consequence?

    init(
        _ name: String,
        _ condition: Condition,
        _ failureClass: FailureClass,
        _ summary: String,
        _ consequence: Consequence? = nil
    ) {
        self.name = name
        self.condition = condition
        self.failureClass = failureClass
        self.summary = summary
        self.consequence = consequence
    }

    /// What this module itself does about it.
    enum Consequence: Sendable {
        /// The metadata is fetched again before the next request: the endpoint may have moved.
        case forgetMetadata
        /// The server does not know this client: other forms of the credentials are tried.
        case tryOtherCredentials
        /// The server may mean the client or the grant: the other form of the secret, or of an assertion, is tried.
        case tryOtherSecretForm
    }
}

/// What a row asks for; a nil part asks for nothing.
struct Condition: Sendable {
    var transport: Set<TransportCause>?
    var wasSent: Bool?
    var status: [ClosedRange<Int>]?
    var body: Set<BodyKind>?
    var error: Set<String>?
    var hasError: Bool?
    /// Fits if the answer's `error` or one of its finer codes is among these.
    var anyCode: Set<String>?
    var sign: FailureSign?

    func fits(_ signal: FailureSignal) -> Bool {
        // A row about answers never fits a lost one, and the other way round.
        let isAboutTransport = transport != nil || wasSent != nil
        let isAboutAnswers = status != nil || body != nil || error != nil || hasError != nil || anyCode != nil
        if isAboutTransport, signal.transport == nil { return false }
        if isAboutAnswers, signal.transport != nil { return false }
        return isMet(transport) { wanted in signal.transport.map(wanted.contains) ?? false }
            && isMet(wasSent) { $0 == signal.wasSent }
            && isMet(status) { ranges in
                signal.status.map { status in ranges.contains { $0.contains(status) } } ?? false
            }
            && isMet(body) { $0.contains(signal.body) }
            && isMet(error) { wanted in signal.error.map(wanted.contains) ?? false }
            && isMet(hasError) { $0 == (signal.error != nil) }
            && isMet(anyCode) { wanted in
                signal.error.map(wanted.contains) ?? false || !wanted.isDisjoint(with: signal.codes)
            }
            && isMet(sign) { signal.signs.contains($0) }
    }

    private func isMet<Part>(_ part: Part?, _ test: (Part) -> Bool) -> Bool {
        part.map(test) ?? true
    }
}
