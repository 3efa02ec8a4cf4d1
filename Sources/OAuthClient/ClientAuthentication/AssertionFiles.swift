internal import Basics
internal import OAuthMessages
internal import RefreshCore

/// Reads client assertions that another issuer made and another program keeps in a file (RFC 7523 §2.2): a token of
/// Kubernetes, SPIFFE or a CI job.
///
/// A file is read for each request, because the program replaces it before the token expires. It is read on a thread of
/// its own, so that a file that hangs blocks nobody else.
final class AssertionFiles: Sendable {
    private let files: BlockingWork<String, Secret?>
    private let contents: @Sendable (_ path: String) -> [UInt8]?

    /// - Parameter contents: reads a file; nil if it cannot be read, or is not a regular file.
    init(
        timeLimit: Duration = CertificateAuthorities.fileTimeLimit,
        contents: @escaping @Sendable (_ path: String) -> [UInt8]? = {
            try? NamedFile.contents(of: $0, limit: CertificateAuthorities.fileBytesMax)
        }
    ) {
        self.contents = contents
        files = BlockingWork(
            "authrefreshd.assertion-file",
            timeLimit: timeLimit,
            piecesMax: CertificateAuthorities.fileReadsMax
        )
    }

    /// The assertion in the file at `path`.
    ///
    /// Only a signed token is returned, so that no server ever gets the contents of another file.
    ///
    /// - Throws: `assertionFile` if the file cannot be read or holds no signed token; `assertionFileHangs` if it could
    ///   not be read in time; `assertionExpired`.
    func assertion(in path: String, at now: Timestamp) async throws(TransportFailure) -> Secret {
        let read = await files.value(path) { [contents] in contents(path).map { Secret(Self.trimmed($0)) } }
        guard let read else { throw TransportFailure(cause: .assertionFileHangs, wasSent: false) }
        let expiresAt: Timestamp?
        do throws(JOSEError) {
            guard let read else { throw .malformed }
            expiresAt = try read.expiryOfToken()
        } catch {
            throw TransportFailure(cause: .assertionFile, wasSent: false)
        }
        guard let read, expiresAt.map({ now < $0 }) ?? true else {
            throw TransportFailure(cause: .assertionExpired, wasSent: false)
        }
        return read
    }

    /// Some programs end the file with a line end.
    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in [0x20, 0x09, 0x0a, 0x0d].contains(byte) }
        let rest = bytes.drop(while: isSpace)
        return rest[..<(rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex)]
    }
}
