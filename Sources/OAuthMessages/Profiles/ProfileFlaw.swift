/// What is wrong with the value of a key in a file that people write.
package protocol ValueFlaw {
    /// Follows the quoted key: `"pkce" must be one of s256, none`. Lower case, no full stop.
    var text: String { get }
}

/// What is wrong with a value of a provider profile.
package enum ProfileFlaw: ValueFlaw, Hashable, Sendable {
    // Any value.
    case unknownKey
    case missing
    /// `other` is the key that needs this one.
    case missingBeside(other: String)
    case oneOf([String])
    case listOf([String])
    case word
    case words
    case oneLine

    // Numbers and time spans.
    case timeSpan
    case atLeastOne
    case aboveZero
    case port
    case grantEndedStatus

    // Addresses.
    case issuerURL
    case httpsURL
    case urlTemplate
    case redirectURI
    case redirectScheme
    case absolutePath

    // What requests and answers contain.
    case oneCharacter
    case dottedNames
    case reservedParameter(String)
    case reservedHeader(String)
    case scopesByPurpose

    // Variables and policies.
    case variableName
    case pattern
    case defaultOfVariable
    case aliasOfVariable
    case policyVariable
    case policyName
}

extension ProfileFlaw {
    package var text: String {
        switch self {
        case .unknownKey: "is not a known key"
        case .missing: "is missing"
        case .missingBeside(let other): "is missing, but \"\(other)\" is set"
        case .oneOf(let values) where values.count == 1: "must be \(values[0])"
        case .oneOf(let values): "must be one of \(values.joined(separator: ", "))"
        case .listOf(let values): "must be a list, each value one of \(values.joined(separator: ", "))"
        case .word: "must be one word of printable ASCII characters"
        case .words: "must be a list of words"
        case .oneLine: "must be one line"
        case .timeSpan: "must be a time span such as 90d, 12h, 5m or 30s"
        case .atLeastOne: "must be at least 1"
        case .aboveZero: "must be more than 0"
        case .port: "must be a port from 1 to 65535"
        case .grantEndedStatus: "must be from 200 to 299, or from 400 to 499"
        case .issuerURL: "must be an https URL without a query and a fragment"
        case .httpsURL: "must be an https URL"
        case .urlTemplate: "must be an https URL whose variables are all listed in \"variables\""
        case .redirectURI: "must be an absolute URI without a fragment"
        case .redirectScheme: "must be a URI scheme of your own, such as org.example.mail"
        case .absolutePath: "must be an absolute path"
        case .oneCharacter: "must be one character"
        case .dottedNames: "must be names joined by dots"
        case .reservedParameter(let name): "cannot contain '\(name)', which the request itself sets"
        case .reservedHeader(let name): "cannot set the header '\(name)'"
        case .scopesByPurpose: "must be lists of scopes, each under a purpose made of a-z and -"
        case .variableName: "must be made of a-z and _"
        case .pattern: "must be a regular expression"
        case .defaultOfVariable: "is not a value that this variable can have"
        case .aliasOfVariable: "has a value that this variable cannot have"
        case .policyVariable: "must be the name of one of the variables"
        case .policyName: "is not a value that the policy's variable can have"
        }
    }
}
