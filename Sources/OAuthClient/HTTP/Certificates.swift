import Basics
import CCurl
package import OAuthMessages
package import RefreshCore

/// How long a server's certificate is valid, and who signed it.
package struct ServerCertificate: Hashable, Sendable {
    package let notBefore: Timestamp
    package let notAfter: Timestamp
    /// The name of the authority, as the certificate has it; nil if it has none.
    package let authority: String?

    /// Reads what libcurl says of a certificate: `Start date`, `Expire date` and `Issuer`.
    ///
    /// Nil if a date cannot be read.
    init?(_ lines: [String: String]) {
        let date = { (name: String) -> Timestamp? in
            guard let text = lines[name] else { return nil }
            let seconds = unsafe curl_getdate(text, nil)
            return seconds < 0 ? nil : Timestamp(microseconds: Int64(seconds) * 1_000_000)
        }
        guard let notBefore = date("Start date"), let notAfter = date("Expire date") else { return nil }
        (self.notBefore, self.notAfter) = (notBefore, notAfter)
        authority = lines["Issuer"].flatMap { FailureText.clean($0) }
    }
}

/// What a look at a server's certificate shows.
package enum CertificateFinding: Hashable, Sendable {
    case trusted(ServerCertificate)
    /// There is no TLS connection. The certificate is the one that is not trusted; nil if it could not be read, or if it
    /// is not the reason.
    case refused(TransportCause, ServerCertificate?)
}

/// Reads the files with certificate authorities that settings name. Each file is read on a separate thread, so that a
/// file that hangs blocks nobody else.
package final class CertificateAuthorities: Sendable {
    /// The longest file that is read, in bytes. The system's own bundle, with all public authorities, has some 220 KiB.
    package static let fileBytesMax = 1 << 20
    /// How long to wait for a file: much longer than a disk needs to spin up, much shorter than a caller waits.
    package static let fileTimeLimit = Duration.seconds(5)
    /// The most files that are read at the same time. Each file that hangs keeps a thread.
    package static let fileReadsMax = 32

    private let files: BlockingWork<String, [UInt8]>
    private let contents: @Sendable (_ path: String) -> [UInt8]?

    /// - Parameter contents: reads a file; nil if it cannot be read, or is not a regular file.
    package init(
        fileTimeLimit: Duration = CertificateAuthorities.fileTimeLimit,
        fileReadsMax: Int = CertificateAuthorities.fileReadsMax,
        contents: @escaping @Sendable (_ path: String) -> [UInt8]? = {
            try? NamedFile.contents(of: $0, limit: CertificateAuthorities.fileBytesMax)
        }
    ) {
        self.contents = contents
        files = BlockingWork("authrefreshd.ca-file", timeLimit: fileTimeLimit, piecesMax: fileReadsMax)
    }

    /// The PEM file at `path`, which holds certificates.
    ///
    /// - Throws: `authorityFile` if the file holds none or cannot be read; `authorityFileHangs` if it could not be read
    ///   in time.
    func certificates(in path: String) async throws(TransportFailure) -> [UInt8] {
        let certificates = await files.value(path) { [contents] in
            contents(path).flatMap { Self.holdsCertificate($0) ? $0 : nil } ?? []
        }
        guard let certificates else { throw TransportFailure(cause: .authorityFileHangs, wasSent: false) }
        guard !certificates.isEmpty else { throw TransportFailure(cause: .authorityFile, wasSent: false) }
        return certificates
    }

    /// Whether there is a block of PEM. What it holds is for TLS to read.
    private static func holdsCertificate(_ text: [UInt8]) -> Bool {
        String(decoding: text, as: UTF8.self).contains("-----BEGIN CERTIFICATE-----")
    }
}
