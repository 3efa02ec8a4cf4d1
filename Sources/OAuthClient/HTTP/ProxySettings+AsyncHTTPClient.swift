import OAuthMessages
import RefreshCore
import TextEncodings

/// The proxy as async-http-client takes it. This file goes together with that client.
extension ProxySettings {
    /// Nil if there is none, or it cannot be used, or it is not an HTTP proxy: to others this client would speak plain
    /// HTTP, and so show the proxy's password to the network.
    var server: (host: String, port: Int, credentials: Secret?)? {
        guard let url, let address else { return nil }
        let text = url.reveal()
        guard text.hasPrefix("http://") else { return nil }
        let credentials = text.lastIndex(of: "@").flatMap { end in
            text.firstRange(of: "://").flatMap { FormEncoding.decode(text[$0.upperBound..<end].utf8) }
        }
        return (address.host, address.port, credentials.map { Secret($0) })
    }
}
