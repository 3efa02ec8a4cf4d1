import Foundation
import RefreshCore

/// The few columns that hold a map: written with sorted keys, so that equal values are equal texts.
enum JSONColumn {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Nil if `text` is not what `text(of:)` writes.
    static func value<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// As `text(of:)`, without the encoder for what is nearly always empty.
    static func text(ofMap map: [String: String]) throws -> String {
        map.isEmpty ? "{}" : try text(of: map)
    }

    static func map(from text: String) -> [String: String]? {
        text == "{}" ? [:] : value([String: String].self, from: text)
    }
}

/// An `AllowedCallers` as it stands in its column.
struct StoredCallers: Codable {
    private let units: [String]
    private let executables: [String]

    init(_ callers: AllowedCallers) {
        units = callers.units
        executables = callers.executables
    }

    /// Nil if it names nobody, which is never written.
    var callers: AllowedCallers? { AllowedCallers(units: units, executables: executables) }
}

/// The terms of a `ServiceGrant` as they stand in their column.
struct StoredGrantTerms: Codable {
    private var assertionSubject: String?
    private var assertionAudience: String?
    private var assertionLifetimeUSec: Int64?
    private var subjectTokenType: String?
    private var actorTokenType: String?
    private var requestedTokenType: String?
    private var deriver: StoredProgram?

    /// Nil for a grant without terms.
    init?(_ grant: ServiceGrant?) {
        switch grant {
        case .clientCredentials, nil: return nil
        case .jwtBearer(let terms):
            assertionSubject = terms.subject
            assertionAudience = terms.audience
            assertionLifetimeUSec = terms.lifetime?.microseconds
        case .tokenExchange(let terms):
            subjectTokenType = terms.subject.type.rawValue
            actorTokenType = terms.actor?.type.rawValue
            requestedTokenType = terms.requestedType?.rawValue
            deriver = terms.deriver.map { StoredProgram(unit: $0.unit, executable: $0.executable) }
        }
    }

    /// Nil if a type is not known.
    func exchange(from subject: AccountName, _ actor: AccountName?) -> ExchangeTerms? {
        guard let type = subjectTokenType.flatMap(TokenTypeIdentifier.init) else { return nil }
        let requested = requestedTokenType.flatMap(TokenTypeIdentifier.init)
        let actorType = actorTokenType.flatMap(TokenTypeIdentifier.init)
        guard (requested == nil) == (requestedTokenType == nil), (actorType == nil) == (actor == nil) else {
            return nil
        }
        var terms = ExchangeTerms(subject: SourceToken(account: subject, type: type), requestedType: requested)
        if let actor, let actorType { terms.actor = SourceToken(account: actor, type: actorType) }
        terms.deriver = deriver.map { SeenProgram(unit: $0.unit, executable: $0.executable) }
        return terms
    }

    var assertion: AssertionTerms {
        AssertionTerms(
            subject: assertionSubject,
            audience: assertionAudience,
            lifetime: assertionLifetimeUSec.map { .microseconds($0) }
        )
    }
}

/// A `SeenProgram` as it stands in its column.
private struct StoredProgram: Codable {
    var unit: String?
    var executable: String?
}

/// A `FailureDetail` as it stands in its column; the core's own type is not Codable, so that its names may change.
struct StoredFailureDetail: Codable {
    private let summary: String
    private let httpStatus: Int?
    private let error: String?
    private let errorDescription: String?
    private let subError: String?
    private let providerCode: String?
    private let correlationID: String?
    private let source: String?

    init(_ detail: FailureDetail) {
        summary = detail.summary
        httpStatus = detail.httpStatus
        error = detail.oauthError
        errorDescription = detail.oauthErrorDescription
        subError = detail.subError
        providerCode = detail.providerCode
        correlationID = detail.correlationID
        source = detail.source?.text
    }

    var detail: FailureDetail {
        FailureDetail(
            summary: summary,
            httpStatus: httpStatus,
            oauthError: error,
            oauthErrorDescription: errorDescription,
            subError: subError,
            providerCode: providerCode,
            correlationID: correlationID,
            source: source.flatMap(AccountName.init)
        )
    }
}
