import Foundation
package import NIOSSL

/// A certificate authority in a temporary folder, made by the `openssl` command.
package struct TestAuthority: Sendable {
    package struct CommandFailed: Error {
        let arguments: [String]
        let output: String
    }

    private let folder: URL
    /// The path of the authority's certificate, for `ca_file`.
    package var caFile: String { path("ca.pem") }

    package init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try run(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path("ca.key")])
        try run(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path("server.key")])
        try run([
            "req", "-x509", "-new", "-key", path("ca.key"), "-subj", "/CN=Test authority", "-days", "30",
            "-addext", "basicConstraints=critical,CA:TRUE", "-out", caFile,
        ])
        let settings = """
            [ca]
            default_ca = test
            [test]
            database = \(path("index.txt"))
            rand_serial = yes
            new_certs_dir = \(folder.path)
            certificate = \(caFile)
            private_key = \(path("ca.key"))
            default_md = sha256
            policy = any
            copy_extensions = copy
            unique_subject = no
            [any]
            commonName = supplied
            """
        try settings.write(toFile: path("ca.cnf"), atomically: true, encoding: .utf8)
        try "".write(toFile: path("index.txt"), atomically: true, encoding: .utf8)
    }

    package func remove() throws {
        try FileManager.default.removeItem(at: folder)
    }

    /// A TLS server with a certificate for `name` (`IP:127.0.0.1`, `DNS:a.example`), valid between the two dates
    /// (YYYYMMDDHHMMSSZ).
    ///
    /// - Parameter protocols: the protocols that it offers inside TLS (RFC 7301), in order of preference; empty offers
    ///   none.
    package func server(
        for name: String,
        from start: String = "20200101000000Z",
        to end: String = "20990101000000Z",
        maximum: TLSVersion? = nil,
        protocols: [String] = [],
        wantsClientCertificate: Bool = false
    ) throws -> NIOSSLContext {
        let (request, certificate) = (path("\(UUID().uuidString).csr"), path("\(UUID().uuidString).pem"))
        try run([
            "req", "-new", "-key", path("server.key"), "-subj", "/CN=server", "-addext", "subjectAltName=\(name)",
            "-out", request,
        ])
        try run([
            "ca", "-batch", "-notext", "-config", path("ca.cnf"), "-startdate", start, "-enddate", end, "-in", request,
            "-out", certificate,
        ])
        return try context(
            certificate: certificate,
            key: path("server.key"),
            maximum: maximum,
            protocols: protocols,
            wantsClientCertificate: wantsClientCertificate
        )
    }

    /// A TLS server with a self-signed certificate.
    package func selfSignedServer() throws -> NIOSSLContext {
        let certificate = path("self.pem")
        try run([
            "req", "-x509", "-new", "-key", path("server.key"), "-subj", "/CN=self", "-days", "30",
            "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate,
        ])
        return try context(certificate: certificate, key: path("server.key"))
    }

    /// A client's certificate, followed by its key.
    package func client() throws -> String {
        let (request, certificate) = (path("client.csr"), path("client.pem"))
        try run(["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path("client.key")])
        try run(["req", "-new", "-key", path("client.key"), "-subj", "/CN=client", "-out", request])
        try run([
            "ca", "-batch", "-notext", "-config", path("ca.cnf"), "-days", "30", "-in", request, "-out", certificate,
        ])
        return try [certificate, path("client.key")].map { try String(contentsOfFile: $0, encoding: .utf8) }.joined()
    }

    private func context(
        certificate: String,
        key: String,
        maximum: TLSVersion? = nil,
        protocols: [String] = [],
        wantsClientCertificate: Bool = false
    ) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map { NIOSSLCertificateSource.certificate($0) }
        let key = NIOSSLPrivateKeySource.privateKey(try NIOSSLPrivateKey(file: key, format: .pem))
        var settings = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        settings.minimumTLSVersion = .tlsv1
        settings.maximumTLSVersion = maximum
        settings.applicationProtocols = protocols
        if wantsClientCertificate {
            settings.certificateVerification = .noHostnameVerification
            settings.trustRoots = .file(caFile)
        }
        return try NIOSSLContext(configuration: settings)
    }

    private func path(_ name: String) -> String {
        folder.appendingPathComponent(name).path
    }

    private func run(_ arguments: [String]) throws {
        let (end, output) = try Program.run("/usr/bin/openssl", arguments)
        guard end == .exited(0) else { throw CommandFailed(arguments: arguments, output: output) }
    }
}
