import AuthRefreshInterface
import OAuthClient
import OAuthMessages
import RefreshCore
import SignIn

@testable import authrefreshd

/// One value of each text about a setting or an argument. The switches do not compile once a case is missing here; a
/// test counts the lists.
enum MessageSamples {
    static let settings: [WrongSetting] = [
        .empty(field: "clientId"), .unreadable(field: "scopes", flaw: "is too long"),
        .timeOutOfRange(field: "leadTimeSec"),
        .cannotBeCleared(field: "name"), .noAccountName(field: "name", name: "a b"), .noIssuer(hasProvider: true),
        .noIssuer(hasProvider: false), .issuerNotAbsolute(url: "x"), .issuerNotHTTPS(url: "http://as.example"),
        .issuerHasQuery, .issuerHasUserName, .unknownProvider(name: "gogle", nearest: "google", known: ["google"]),
        .unknownProvider(name: "x", nearest: nil, known: []), .providerSetting(reason: "\"pkce\" must be s256 or none"),
        .variableAsProviderSetting(name: "tenant"), .variablesWithoutProvider,
        .unknownVariable(name: "realm", provider: "microsoft", known: ["tenant"]),
        .unknownVariable(name: "realm", provider: "google", known: []),
        .unfitVariable(name: "tenant", value: "a/b", help: "the organisation's name", pattern: "[a-z]+"),
        .unfitVariable(name: "tenant", value: "a/b", help: "the organisation's name", pattern: nil),
        .missingVariables([WrongSetting.Variable(name: "tenant", help: "the organisation's name")]),
        .missing(MissingSetting(setting: .scopes, note: nil)),
        .missing(MissingSetting(setting: .redirectPort, note: "Register a port.")),
        .secretOfOtherServer(account: "work"),
        .grantOfOtherServer(field: "issuer", issuer: "https://as.example", account: "work"),
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: WrongSetting) -> String {
        switch text {
        case .empty: "empty"
        case .unreadable: "unreadable"
        case .timeOutOfRange: "timeOutOfRange"
        case .cannotBeCleared: "cannotBeCleared"
        case .noAccountName: "noAccountName"
        case .noIssuer: "noIssuer"
        case .issuerNotAbsolute: "issuerNotAbsolute"
        case .issuerNotHTTPS: "issuerNotHTTPS"
        case .issuerHasQuery: "issuerHasQuery"
        case .issuerHasUserName: "issuerHasUserName"
        case .unknownProvider: "unknownProvider"
        case .providerSetting: "providerSetting"
        case .variableAsProviderSetting: "variableAsProviderSetting"
        case .variablesWithoutProvider: "variablesWithoutProvider"
        case .unknownVariable: "unknownVariable"
        case .unfitVariable: "unfitVariable"
        case .missingVariables: "missingVariables"
        case .missing: "missing"
        case .secretOfOtherServer: "secretOfOtherServer"
        case .grantOfOtherServer: "grantOfOtherServer"
        }
    }

    static let settingsCount = 20

    static let client: [WrongClient] = [
        .idComesFromServer, .newClientHasNoSecret, .registrationNotHTTPS,
        .reservedParameter(field: "refreshParameters", name: "scope"), .noAuthorizationDetails,
        .unknownMethod(name: "secret", known: ["client_secret_basic"]),
        .methodNeeds(.secret, method: "client_secret_post"),
        .methodNeeds(.key, method: "private_key_jwt"), .methodNeeds(.certificate, method: "tls_client_auth"),
        .teamNeedsKey,
        .noPrivateKey, .lockedPrivateKey, .noCertificate, .noDPoPKey, .bearerWithoutDPoP,
        .unknownAlgorithm(name: "none", known: ["RS256"]), .algorithmNeedsSecret(name: "HS256"), .noRedirectURI("x"),
        .noLogoutRedirectURI("x"), .noPort, .noScheme("http"), .noBrowser,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: WrongClient) -> String {
        switch text {
        case .idComesFromServer: "idComesFromServer"
        case .newClientHasNoSecret: "newClientHasNoSecret"
        case .registrationNotHTTPS: "registrationNotHTTPS"
        case .reservedParameter: "reservedParameter"
        case .noAuthorizationDetails: "noAuthorizationDetails"
        case .unknownMethod: "unknownMethod"
        case .methodNeeds: "methodNeeds"
        case .teamNeedsKey: "teamNeedsKey"
        case .noPrivateKey: "noPrivateKey"
        case .lockedPrivateKey: "lockedPrivateKey"
        case .noCertificate: "noCertificate"
        case .noDPoPKey: "noDPoPKey"
        case .bearerWithoutDPoP: "bearerWithoutDPoP"
        case .unknownAlgorithm: "unknownAlgorithm"
        case .algorithmNeedsSecret: "algorithmNeedsSecret"
        case .noRedirectURI: "noRedirectURI"
        case .noLogoutRedirectURI: "noLogoutRedirectURI"
        case .noPort: "noPort"
        case .noScheme: "noScheme"
        case .noBrowser: "noBrowser"
        }
    }

    static let clientCount = 20

