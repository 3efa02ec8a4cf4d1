internal import Basics
import CCurl
import Glibc

/// The system's libcurl.
package enum HTTPLibrary {
    /// The library's version, and that of the TLS library under it: `libcurl/7.88.1 OpenSSL/3.0.17`.
    package static var version: String {
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "libcurl" }
        let name = unsafe info.pointee.version.map { unsafe "libcurl/" + String(cString: $0) } ?? "libcurl"
        let tls = unsafe info.pointee.ssl_version.map { unsafe " " + String(cString: $0) } ?? ""
        return name + tls
    }

    /// Removes what would make the library write the keys of its connections to a file. Call it before there is a
    /// second thread.
    package static func ignoreKeyLog() {
        unsafe unsetenv("SSLKEYLOGFILE")
    }

    /// Whether the library is ready for use. It becomes so at the first question.
    static let isReady: Bool = {
        ignoreKeyLog()
        return authrefresh_curl_begin() == CURLE_OK
    }()

    /// The folder with the certificate authorities that the system trusts: a file for each hash of a name
    /// (openssl-rehash(1)), of which TLS reads those that it needs. Nil if there is none.
    ///
    /// It is looked for at each connection: a person may install the package after the daemon has started.
    static func authorityFolder(of handle: UnsafeMutableRawPointer) -> String? {
        unsafe text(handle, CURLINFO_CAPATH).flatMap { isHashed($0) ? $0 : nil }
    }

    /// The file with all of them. To read it costs 26 ms of processor time for each connection.
    static func authorityBundle(of handle: UnsafeMutableRawPointer) -> String? {
        unsafe text(handle, CURLINFO_CAINFO)
    }

    private static func text(_ handle: UnsafeMutableRawPointer, _ info: CURLINFO) -> String? {
        unsafe authrefresh_curl_text(handle, info).map { unsafe String(cString: $0) }
    }

    /// Whether the folder has a file with a name such as `1d3472b9.0`.
    private static func isHashed(_ folder: String) -> Bool {
        folderNames(folder).contains { $0.utf8.count == 10 && $0.hasSuffix(".0") }
    }
}
