internal import AuthRefreshInterface
internal import Basics
internal import FoundationEssentials
internal import RefreshCore
internal import TextEncodings

/// An error of the daemon that an import can meet.
struct ErrorReply {
    let name: String
    let parameters: JSONText

    /// Whether the server says that the grant has ended. After any other error, the imported account can be repaired.
    var endsGrant: Bool {
        let reason = decode(InteractionRequiredError.self)?.reason
        return [InteractionReason.grantEnded, .outcomeUnknown].contains { $0.rawValue == reason }
    }

    var accountExists: Bool { name == AccountExistsError.name }

    /// The error for a person.
    var error: ProgramError {
        if let error = decode(InvalidSettingsError.self) {
            let field = Setting.phrase(forField: error.field)
            let hint = error.hint.map { Hint($0, command: error.command) }
            return ProgramError(status, "\(field) cannot be used: \(error.reason)", hint: hint)
        }
        if let error = decode(InteractionRequiredError.self) {
            let reason = error.oauthError ?? Self.words(error.reason)
            let hint = Hint(error.hint, command: error.command)
            return ProgramError(status, "the server refuses it: \(reason)", hint: hint)
        }
        if let error = decode(MisconfiguredError.self) {
            return ProgramError(status, error.reason, hint: Hint(error.hint, command: error.command))
        }
        if let error = decode(TemporarilyUnavailableError.self) { return ProgramError(status, error.reason) }
        return ProgramError(status, "the daemon answered with the error '\(name)'")
    }

    private var status: ExitStatus {
        switch name {
        case InteractionRequiredError.name: .interactionRequired
        case SignedOutError.name: .signedOut
        case InvalidSettingsError.name, AccountExistsError.name: .usage
        case MisconfiguredError.name: .misconfigured
        case PermissionDeniedError.name: .notPermitted
        default: .tryAgainLater
        }
    }

    /// Why the account needs a person, if the server gave no code. An unknown reason is shown unchanged.
    private static func words(_ reason: String) -> String {
        switch InteractionReason(rawValue: reason) {
        case .grantEnded: "the grant has ended"
        case .rejectedWithoutReason: "no reason is given"
        case .outcomeUnknown: "the answer to a refresh was lost, and the old refresh token no longer works"
        case .userRequired: "somebody has to sign in"
        case .noRefreshToken: "there is no refresh token"
        case .sourceAccount: "the account that its token is derived from needs a sign-in"
        case .otherPerson: "the server answered for another person"
        case nil: reason
        }
    }

    private func decode<Parameters: InterfaceError>(_ type: Parameters.Type) -> Parameters? {
        guard name == Parameters.name else { return nil }
        return try? JSONDecoder().decode(type, from: Data(parameters.bytes))
    }
}
