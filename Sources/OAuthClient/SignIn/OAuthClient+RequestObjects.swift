internal import JOSE
internal import RefreshCore

extension OAuthClient {
    /// An authorization request as one signed token (RFC 9101), for a server that takes nothing else.
    ///
    /// - Throws: `misconfigured` if the account has no key that can sign it.
    func requestObject(
        of parameters: [(name: String, value: String)],
        by client: RequestingClient,
        _ metadata: AuthorizationServerMetadata
    ) throws(RefreshFailure) -> Secret {
        guard let key = client.registration.clientKey else {
            throw client.misconfigured(
                "the server takes signed authorization requests only, and the account has no client key"
            )
        }
        do throws(JOSEError) {
            let signer = try TokenSigner(
                key: PrivateKey(key),
                keyID: client.registration.clientKeyID,
                offered: metadata.requestObjectSigningAlgorithms
            )
            return try RequestObject.make(
                parameters,
                clientID: client.registration.clientID,
                audience: metadata.issuer.url,
                signer: signer,
                now: configuration.now(),
                random: AuthenticatedPost.newIdentifier()
            )
        } catch {
            throw client.misconfigured("the authorization request cannot be signed: \(error.summary)")
        }
    }
}
