@testable import authctl

/// One value of each message. The switches do not compile if a message is missing here; the tests count the lists.
enum Samples {
    static let wrongUses: [WrongUse] = [
        .parser(message: "missing argument", hint: "see 'authctl account --help'"), .socketWithoutPath,
        .watchNeedsTerminal, .noHome, .noAccountNamed, .noAccounts, .severalAccounts(names: "work"),
        .missing(names: ["google"], provider: nil), .nothingToChange, .cannotClear(known: ["google"]),
        .unknownProvider(name: "work", nearest: "google", known: ["google"]),
        .noScopes(purpose: "work", provider: "work", nearest: "google", known: ["google"]), .purposeNeedsProvider,
        .variableWithoutValue,
        .parameterWithoutValue(option: "--param", example: "k=v"), .parameterTwice(option: "work", name: "work"),
        .registeredClientHasOwnID, .registeredClientHasNoGrant, .serviceAccountNeedsNoGrant, .twoSecretsFromInput,
        .initialTokenNeedsRegister, .setUpOtherwise(account: "work"), .notForSignIn(account: "work"),
        .noTokenFile(account: "work"), .relativeLink, .nobodyToAsk, .notAWebAddress, .noFileToImport,
        .oneAccountBesideTokenFile, .tokenWithoutAccount, .fileOfNoProgram, .allAndNames, .noAuthorizationHeader,
        .mailboxUnknown(format: "work"),
        .userNotPrintable, .notBound(account: "work"), .outputIsText, .noDockerCredentials, .noDockerServer,
        .passwordForNoAccount(server: "work"), .passwordForAccount("work", server: "work"), .unusableWord("work"),
        .unknownProvider(name: "x", nearest: nil, known: []),
        .noScopes(purpose: "mail", provider: "x", nearest: nil, known: []),
        .missing(names: ["'--client-id'"], provider: "google"),
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: WrongUse) -> String {
        switch message {
        case .parser: "parser"
        case .socketWithoutPath: "socketWithoutPath"
        case .watchNeedsTerminal: "watchNeedsTerminal"
        case .noHome: "noHome"
        case .noAccountNamed: "noAccountNamed"
        case .noAccounts: "noAccounts"
        case .severalAccounts: "severalAccounts"
        case .missing: "missing"
        case .nothingToChange: "nothingToChange"
        case .cannotClear: "cannotClear"
        case .unknownProvider: "unknownProvider"
        case .noScopes: "noScopes"
        case .purposeNeedsProvider: "purposeNeedsProvider"
        case .variableWithoutValue: "variableWithoutValue"
        case .parameterWithoutValue: "parameterWithoutValue"
        case .parameterTwice: "parameterTwice"
        case .registeredClientHasOwnID: "registeredClientHasOwnID"
        case .registeredClientHasNoGrant: "registeredClientHasNoGrant"
        case .serviceAccountNeedsNoGrant: "serviceAccountNeedsNoGrant"
        case .twoSecretsFromInput: "twoSecretsFromInput"
        case .initialTokenNeedsRegister: "initialTokenNeedsRegister"
        case .setUpOtherwise: "setUpOtherwise"
        case .notForSignIn: "notForSignIn"
        case .noTokenFile: "noTokenFile"
        case .relativeLink: "relativeLink"
        case .nobodyToAsk: "nobodyToAsk"
        case .notAWebAddress: "notAWebAddress"
        case .noFileToImport: "noFileToImport"
        case .oneAccountBesideTokenFile: "oneAccountBesideTokenFile"
        case .tokenWithoutAccount: "tokenWithoutAccount"
        case .fileOfNoProgram: "fileOfNoProgram"
        case .allAndNames: "allAndNames"
        case .noAuthorizationHeader: "noAuthorizationHeader"
        case .mailboxUnknown: "mailboxUnknown"
        case .userNotPrintable: "userNotPrintable"
        case .notBound: "notBound"
        case .outputIsText: "outputIsText"
        case .noDockerCredentials: "noDockerCredentials"
        case .noDockerServer: "noDockerServer"
        case .passwordForNoAccount: "passwordForNoAccount"
        case .passwordForAccount: "passwordForAccount"
        case .unusableWord: "unusableWord"
        }
    }

    static let wrongUsesCount = 42

