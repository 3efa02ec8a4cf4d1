/// What a secret is for; names it in prompts and messages.
enum SecretPurpose: String, Sendable {
    case refreshToken = "refresh token"
    case clientSecret = "client secret"
    case clientKey = "client key"
    case initialAccessToken = "initial access token"
    case document = "document"
    case redirect = "redirected address"
    case headers = "answer's headers"
}
