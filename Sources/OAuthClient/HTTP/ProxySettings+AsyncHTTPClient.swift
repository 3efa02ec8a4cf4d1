import OAuthMessages
import RefreshCore
import TextEncodings

/// The proxy as async-http-client takes it. This file goes together with that client.
extension ProxySettings {
    var server: (host: String, port: Int, credentials: Secret?)? {
        guard let url, let address else { return nil }
        let text = url.reveal()
        let credentials = text.lastIndex(of: "@").flatMap { end in
            text.firstRange(of: "://").flatMap { FormEncoding.decode(text[$0.upperBound..<end].utf8) }
        }
        return (address.host, address.port, credentials.map { Secret($0) })
    }
}