    static let documents: [UnusableDocument] =
        [
            .otherClient, .grantOfOtherClient(account: "work"), .isServiceAccountKey, .isClient, .clientWithoutSecret,
            .noClientSecret(isPage: true),
            .keyInsteadOfSecret, .secretInsteadOfKey, .noClientKey, .noRefreshToken(content: "work"), .brokenJSON,
            .unknownJSON, .unknownExportFormat(known: "work"), .incompleteExport, .exportInsteadOfToken, .noChallenge,
            .noExecCredential, .unknownKubeVersion(asked: "work", known: "work"),
            .unknownGoogleTokenType(asked: "work", known: "work"),
        ] + flaws.map(UnusableDocument.toolInput)

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: UnusableDocument) -> String {
        switch message {
        case .otherClient: "otherClient"
        case .grantOfOtherClient: "grantOfOtherClient"
        case .isServiceAccountKey: "isServiceAccountKey"
        case .isClient: "isClient"
        case .clientWithoutSecret: "clientWithoutSecret"
        case .noClientSecret: "noClientSecret"
        case .keyInsteadOfSecret: "keyInsteadOfSecret"
        case .secretInsteadOfKey: "secretInsteadOfKey"
        case .noClientKey: "noClientKey"
        case .noRefreshToken: "noRefreshToken"
        case .brokenJSON: "brokenJSON"
        case .unknownJSON: "unknownJSON"
        case .unknownExportFormat: "unknownExportFormat"
        case .incompleteExport: "incompleteExport"
        case .exportInsteadOfToken: "exportInsteadOfToken"
        case .noChallenge: "noChallenge"
        case .noExecCredential: "noExecCredential"
        case .unknownKubeVersion: "unknownKubeVersion"
        case .unknownGoogleTokenType: "unknownGoogleTokenType"
        case .toolInput: "toolInput"
        }
    }

    static let documentsCount = 20

    static let options: [WrongOption] = [
        .blankValues(options: "work"), .twoFormats, .proofNeedsRequest, .noProofForMailbox(format: "work"),
        .idTokenHasNoSet, .noProofForIDToken, .noIDTokenForMailbox(format: "work"), .nonceNeedsProof, .noCommand,
        .badVariableName, .unknownResponseType, .newAccountAlone, .portalAlone, .newSettingsAlone, .twoNonces,
        .settingsNeedServer, .noPrivateWindowUnopened, .noBrowserUnopened, .parentNeedsPortal, .notAHost("work"),
        .blankCommand, .timeoutOutOfRange, .hoursOutOfRange, .badAudience, .notAnEmailAddress, .allOrOneAccount,
        .allOrSomeAccounts, .yesNeedsAll, .noOpenNeedsEndSession,
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: WrongOption) -> String {
        switch message {
        case .blankValues: "blankValues"
        case .twoFormats: "twoFormats"
        case .proofNeedsRequest: "proofNeedsRequest"
        case .noProofForMailbox: "noProofForMailbox"
        case .idTokenHasNoSet: "idTokenHasNoSet"
        case .noProofForIDToken: "noProofForIDToken"
        case .noIDTokenForMailbox: "noIDTokenForMailbox"
        case .nonceNeedsProof: "nonceNeedsProof"
        case .noCommand: "noCommand"
        case .badVariableName: "badVariableName"
        case .unknownResponseType: "unknownResponseType"
        case .newAccountAlone: "newAccountAlone"
        case .portalAlone: "portalAlone"
        case .newSettingsAlone: "newSettingsAlone"
        case .twoNonces: "twoNonces"
        case .settingsNeedServer: "settingsNeedServer"
        case .noPrivateWindowUnopened: "noPrivateWindowUnopened"
        case .noBrowserUnopened: "noBrowserUnopened"
        case .parentNeedsPortal: "parentNeedsPortal"
        case .notAHost: "notAHost"
        case .blankCommand: "blankCommand"
        case .timeoutOutOfRange: "timeoutOutOfRange"
        case .hoursOutOfRange: "hoursOutOfRange"
        case .badAudience: "badAudience"
        case .notAnEmailAddress: "notAnEmailAddress"
        case .allOrOneAccount: "allOrOneAccount"
        case .allOrSomeAccounts: "allOrSomeAccounts"
        case .yesNeedsAll: "yesNeedsAll"
        case .noOpenNeedsEndSession: "noOpenNeedsEndSession"
        }
    }

    static let optionsCount = 29

    static let flaws: [ToolInputFlaw] = [
        .unreadable(errno: 5), .tooLong(limit: 1), .notText, .noKeyValue(line: 1), .noServerURLAndSecret,
        .notOneAddress,
    ]

    /// Does not compile if a message was added: add a sample above, then the case here.
    static func name(_ message: ToolInputFlaw) -> String {
        switch message {
        case .unreadable: "unreadable"
        case .tooLong: "tooLong"
        case .notText: "notText"
        case .noKeyValue: "noKeyValue"
        case .noServerURLAndSecret: "noServerURLAndSecret"
        case .notOneAddress: "notOneAddress"
        }
    }

    static let flawsCount = 6
}
