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

    /// Whether a program may take `authority` for this machine. Use this to refuse a host, and `isNamed` to trust one.
    ///
    /// It also knows `localhost.`, the unspecified address, which Linux connects to this machine, and IPv4 addresses as
    /// `inet_aton` reads them: `127.1`, `0x7f.1`, `0177.0.0.1`, `2130706433`. Names below `localhost` do not count:
    /// whether they lead here depends on the resolver.
    package static func mayBeNamed(in authority: some StringProtocol) -> Bool {
        if authority.hasPrefix("[") {
            let address = authority.firstIndex(of: "]").flatMap { IPv6Address(host: authority[...$0]) }
            return address == .loopback || address == .unspecified
        }
        var host = authority.prefix { $0 != ":" }.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        if host == "localhost" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        // Some programs read a leading zero as octal, others as nothing.
        let readings = [parts.compactMap { number($0, octal: true) }, parts.compactMap { number($0, octal: false) }]
        return readings.contains { numbers in
            guard numbers.count == parts.count, let last = numbers.last, parts.count <= 4 else { return false }
            // The last number fills all bytes that are left.
            let first = parts.count == 1 ? last >> 24 : numbers[0]
            return first == 127 || numbers.allSatisfy { $0 == 0 }
        }
    }

    /// A number of an IPv4 address, with a prefix for its base; nil if `text` is not one.
    private static func number(_ text: Substring, octal: Bool) -> UInt32? {
        let isHexadecimal = text.hasPrefix("0x")
        let digits = isHexadecimal ? text.dropFirst(2) : text
        let isOctal = octal && !isHexadecimal && text.count > 1 && text.hasPrefix("0")
        guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        return UInt32(digits, radix: isHexadecimal ? 16 : isOctal ? 8 : 10)
    }
}
