internal import JOSE
internal import RefreshCore

extension RefreshRequest {
    /// What is wrong with the id_token that came with the refresh (OpenID Connect Core §12.2); nil if nothing is, or if it is not known
    /// whose it should be.
    func fault(of token: Secret?) -> String? {
        guard let token, let subject else { return nil }
        var validation = IDTokenValidation(issuer: client.issuer, clientID: client.registration.clientID)
        validation.issuerTemplate = client.profile?.issuerTemplate
        validation.issuerAliases = client.profile?.issuerAliases ?? []
        do throws(JOSEError) {
            _ = try validation.continued(token, subject: subject)
            return nil
        } catch {
            return error.summary
        }
    }
}
