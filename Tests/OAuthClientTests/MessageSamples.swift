import OAuthMessages

/// One value of each text. The switches do not compile once a case is missing here; a test counts the lists.
enum MessageSamples {
    static let profileFlaws: [ProfileFlaw] = [
        .unknownKey, .missing, .missingBeside(other: "text"), .oneOf(["never"]), .oneOf(["s256", "none"]),
        .listOf(["code", "token"]), .word, .words, .oneLine, .timeSpan, .atLeastOne, .aboveZero, .port,
        .grantEndedStatus, .issuerURL, .httpsURL, .urlTemplate, .redirectURI, .redirectScheme, .absolutePath,
        .oneCharacter, .dottedNames, .reservedParameter("code"), .reservedHeader("Cookie"), .scopesByPurpose,
        .variableName, .pattern, .defaultOfVariable, .aliasOfVariable, .policyVariable, .policyName,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ flaw: ProfileFlaw) -> String {
        switch flaw {
        case .unknownKey: "unknownKey"
        case .missing: "missing"
        case .missingBeside: "missingBeside"
        case .oneOf: "oneOf"
        case .listOf: "listOf"
        case .word: "word"
        case .words: "words"
        case .oneLine: "oneLine"
        case .timeSpan: "timeSpan"
        case .atLeastOne: "atLeastOne"
        case .aboveZero: "aboveZero"
        case .port: "port"
        case .grantEndedStatus: "grantEndedStatus"
        case .issuerURL: "issuerURL"
        case .httpsURL: "httpsURL"
        case .urlTemplate: "urlTemplate"
        case .redirectURI: "redirectURI"
        case .redirectScheme: "redirectScheme"
        case .absolutePath: "absolutePath"
        case .oneCharacter: "oneCharacter"
        case .dottedNames: "dottedNames"
        case .reservedParameter: "reservedParameter"
        case .reservedHeader: "reservedHeader"
        case .scopesByPurpose: "scopesByPurpose"
        case .variableName: "variableName"
        case .pattern: "pattern"
        case .defaultOfVariable: "defaultOfVariable"
        case .aliasOfVariable: "aliasOfVariable"
        case .policyVariable: "policyVariable"
        case .policyName: "policyName"
        }
    }

    static let profileFlawsCount = 30
}
