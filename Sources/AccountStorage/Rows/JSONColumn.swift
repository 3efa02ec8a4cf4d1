import Foundation
import RefreshCore

/// Reads and writes the columns that hold a map. Keys are sorted, so that equal values give equal texts.
enum JSONColumn {
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// Reads what `text(of:)` wrote; nil for anything else.
    static func value<Value: Decodable>(_ type: Value.Type, from text: String) -> Value? {
        try? JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Like `text(of:)`, but without the encoder if the map is empty, as it nearly always is.
    static func text(ofMap map: [String: String]) throws -> String {
        map.isEmpty ? "{}" : try text(of: map)
    }

    static func map(from text: String) -> [String: String]? {
        text == "{}" ? [:] : value([String: String].self, from: text)
    }
}

/// The stored form of `AllowedCallers`.
struct StoredCallers: Codable {
    private let units: [String]
    private let executables: [String]
    private let asksFirst: Bool?

    init(_ callers: AllowedCallers) {
        units = callers.units
        executables = callers.executables
        asksFirst = callers.asksFirst ? true : nil
    }

    /// The allowed callers; nil if the value names nobody, which is never written.
    var callers: AllowedCallers? {
        AllowedCallers(units: units, executables: executables, asksFirst: asksFirst ?? false)
    }
}

/// The `GrantFacts` without a column of their own. Members of later versions are ignored, because none of them
/// restricts anything.
struct StoredGrantFacts: Codable {
    private let username: String?
    private let email: String?
    private let fullName: String?
    private let tenant: String?
    /// Of versions before `consent`: it was needed.
    private let needsConsent: Bool?
    private let consent: String?
    private let scope: [String]?
    private let scopeMissing: [String]?
    private let scopeDeclined: [String]?
    private let scopeRequest: String?
    private let scopeNarrowing: String?

    /// The text of `facts`; nil if there are none.
    static func text(of facts: GrantFacts) throws -> String? {
        guard facts.person != nil || facts.consent != nil || facts.scope != nil else { return nil }
        return try JSONColumn.text(
            of: StoredGrantFacts(
                username: facts.person?.username,
                email: facts.person?.email,
                fullName: facts.person?.fullName,
                tenant: facts.person?.tenant,
                needsConsent: facts.consent == .needed ? true : nil,
                consent: facts.consent?.rawValue,
                scope: facts.scope?.granted,
                scopeMissing: facts.scope.flatMap { $0.missing.isEmpty ? nil : $0.missing },
                scopeDeclined: facts.scope.flatMap { $0.declined.isEmpty ? nil : $0.declined },
                scopeRequest: facts.scope.flatMap { $0.request == .omitted ? nil : $0.request.rawValue },
                scopeNarrowing: facts.scope.flatMap { $0.narrowing == .untried ? nil : $0.narrowing.rawValue }
            )
        )
    }

    static func facts(_ stored: StoredGrantFacts?, subject: String?, keptFields: [String: String]) -> GrantFacts {
        GrantFacts(
            subject: subject,
            person: stored?.person,
            consent: stored?.consent.flatMap(ConsentFinding.init) ?? (stored?.needsConsent == true ? .needed : nil),
            keptFields: keptFields,
            scope: stored?.grantedScope
        )
    }

    private var grantedScope: GrantedScope? {
        scope.map { granted in
            let request = scopeRequest.flatMap(GrantedScope.Request.init) ?? .omitted
            return GrantedScope(
                granted: granted,
                missing: scopeMissing ?? [],
                declined: scopeDeclined ?? [],
                request: request,
                narrowing: scopeNarrowing.flatMap(GrantedScope.Narrowing.init) ?? .untried
            )
        }
    }

    private var person: PersonNames? {
        let names = PersonNames(username: username, email: email, fullName: fullName, tenant: tenant)
        return names == PersonNames() ? nil : names
    }
}
