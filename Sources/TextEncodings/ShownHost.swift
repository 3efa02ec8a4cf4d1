/// The part of a URL by which people know a server: its host, with the port if one is named.
package enum ShownHost {
    /// All of `url` if it has no host.
    package static func of(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let host = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return host.isEmpty ? url : String(host)
    }
}
