internal import CCurl
internal import Dispatch
internal import Synchronization

/// libcurl without the daemon: it sends refresh requests, each on a connection of its own, and knows no accounts.
struct BareClient: Sendable {
    /// libcurl's handles that no request uses, as addresses. Each keeps its TLS session for the next request.
    private final class Handles: Sendable {
        private let free = Mutex<[UInt]>([])

        func take() -> UInt {
            free.withLock { $0.popLast() } ?? UInt(bitPattern: unsafe curl_easy_init())
        }

        func giveBack(_ handle: UInt) {
            free.withLock { $0.append(handle) }
        }

        deinit {
            for handle in free.withLock(\.self) {
                unsafe curl_easy_cleanup(UnsafeMutableRawPointer(bitPattern: handle))
            }
        }
    }

    private let handles = Handles()
    private let queue = DispatchQueue(label: "authbench.bare-client", attributes: .concurrent)
    private let url: String
    private let caFile: String

    init(for issuer: LocalIssuer) {
        url = issuer.url + "/token"
        caFile = issuer.caFile
    }

    /// One exchange with rotation.
    ///
    /// - Returns: the whole answer.
    /// - Throws: `BenchError` if the server refuses.
    @discardableResult func refresh(_ refreshToken: String) async throws -> [UInt8] {
        let form = "grant_type=refresh_token&refresh_token=\(refreshToken)&client_id=\(LocalIssuer.clientID)"
        let (status, body) = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: exchange(form)) }
        }
        guard status == 200 else { throw BenchError.failedToServe("the issuer answers \(status)") }
        return body
    }

    /// The whole bytes of an answer, as libcurl hands them over.
    private final class Body {
        var bytes: [UInt8] = []
    }

    private func exchange(_ form: String) -> (status: Int, body: [UInt8]) {
        let address = handles.take()
        defer { handles.giveBack(address) }
        guard let handle = unsafe UnsafeMutableRawPointer(bitPattern: address) else { return (0, []) }
        let body = Body()
        unsafe authrefresh_curl_set_text(handle, CURLOPT_URL, url)
        unsafe authrefresh_curl_set_text(handle, CURLOPT_CAINFO, caFile)
        unsafe authrefresh_curl_set_long(handle, CURLOPT_FRESH_CONNECT, 1)
        unsafe authrefresh_curl_set_long(handle, CURLOPT_FORBID_REUSE, 1)
        unsafe authrefresh_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        unsafe authrefresh_curl_set_body(handle, form, form.utf8.count)
        let context = unsafe Unmanaged.passUnretained(body).toOpaque()
        unsafe authrefresh_curl_set_callbacks(
            handle,
            context,
            { _, size, count, _ in size * count },
            { bytes, size, count, context in
                guard let context = unsafe context else { return 0 }
                let part = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                unsafe Unmanaged<Body>.fromOpaque(context).takeUnretainedValue().bytes.append(contentsOf: part)
                return size * count
            },
            { _, _, _, _, _ in Int32(CURL_PREREQFUNC_OK) },
            { _, _, _, _, _ in 0 },
            nil
        )
        let code = unsafe curl_easy_perform(handle)
        return withExtendedLifetime(body) {
            (code == CURLE_OK ? Int(unsafe authrefresh_curl_long(handle, CURLINFO_RESPONSE_CODE)) : 0, body.bytes)
        }
    }
}
