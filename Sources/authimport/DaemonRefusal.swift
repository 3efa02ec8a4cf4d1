internal import AuthRefreshInterface
internal import FoundationEssentials
internal import RefreshCore
internal import StrictJSON

/// An error that the daemon answers with, as far as an import can meet it.
struct DaemonRefusal {
    let name: String
    let parameters: JSONText

    /// Whether the server says that the grant is over. Anything else is mended with the account as it is.
    var endsGrant: Bool {
        let reason = decode(InteractionRequiredError.self)?.reason
        return [InteractionReason.grantEnded, .outcomeUnknown].contains { $0.rawValue == reason }
    }

    var accountExists: Bool { name == AccountExistsError.name }

    var status: Int32 {
        switch name {
        case InteractionRequiredError.name: 3
        case SignedOutError.name: 5
        case InvalidSettingsError.name, AccountExistsError.name: 64
        case MisconfiguredError.name: 78
        case PermissionDeniedError.name: 77
        default: 75
        }
    }

    /// Lower case, no full stop.
    var message: String {
        if let error = decode(InvalidSettingsError.self) { return "'\(error.field)': \(error.reason)" }
        if let error = decode(InteractionRequiredError.self) {
            return "the server refuses it: \(error.oauthError ?? error.reason)"
        }
        if let error = decode(MisconfiguredError.self) { return error.reason }
        if let error = decode(TemporarilyUnavailableError.self) { return error.reason }
        return "the daemon answered with the error '\(name)'"
    }

    var hint: String? {
        decode(InvalidSettingsError.self)?.hint ?? decode(MisconfiguredError.self)?.hint
            ?? decode(InteractionRequiredError.self)?.hint
    }

    private func decode<Parameters: InterfaceError>(_ type: Parameters.Type) -> Parameters? {
        guard name == Parameters.name else { return nil }
        return try? JSONDecoder().decode(type, from: Data(parameters.bytes))
    }
}
