/// The hosts in URLs that are this machine.
package enum LoopbackHost {
    /// Whether `authority` (host and port of a URL) is `localhost`, 127.0.0.0/8 or `[::1]`, in any spelling of the latter.
    ///
    /// IPv4 addresses count only in the usual form, because programs disagree about `127.1` and `127.0.0.010`. An IPv4
    /// address in an IPv6 address (`[::ffff:127.0.0.1]`) does not count, because a translator may take it to another
    /// machine.
    package static func isNamed(in authority: some StringProtocol) -> Bool {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return false }
            let port = authority[end...].dropFirst()
            return IPv6Address(host: authority[...end]) == .loopback && (port.isEmpty || port.hasPrefix(":"))
        }
        let host = authority.prefix { $0 != ":" }
        if host.lowercased() == "localhost" { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        // `UInt8` alone would accept a sign and leading zeros, too.
        return octets.count == 4 && octets[0] == "127"
            && octets.allSatisfy { octet in UInt8(octet).map { String($0) == octet } ?? false }
    }
}
