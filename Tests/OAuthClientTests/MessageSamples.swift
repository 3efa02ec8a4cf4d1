import JOSE
import RefreshCore

@testable import OAuthMessages

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

    static let requestFaults: [RequestFault] =
        [
            .metadataUnavailable, .metadataNotPublished, .metadataOfOtherIssuer, .noTokenEndpoint, .insecureEndpoint,
            .noRegistrationEndpoint, .noDeviceEndpoint, .noAuthorizationEndpoint, .noPushedRequestEndpoint,
            .metadataRedirected, .insecureRegistration, .reservedParameter, .keySetUnreadable, .noKeyForSignedRequest,
            .requestNotSigned(.keyMalformed),
            .assertionNotSigned(.keyMalformed), .noTokenToExchange, .noAccessTokenToRevoke, .noKeySet,
            .keySetUnavailable, .noIDToken, .idTokensDiffer, .personUnknown, .personDeclined, .secretNotRenewed,
        ] + EndpointRole.allCases.map(RequestFault.answerLacks) + joseErrors.map(RequestFault.invalidIDToken)
        + ServiceGrant.Kind.allCases.map(RequestFault.grantRefused)

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ fault: RequestFault) -> String {
        switch fault {
        case .metadataUnavailable: "metadataUnavailable"
        case .metadataNotPublished: "metadataNotPublished"
        case .metadataOfOtherIssuer: "metadataOfOtherIssuer"
        case .noTokenEndpoint: "noTokenEndpoint"
        case .insecureEndpoint: "insecureEndpoint"
        case .metadataRedirected: "metadataRedirected"
        case .noRegistrationEndpoint: "noRegistrationEndpoint"
        case .noDeviceEndpoint: "noDeviceEndpoint"
        case .noAuthorizationEndpoint: "noAuthorizationEndpoint"
        case .noPushedRequestEndpoint: "noPushedRequestEndpoint"
        case .insecureRegistration: "insecureRegistration"
        case .answerLacks: "answerLacks"
        case .reservedParameter: "reservedParameter"
        case .noKeyForSignedRequest: "noKeyForSignedRequest"
        case .requestNotSigned: "requestNotSigned"
        case .assertionNotSigned: "assertionNotSigned"
        case .noTokenToExchange: "noTokenToExchange"
        case .noAccessTokenToRevoke: "noAccessTokenToRevoke"
        case .noKeySet: "noKeySet"
        case .keySetUnavailable: "keySetUnavailable"
        case .keySetUnreadable: "keySetUnreadable"
        case .noIDToken: "noIDToken"
        case .invalidIDToken: "invalidIDToken"
        case .idTokensDiffer: "idTokensDiffer"
        case .personUnknown: "personUnknown"
        case .personDeclined: "personDeclined"
        case .grantRefused: "grantRefused"
        case .secretNotRenewed: "secretNotRenewed"
        }
    }

    static let requestFaultsCount = 28

    static let joseErrors: [JOSEError] = [
        .tooLarge, .malformed, .encrypted, .duplicateMember("aud"), .unsigned, .unknownAlgorithm("none"),
        .algorithmNotAllowed(.es256), .criticalExtension, .wrongType("at+jwt"), .unknownKey("k1"), .signatureMismatch,
        .claimMissing(.subject), .claimMalformed(.subject), .wrongIssuer("https://b.example"),
        .wrongPolicy("b2c_1_reset"), .keyOfAnotherIssuer, .wrongAudience, .wrongAuthorizedParty,
        .expired(Timestamp(microseconds: 0)), .notYetValid(Timestamp(microseconds: 0)),
        .issuedInFuture(Timestamp(microseconds: 0)), .issuedLongAgo(Timestamp(microseconds: 0)), .nonceMismatch,
        .accessTokenMismatch, .codeMismatch, .authenticatedLongAgo(Timestamp(microseconds: 0)),
        .wrongAuthenticationContext(nil), .changedOnRefresh(.subject), .keySetMalformed, .keySetTooLarge, .keyMalformed,
        .keyIsEncrypted, .keyDoesNotFit(.es256), .signingFailed,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ error: JOSEError) -> String {
        switch error {
        case .tooLarge: "tooLarge"
        case .malformed: "malformed"
        case .encrypted: "encrypted"
        case .duplicateMember: "duplicateMember"
        case .unsigned: "unsigned"
        case .unknownAlgorithm: "unknownAlgorithm"
        case .algorithmNotAllowed: "algorithmNotAllowed"
        case .criticalExtension: "criticalExtension"
        case .wrongType: "wrongType"
        case .unknownKey: "unknownKey"
        case .signatureMismatch: "signatureMismatch"
        case .claimMissing: "claimMissing"
        case .claimMalformed: "claimMalformed"
        case .wrongIssuer: "wrongIssuer"
        case .wrongPolicy: "wrongPolicy"
        case .keyOfAnotherIssuer: "keyOfAnotherIssuer"
        case .wrongAudience: "wrongAudience"
        case .wrongAuthorizedParty: "wrongAuthorizedParty"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .issuedInFuture: "issuedInFuture"
        case .issuedLongAgo: "issuedLongAgo"
        case .nonceMismatch: "nonceMismatch"
        case .accessTokenMismatch: "accessTokenMismatch"
        case .codeMismatch: "codeMismatch"
        case .authenticatedLongAgo: "authenticatedLongAgo"
        case .wrongAuthenticationContext: "wrongAuthenticationContext"
        case .changedOnRefresh: "changedOnRefresh"
        case .keySetMalformed: "keySetMalformed"
        case .keySetTooLarge: "keySetTooLarge"
        case .keyMalformed: "keyMalformed"
        case .keyIsEncrypted: "keyIsEncrypted"
        case .keyDoesNotFit: "keyDoesNotFit"
        case .signingFailed: "signingFailed"
        }
    }

    static let joseErrorsCount = 34

    static let silences: [IssuerSilence] =
        FailureTable.standard.rows.map(IssuerSilence.noAnswer) + [
            .unavailable(status: 503), .redirected(to: "https://portal.example/"),
        ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ silence: IssuerSilence) -> String {
        switch silence {
        case .noAnswer: "noAnswer"
        case .unavailable: "unavailable"
        case .redirected: "redirected"
        }
    }

    static let silencesCount = 3

    static let contradictions: [IssuerContradiction] = [
        .notPublished(status: 404), .redirected(to: "/login"), .otherIssuer("https://b.example"), .otherIssuer(nil),
        .noTokenEndpoint,
        .insecureEndpoint("jwks_uri"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ contradiction: IssuerContradiction) -> String {
        switch contradiction {
        case .notPublished: "notPublished"
        case .redirected: "redirected"
        case .otherIssuer: "otherIssuer"
        case .noTokenEndpoint: "noTokenEndpoint"
        case .insecureEndpoint: "insecureEndpoint"
        }
    }

    static let contradictionsCount = 5
}