    static let grants: [WrongGrant] = [
        .unknownGrant(name: "password", known: ["client_credentials"]), .needsClientProof, .assertionNeedsKey,
        .assertionLifetime, .assertionWithoutGrant(field: "assertionSubject"),
        .exchangeWithoutGrant(field: "actorAccount"),
        .noSource, .typeWithoutActor(field: "actorTokenType"),
        .unknownTokenType(field: "actorTokenType", name: "x", known: ["urn:ietf:params:oauth:token-type:jwt"]),
        .noSAMLHere(field: "actorTokenType"), .exchangesAccessTokensOnly, .sourceUnreadable(name: "work"),
        .refreshTokenOfOtherIssuer, .tooManySources(limit: 4), .neverSignsOut(account: "bot"), .needsNoRefreshToken,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: WrongGrant) -> String {
        switch text {
        case .unknownGrant: "unknownGrant"
        case .needsClientProof: "needsClientProof"
        case .assertionNeedsKey: "assertionNeedsKey"
        case .assertionLifetime: "assertionLifetime"
        case .assertionWithoutGrant: "assertionWithoutGrant"
        case .exchangeWithoutGrant: "exchangeWithoutGrant"
        case .noSource: "noSource"
        case .typeWithoutActor: "typeWithoutActor"
        case .unknownTokenType: "unknownTokenType"
        case .noSAMLHere: "noSAMLHere"
        case .exchangesAccessTokensOnly: "exchangesAccessTokensOnly"
        case .sourceUnreadable: "sourceUnreadable"
        case .refreshTokenOfOtherIssuer: "refreshTokenOfOtherIssuer"
        case .tooManySources: "tooManySources"
        case .neverSignsOut: "neverSignsOut"
        case .needsNoRefreshToken: "needsNoRefreshToken"
        }
    }

    static let grantsCount = 16

    static let delivery: [WrongDelivery] = [
        .noUnit("mbsync"), .noPath("bin/mutt"), .noExecutable("/usr/bin/mut"), .listedHangs("/mnt/mutt"),
        .executableHangs, .withoutCaller("the caller (pid 7) runs '/usr/bin/authctl' in the unit 'session-2.scope'"),
        .executableUnseen(pid: 7, dropIn: "~/.local/share/authrefreshd/see-executables.conf"),
        .noTokenAddress("ftp://x"), .noUserName, .noFileName("a/b"), .fileOfOtherAccount(file: "mail", owner: "work"),
        .unknownFileKind(name: "yaml", known: ["access"]), .fileKindWithoutFile(account: "work"), .cannotAskBeforeFile,
    ]

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: WrongDelivery) -> String {
        switch text {
        case .noUnit: "noUnit"
        case .noPath: "noPath"
        case .noExecutable: "noExecutable"
        case .listedHangs: "listedHangs"
        case .withoutCaller: "withoutCaller"
        case .executableHangs: "executableHangs"
        case .executableUnseen: "executableUnseen"
        case .noTokenAddress: "noTokenAddress"
        case .noUserName: "noUserName"
        case .noFileName: "noFileName"
        case .fileOfOtherAccount: "fileOfOtherAccount"
        case .unknownFileKind: "unknownFileKind"
        case .fileKindWithoutFile: "fileKindWithoutFile"
        case .cannotAskBeforeFile: "cannotAskBeforeFile"
        }
    }

    static let deliveryCount = 14

    static let arguments: [WrongArgument] =
        [
            .noScopes, .noScope("a\"b"), .noResource("x#y"), .noAudience, .noClaims, .idTokenOfSet,
            .idTokenOfServiceAccount("bot"), .notBoundToKey(account: "work"), .unusableDPoPKey, .noRequestURL,
            .challengeUnreadable, .challengeAboutRequest(error: "invalid_request"), .challengeAboutRequest(error: nil),
            .challengeWantsMore(account: "bot"), .noRefreshToken(.html), .nothingToMove, .grantOfAnotherClient,
            .noPolicy(name: "a/b", example: "b2c_1_signin"), .noPolicy(name: "a/b", example: nil),
            .providerWithoutPolicies,
            .pasted(.empty), .pasted(.response(.tooLong)), .pasted(.response(.badEncoding)),
            .pasted(.response(.repeatedParameter)), .answerForOtherCallback, .noIssuerURL, .noProfileName,
            .undiscoverable(reason: "the server could not be reached"),
        ] + ResponseRefusal.allCases.map(WrongArgument.answer) + CallbackFlaw.allCases.map(WrongArgument.callback)

    /// Does not compile if a case is added; add a sample above, then the case here, then count it.
    static func name(_ text: WrongArgument) -> String {
        switch text {
        case .noScopes: "noScopes"
        case .noScope: "noScope"
        case .noResource: "noResource"
        case .noAudience: "noAudience"
        case .noClaims: "noClaims"
        case .idTokenOfSet: "idTokenOfSet"
        case .idTokenOfServiceAccount: "idTokenOfServiceAccount"
        case .notBoundToKey: "notBoundToKey"
        case .unusableDPoPKey: "unusableDPoPKey"
        case .noRequestURL: "noRequestURL"
        case .challengeUnreadable: "challengeUnreadable"
        case .challengeAboutRequest: "challengeAboutRequest"
        case .challengeWantsMore: "challengeWantsMore"
        case .noRefreshToken: "noRefreshToken"
        case .nothingToMove: "nothingToMove"
        case .grantOfAnotherClient: "grantOfAnotherClient"
        case .noPolicy: "noPolicy"
        case .providerWithoutPolicies: "providerWithoutPolicies"
        case .pasted: "pasted"
        case .answer: "answer"
        case .callback: "callback"
        case .answerForOtherCallback: "answerForOtherCallback"
        case .noIssuerURL: "noIssuerURL"
        case .noProfileName: "noProfileName"
        case .undiscoverable: "undiscoverable"
        }
    }

    static let argumentsCount = 25
}
