internal import ArgumentParser

/// Why the options of a command are invalid. The argument parser's report adds where to find help.
enum WrongOption: Hashable, Sendable {
    case blankValues(options: String)

    // `token` and `exec`.
    case twoFormats
    case proofNeedsRequest
    case noProofForMailbox(format: String)
    case idTokenHasNoSet
    case noProofForIDToken
    case noIDTokenForMailbox(format: String)
    case nonceNeedsProof
    case noCommand
    case badVariableName

    // `login` and other commands that open a window.
    case unknownResponseType
    case newAccountAlone
    case portalAlone
    case newSettingsAlone
    case twoNonces
    case settingsNeedServer
    case noPrivateWindowUnopened
    case noBrowserUnopened
    case parentNeedsPortal

    // The others.
    case notAHost(String)
    case blankCommand
    case timeoutOutOfRange
    case hoursOutOfRange
    case badAudience
    case notAnEmailAddress
    case allOrOneAccount
    case allOrSomeAccounts
    case yesNeedsAll
    case noOpenNeedsEndSession
}

extension WrongOption {
    /// The error text: lower case, no full stop.
    var message: String {
        switch self {
        case .blankValues(let options): "\(options) need a value"
        case .twoFormats: "'--json' and '--format' cannot be combined"
        case .proofNeedsRequest: "'--dpop' takes a method and a URL; put the account before it"
        case .noProofForMailbox(let format): "'--dpop' is for HTTP requests, and '\(format)' for mailboxes"
        case .idTokenHasNoSet:
            "'--id-token' cannot be combined with '--scope', '--resource', '--audience' or '--claims'"
        case .noProofForIDToken: "'--dpop' is for access tokens, not for '--id-token'"
        case .noIDTokenForMailbox(let format): "'--format \(format)' is for access tokens, not for '--id-token'"
        case .nonceNeedsProof: "'--dpop-nonce' needs '--dpop'"
        case .noCommand: "no command is named: put it after '--'"
        case .badVariableName:
            "the name of the variable must consist of letters, digits and _, and not begin with a digit"
        case .unknownResponseType: "'--response-type' is one of: code, 'code id_token', id_token"
        case .newAccountAlone: "'--new-account' cannot be combined with '--policy' or '--replace'"
        case .portalAlone: "'--portal' chooses the window, and cannot be combined with other options that do"
        case .newSettingsAlone:
            "'--provider' and '--issuer' add an account, and cannot be combined with '--new-account' or '--policy'"
        case .twoNonces: "'--nonce' and '--nonce-sha256' exclude each other"
        case .settingsNeedServer: "the settings of a new account need '--provider' or '--issuer'"
        case .noPrivateWindowUnopened: "'--no-open' cannot be combined with '--private' or '--temporary-profile'"
        case .noBrowserUnopened: "'--no-open' cannot be combined with '--browser'"
        case .parentNeedsPortal: "'--parent-window' needs '--portal'"
        case .notAHost(let host): "'\(host)' is not a host"
        case .blankCommand: "'--command' needs a command"
        case .timeoutOutOfRange: "'--timeout' must be from 1s to 1h"
        case .hoursOutOfRange: "'--hours' must be from 1 to 720"
        case .badAudience: "'--audience' must begin with //iam.googleapis.com/ and name a pool's provider"
        case .notAnEmailAddress: "'--service-account' takes the service account's e-mail address"
        case .allOrOneAccount: "name an account, or use '--all'"
        case .allOrSomeAccounts: "name accounts, or use '--all'"
        case .yesNeedsAll: "'--yes' needs '--all', '--revoke' or '--forget'"
        case .noOpenNeedsEndSession: "'--no-open' needs '--end-session'"
        }
    }
}

extension ValidationError {
    init(_ wrong: WrongOption) {
        self.init(wrong.message)
    }
}
