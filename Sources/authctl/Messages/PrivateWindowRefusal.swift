internal import CommandLineProgram

/// Why no private window is available. Then nothing is opened, because another window would not be what the user asked
/// for.
enum PrivateWindowRefusal: Error, Hashable, Sendable {
    /// `names` are the browsers that could open one.
    case noneInstalled(names: [String])
    /// The user's default browser is unknown to us. It is not silently replaced by another one.
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
