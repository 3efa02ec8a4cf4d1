/// A token set of an account, without its token. The fields are described in `io.authrefresh.varlink`.
package struct TokenSetStatus: Codable, Hashable, Sendable {
    package var scopes: [String]?
    package var resources: [String]?
    package var audience: String?
    package var expiresAtUSec: Int64

    package init(
        scopes: [String]? = nil,
        resources: [String]? = nil,
        audience: String? = nil,
        expiresAtUSec: Int64
    ) {
        self.scopes = scopes
        self.resources = resources
        self.audience = audience
        self.expiresAtUSec = expiresAtUSec
    }
}
