internal import AccountStorage
internal import AuthRefreshInterface

/// The text of `authrefreshd --version --verbose`: the libraries that the distribution updates, and those that are
/// updated only by a new build of this program.
enum LinkedLibraries {
    /// The linked packages, as in `Package.swift`. A test compares the two.
    static let packages: [(name: String, version: String, use: String)] = [
        ("async-http-client", "1.37.0", "HTTP"),
        ("grdb.swift", "7.10.0", "SQLite for Swift"),
        ("swift-argument-parser", "1.8.2", "command lines"),
        ("swift-crypto", "4.5.2", "cryptography (BoringSSL)"),
        ("swift-log", "1.16.2", "logging"),
        ("swift-nio", "2.101.2", "network"),
        ("swift-nio-ssl", "2.37.6", "TLS (BoringSSL)"),
        ("yams", "6.2.2", "YAML (libyaml)"),
    ]

    static var text: String {
        let linkedIn = packages.map { package in
            let name = package.name.padded(to: 22)
            return "  \(name)\(package.version.padded(to: 10))\(package.use)"
        }
        return """
            authrefreshd \(Version.text)
            linked in, updated by a new build only:
            \(linkedIn.joined(separator: "\n"))
            of the system, updated with it:
              \("SQLite".padded(to: 22))\(SQLiteLibrary.version)
            """
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
