internal import CommandLineProgram

/// Why there is no private window to be had; nothing is opened then, for another window would not be what was asked for.
enum PrivateWindowRefusal: Error, Hashable, Sendable {
    /// `names` are those that could.
    case noneInstalled(names: [String])
    /// The user's own browser is one that we cannot tell to. It is not passed over in silence.
    case unknownDefault(name: String)
    case noPlaceForProfile
    case noDisplay
}

extension PrivateWindowRefusal {
    /// The exit status and the lines for the user.
    var report: Report {
        let reason =
            switch self {
            case .noneInstalled(let names): "PATH has none of \(names.joined(separator: ", "))"
            case .unknownDefault(let name): "'\(name)' has no private window that authctl knows how to open"
            case .noPlaceForProfile: "XDG_RUNTIME_DIR names no folder for the profile"
            case .noDisplay: "there is no display here"
            }
        return Report(
            status: .usage,
            message: "cannot open a private window: \(reason)",
            hints: hints
        )
    }

    private var hints: [String] {
        switch self {
        case .noneInstalled, .noDisplay: ["open a private window yourself: --no-open shows the address"]
        case .unknownDefault: ["name another browser: --browser firefox", "--no-open shows the address"]
        case .noPlaceForProfile: ["use --private alone: it needs no folder"]
        }
    }
}
