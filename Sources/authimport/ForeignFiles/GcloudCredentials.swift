internal import AuthRefreshInterface
internal import Basics

/// Reads the account in gcloud's `application_default_credentials.json`, which Google's libraries use as well.
enum GcloudCredentials {
    private static let expected =
        "the file that 'gcloud auth application-default login' writes (\"type\": \"authorized_user\")"

    /// The path of gcloud's file.
    static func path(home: String, environment: [String: String]) -> String {
        let folder = environment["CLOUDSDK_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        return (folder ?? home + "/.config/gcloud") + "/application_default_credentials.json"
    }

    /// Reads the account.
    ///
    /// - Throws: `wrongFormat`, also for the key of a service account; `tooLarge`.
    static func account(in bytes: [UInt8], origin: String) throws(ProgramError) -> MovableAccount {
        let fields = try JSONFields(bytes, origin: origin, expected: expected)
        guard let file = ClientFile(fields), fields.text("type") != nil else {
            throw .wrongFormat(origin, expected: expected)
        }
        var account = try StoredGrant.account(file, source: .gcloud, name: "gcloud", origin: origin)
        guard account.refreshToken != nil, account.settings.clientId != nil else {
            throw .wrongFormat(origin, expected: expected)
        }
        if account.settings.scopes == nil {
            account.notes.append("The file does not name the scopes. If you sign in again, name them with --scope.")
        }
        if let project = fields.text("quota_project_id") {
            account.notes.append("The quota project '\(project)' is not a setting of the account.")
        }
        return account
    }
}
