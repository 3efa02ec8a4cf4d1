/// By what a client that registered itself deletes its registration. The fields are described in `io.authrefresh.varlink`.
package struct ManagedRegistration: Codable, Hashable, Sendable {
    package var uri: String
    package var accessToken: String

    package init(uri: String, accessToken: String) {
        self.uri = uri
        self.accessToken = accessToken
    }
}
