internal import AuthRefreshInterface
internal import RefreshCore
internal import Varlink

/// The allow list in the settings of the wire.
extension SettingsReader {
    /// Nil: every process of this user.
    func allowedCallers(_ settings: AccountSettings) throws(VarlinkError) -> AllowedCallers? {
        let (units, executables) = (settings.allowedUnits ?? [], settings.allowedExecutables ?? [])
        guard units.count + executables.count <= CallerLimits.allowedCallersMax else {
            throw VarlinkError(LimitExceededError(.allowedCallers, maximum: CallerLimits.allowedCallersMax))
        }
        for unit in units where !Self.isUnit(unit) {
            throw invalid(
                "allowedUnits",
                "'\(unit)' is no unit that processes run in",
                "its full name, as in: systemctl --user status; it ends in .service or .scope"
            )
        }
        for path in executables where !Self.isPath(path) {
            throw invalid("allowedExecutables", "'\(path)' is no absolute path", "command -v NAME")
        }
        return AllowedCallers(units: units, executables: executables)
    }

    /// systemd.unit(5): letters, digits and `:-_.\\@`, up to 255; only services and scopes have processes. No patterns: `@` is a
    /// template's, and names one instance.
    private static func isUnit(_ name: String) -> Bool {
        let type = [".service", ".scope"].first { name.hasSuffix($0) }
        guard let type, name.utf8.count > type.utf8.count, name.utf8.count <= 255 else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: ":-_.\\@".utf8.contains(byte)
            }
        }
    }

    private static func isPath(_ path: String) -> Bool {
        path.hasPrefix("/") && path.utf8.count < 4096 && !path.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
}
