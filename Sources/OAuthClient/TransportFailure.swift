import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// An exchange that gave no answer.
struct TransportFailure: Error, Sendable {
    let cause: TransportCause
    /// Whether any of the request's body was handed to the connection; false only if that is certain.
    let wasSent: Bool
}

extension TransportCause {
    /// What an error of the HTTP client, NIO or TLS means.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPClientError: self = Self.httpCauses.first { $0.error == error }?.cause ?? .other
        case let error as NIOConnectionError:
            // Both lookups fail where a name does not exist; one alone is normal for a host with one kind of address.
            let isUnresolved = error.connectionErrors.isEmpty && (error.dnsAError != nil || error.dnsAAAAError != nil)
            self = isUnresolved ? .nameResolution : .connection
        case let error as NIOSSLError: self = Self.cause(of: error)
        case let error as NIOSSLExtraError:
            let names: [NIOSSLExtraError] = [.failedToValidateHostname, .serverHostnameImpossibleToMatch]
            self = names.contains(error) ? .certificate : .tls
        case is BoringSSLError: self = .tls
        case is IOError, is ChannelError: self = .connection
        default: self = .other
        }
    }

    private static let httpCauses: [(error: HTTPClientError, cause: TransportCause)] = [
        (.connectTimeout, .connection),
        (.tlsHandshakeTimeout, .tls),
        (.httpProxyHandshakeTimeout, .proxyRefused),
        (.invalidProxyResponse, .proxyRefused),
        (.proxyAuthenticationRequired, .proxySignIn),
        (.getConnectionFromPoolTimeout, .timeLimit),
        (.deadlineExceeded, .timeLimit),
        (.readTimeout, .timeLimit),
        (.writeTimeout, .timeLimit),
        (.remoteConnectionClosed, .connectionLost),
        (.uncleanShutdown, .connectionLost),
    ]

    private static func cause(of error: NIOSSLError) -> TransportCause {
        switch error {
        case .noCertificateToValidate, .unableToValidateCertificate:
            return .certificate
        case .handshakeFailed(.sslError(let stack)):
            // NIOSSL keeps BoringSSL's reason to itself; this is its symbolic name, not a sentence. Which fault the
            // certificate has (time, issuer, purpose) is not said at all.
            return stack.contains { $0.description.contains("CERTIFICATE_VERIFY_FAILED") } ? .certificate : .tls
        case .uncleanShutdown:
            return .connectionLost
        default:
            return .tls
        }
    }
}
