/// The address of the user's own redirect page, in the form in which the page passes it to the desktop, and the desktop
/// to `authctl callback`: `io.authrefresh:https://me.example.org/back/?code=…`. Browsers never pass an https address on
/// by themselves.
package enum DesktopAddress {
    /// Our own scheme, before the whole address.
    private static let scheme = Array("io.authrefresh:".utf8)

    /// The page's own address. Text without our scheme stays as it is.
    package static func unwrapped(_ text: [UInt8]) -> ArraySlice<UInt8> {
        let begins = text.prefix(scheme.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } == scheme
        let address = text.dropFirst(scheme.count)
        return begins && address.starts(with: "http".utf8) ? address : text[...]
    }
}
