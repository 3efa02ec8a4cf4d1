import CCurl
import OAuthMessages

extension TransportCause {
    /// What libcurl says of an exchange that failed.
    struct Facts {
        let code: CURLcode
        /// libcurl's text. It holds OpenSSL's reason, which has no other way out.
        let text: String
        /// Whether the endpoint is `https`.
        let isSecure: Bool
        /// Whether a TCP connection was made.
        let isConnected: Bool
        /// The status of the proxy's answer to CONNECT; 0 if there was none.
        let proxyStatus: Int
        let usesProxy: Bool
        /// OpenSSL's verdict on the certificate (X509_STORE_CTX_get_error(3)); 0 if the chain is trusted.
        let verification: Int
        /// Whether we have a certificate to show.
        let showedCertificate: Bool
    }

    init(_ facts: Facts) {
        if facts.usesProxy, facts.proxyStatus != 0, facts.proxyStatus / 100 != 2 {
            self = facts.proxyStatus == 407 ? .proxySignIn : .proxyRefused
            return
        }
        switch facts.code {
        case CURLE_COULDNT_RESOLVE_PROXY: self = .proxyNameResolution
        case CURLE_COULDNT_RESOLVE_HOST: self = .nameResolution
        case CURLE_COULDNT_CONNECT: self = facts.usesProxy ? .proxyConnection : .connection
        case CURLE_PROXY: self = .proxyRefused
        case CURLE_OPERATION_TIMEDOUT: self = facts.isConnected && facts.isSecure ? .tls : .connection
        case CURLE_SSL_CACERT_BADFILE: self = .authorityFile
        case CURLE_SSL_CERTPROBLEM: self = Self.isDemand(facts) ? .clientCertificateDemanded : .clientCertificate
        case CURLE_PEER_FAILED_VERIFICATION: self = Self.verdict(facts.verification)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED:
            self = Self.handshake(facts)
        // It ended as libcurl expects, and is no answer all the same.
        case CURLE_OK: self = .connectionLost
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_PARTIAL_FILE:
            self = Self.isDemand(facts) ? .clientCertificateDemanded : .connectionLost
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK,
            CURLE_BAD_CONTENT_ENCODING:
            self = .connectionLost
        default: self = .other
        }
    }

    /// The reason for which a certificate is not trusted (X509_V_ERR_… of OpenSSL).
    private static func verdict(_ number: Int) -> TransportCause {
        switch number {
        case 9: .certificateNotYetValid
        case 10: .certificateExpired
        // OpenSSL has nothing against the chain, and libcurl itself compares the names; it begins with 1 (unspecified).
        case 0, 1, 62, 64: .certificateHost
        case 2, 18, 19, 20, 21: .certificateAuthority
        default: .certificate
        }
    }

    private static func handshake(_ facts: Facts) -> TransportCause {
        if isDemand(facts) { return .clientCertificateDemanded }
        let noneShared = ["unsupported protocol", "alert protocol version", "no protocols available"]
        return noneShared.contains { facts.text.contains($0) } ? .tlsProtocol : .tls
    }

    /// Whether the server wants a certificate, and has got none. It says so with an alert, which only the text names.
    private static func isDemand(_ facts: Facts) -> Bool {
        !facts.showedCertificate
            && ["certificate required", "alert bad certificate"].contains { facts.text.contains($0) }
    }
}
