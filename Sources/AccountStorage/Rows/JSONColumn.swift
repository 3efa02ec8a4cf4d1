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

/// What is known about a grant, as it stands in its column: a map, in which what the grant covers has names that no field has.
///
/// An earlier version shows those beside the fields, and loses nothing by it.
enum FactsColumn {
    private static let granted = " scope"
    private static let missing = " scope missing"
    private static let request = " scope request"

    static func text(of facts: GrantFacts) throws -> String {
        var map = facts.keptFields
        if let scope = facts.scope {
            map[granted] = scope.granted.joined(separator: " ")
            if !scope.missing.isEmpty { map[missing] = scope.missing.joined(separator: " ") }
            if scope.request != .omitted { map[request] = scope.request.rawValue }
        }
        return try JSONColumn.text(ofMap: map)
    }

    /// Nil if `text` is not what `text(of:)` writes.
    static func facts(of subject: String?, from text: String) -> GrantFacts? {
        guard var map = JSONColumn.map(from: text) else { return nil }
        let words = { (name: String) in map.removeValue(forKey: name)?.split(separator: " ").map(String.init) }
        let (granted, missing) = (words(granted), words(missing))
        let request = map.removeValue(forKey: request).flatMap(GrantedScope.Request.init)
        let scope = granted.map { GrantedScope(granted: $0, missing: missing ?? [], request: request ?? .omitted) }
        return GrantFacts(subject: subject, keptFields: map, scope: scope)
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

/// A `SeenProgram` as it stands in its column.
struct StoredProgram: Codable {
    private let unit: String?
    private let executable: String?

    init(_ program: SeenProgram) {
        unit = program.unit
        executable = program.executable
    }

    var program: SeenProgram { SeenProgram(unit: unit, executable: executable) }
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
