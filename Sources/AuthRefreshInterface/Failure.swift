/// What is known about a refresh that brought no tokens. The fields are described in `io.authrefresh.varlink`.
package struct Failure: Codable, Hashable, Sendable {
    package var summary: String
    package var httpStatus: Int64?
    package var oauthError: String?
    package var oauthErrorDescription: String?
    package var subError: String?
    package var providerCode: String?
    package var correlationId: String?

    package init(
        summary: String,
        httpStatus: Int64? = nil,
        oauthError: String? = nil,
        oauthErrorDescription: String? = nil,
        subError: String? = nil,
        providerCode: String? = nil,
        correlationId: String? = nil
    ) {
        self.summary = summary
        self.httpStatus = httpStatus
        self.oauthError = oauthError
        self.oauthErrorDescription = oauthErrorDescription
        self.subError = subError
        self.providerCode = providerCode
        self.correlationId = correlationId
    }
}
