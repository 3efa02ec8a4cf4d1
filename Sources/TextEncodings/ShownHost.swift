/// The part of a URL by which people recognize a server: its host, with the port if there is one.
package enum ShownHost {
    /// The host of `url`; all of `url` if it has none.
    package static func of(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let host = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return host.isEmpty ? url : String(host)
    }
}
