import BlockingWork
import NIOSSL

/// Reads the files with certificate authorities that settings name, away from every thread that others need.
package final class CertificateAuthorities: Sendable {
    /// Longest file read, in bytes. The system's own bundle, with all authorities there are, has some 220 KiB.
    package static let fileBytesMax = 1 << 20
    /// How long a file is waited for: much longer than a disk that has to spin up, much shorter than a caller waits.
    package static let fileTimeLimit = Duration.seconds(5)
    /// Files read at the same time. Each that hangs holds a thread.
    package static let fileReadsMax = 32

    private let files: BlockingWork<String, [NIOSSLCertificate]>
    private let contents: @Sendable (_ path: String) -> [UInt8]?

    /// - Parameter contents: reads a file; nil if it cannot be read, or is no regular file.
    package init(
        fileTimeLimit: Duration = CertificateAuthorities.fileTimeLimit,
        fileReadsMax: Int = CertificateAuthorities.fileReadsMax,
        contents: @escaping @Sendable (_ path: String) -> [UInt8]? = {
            try? RegularFile.contents(of: $0, limit: CertificateAuthorities.fileBytesMax)
        }
    ) {
        self.contents = contents
        files = BlockingWork("authrefreshd.ca-file", timeLimit: fileTimeLimit, piecesMax: fileReadsMax)
    }

    /// The certificates in the PEM file at `path`.
    ///
    /// - Throws: `authorityFile` if it holds none or cannot be read; `authorityFileHangs` if it could not be read in time.
    func certificates(in path: String) async throws(TransportFailure) -> [NIOSSLCertificate] {
        let certificates = await files.value(path) { [contents] in
            contents(path).flatMap { try? NIOSSLCertificate.fromPEMBytes($0) } ?? []
        }
        guard let certificates else { throw TransportFailure(cause: .authorityFileHangs, wasSent: false) }
        guard !certificates.isEmpty else { throw TransportFailure(cause: .authorityFile, wasSent: false) }
        return certificates
    }
}
