internal import AuthRefreshInterface
internal import FoundationEssentials
internal import StrictJSON

/// An error that the daemon answers with, as far as an import can meet it.
struct DaemonRefusal {
    let name: String
    let parameters: JSONText

    /// Whether the account and its grant may be kept: time, or a setting of this machine, heals it.
    var isTransient: Bool { name == TemporarilyUnavailableError.name }

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
        return "the daemon answers with '\(name)'"
    }

    var hint: String? {
        decode(InvalidSettingsError.self)?.hint ?? decode(MisconfiguredError.self)?.hint
    }

    private func decode<Parameters: InterfaceError>(_ type: Parameters.Type) -> Parameters? {
        guard name == Parameters.name else { return nil }
        return try? JSONDecoder().decode(type, from: Data(parameters.bytes))
    }
}
