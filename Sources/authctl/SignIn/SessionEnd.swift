internal import Glibc

/// Has a browser end the person's session at the authorization server (OpenID Connect RP-Initiated Logout).
struct SessionEnd {
    /// µs. As long as a browser takes to start on a slow machine, and as anybody waits for one.
    private static let patience: Int64 = 60_000_000

    /// Where the session ends; the id_token is in it.
    let link: WebLink

    /// Brings `browser` there.
    ///
    /// - Returns: why it has not come there; nil if it has.
    func open(in browser: Browser) -> String? {
        let signals = CaughtSignals([SIGCHLD])
        guard var detour = SecretLink.leading(to: link) else { return "no port on loopback can be had" }
        guard let program = DetachedProgram(browser.command(for: detour.link)) else {
            return "\(browser.name) cannot be started"
        }
        let end = ContinuousClock.now + .microseconds(Self.patience)
        while true {
            let rest = (end - .now).components
            let left = rest.seconds * 1_000_000 + rest.attoseconds / 1_000_000_000_000
            guard left > 0 else { return "\(browser.name) has not asked for it" }
            if !signals.wait(for: detour.descriptors, microseconds: left).isEmpty, detour.serve() { return nil }
            // What only hands an address on ends at once, and well.
            if !signals.take().isEmpty, let result = program.takeEnd(), result != .exited(0) {
                return "\(browser.name) was not opened"
            }
        }
    }
}
