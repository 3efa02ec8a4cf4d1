internal import AccountStorage
internal import AuthRefreshInterface
internal import OAuthClient

/// The text of `authrefreshd --version --verbose`: the libraries that the distribution updates, and those that are
/// updated only by a new build of this program.
enum LinkedLibraries {
    /// The linked packages, as in `Package.swift`. A test compares the two.
    static let packages: [(name: String, version: String, use: String)] = [
        ("grdb.swift", "7.10.0", "SQLite for Swift"),
        ("swift-argument-parser", "1.8.2", "command lines"),
        ("swift-crypto", "4.5.2", "cryptography (BoringSSL)"),
        ("swift-log", "1.16.2", "logging"),
        ("swift-nio", "2.101.2", "the loopback page of a sign-in"),
        ("yams", "6.2.2", "YAML (libyaml)"),
    ]

    static var text: String {
        let linkedIn = packages.map { package in
            let name = package.name.padded(to: 22)
            return "  \(name)\(package.version.padded(to: 10))\(package.use)"
        }
        // `libcurl/7.88.1 OpenSSL/3.0.17`
        let client = HTTPLibrary.version.split(separator: " ").map { library in
            let parts = library.split(separator: "/", maxSplits: 1).map(String.init)
            return "  \(parts[0].padded(to: 22))\(parts.count == 2 ? parts[1] : "")"
        }
        return """
            authrefreshd \(Version.text)
            linked in, updated by a new build only:
            \(linkedIn.joined(separator: "\n"))
            of the system, updated with it:
            \(client.joined(separator: "\n"))
              \("SQLite".padded(to: 22))\(AccountStore.sqliteVersion)
            """
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
