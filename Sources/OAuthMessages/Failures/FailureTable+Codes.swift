internal import RefreshCore

extension FailureTable {
    /// Statuses whose error codes are believed.
    static let believed = [200...299, 400...499]

    /// The rows for codes that are more specific than `error`, and are therefore compared first.
    static let providerCodeRows = [
        FailureRow(
            "profile's word for invalid_grant",
            Condition(status: believed, sign: .grantEnded),
            .grantEnded,
            "the authorization server says that the grant has ended"
        ),
        FailureRow(
            "another factor",
            Condition(status: believed, anyCode: ["mfa_required", "basic_action"]),
            .userRequired,
            "the server asks the user for another factor"
        ),
        FailureRow(
            "consent",
            Condition(status: believed, anyCode: ["consent_required"]),
            .userRequired,
            "the server asks for the user's consent"
        ),
        FailureRow(
            "access policy",
            // Entra's sub-errors; its codes have rows of their own.
            Condition(
                status: believed,
                anyCode: ["additional_action", "message_only", "protection_policy_required"]
            ),
            .refusedHere,
            "an access policy or the state of the device keeps the user out"
        ),
        FailureRow(
            "administrator's policy",
            // Google Workspace.
            Condition(status: believed, anyCode: ["admin_policy_enforced"]),
            .refusedHere,
            "an administrator of the organization has to approve the app",
            remedy: .administratorsConsent
        ),
        FailureRow(
            "session control",
            Condition(
                status: believed,
                anyCode: ["invalid_rapt", "rapt_required", "aadb2c90118", "user_password_expired"]
            ),
            .userRequired,
            "the server asks the user to sign in again"
        ),
        FailureRow(
            "claims challenge",
            Condition(status: believed, hasError: true, sign: .claimsChallenge),
            .userRequired,
            "the server asks the user for more than the present sign-in gives"
        ),
        FailureRow(
            "policy's grant too old",
            Condition(status: believed, anyCode: ["aadb2c90080"]),
            .grantEnded,
            "the grant has expired"
        ),
        FailureRow(
            "other policy",
            Condition(status: believed, anyCode: ["aadb2c90088"]),
            .grantEnded,
            "the grant belongs to another policy"
        ),
    ]

    /// The rows for the codes of RFC 6749 §5.2 and OpenID Connect Core §3.1.2.6, and for the names that providers use
    /// instead.
    static let errorRows = [
        FailureRow(
            "cannot serve now",
            Condition(
                status: believed,
                anyCode: [
                    "temporarily_unavailable", "server_error", "slow_down", "internal_failure", "service_unavailable",
                    // Slack.
                    "ratelimited", "rate_limited", "internal_error", "fatal_error",
                    // Google. Salesforce, which adds "retry your request".
                    "rate_limit_exceeded", "unknown_error",
                    // Zoho, which blocks a client after ten tokens in ten minutes.
                    "access denied",
                ]
            ),
            .unavailable,
            "the server says that it is temporarily unavailable"
        ),
        FailureRow(
            "user required",
            Condition(
                status: believed,
                error: [
                    "interaction_required", "login_required", "account_selection_required",
                    "insufficient_user_authentication", "unmet_authentication_requirements",
                ]
            ),
            .userRequired,
            "the server requires the user to sign in"
        ),
        FailureRow(
            "refresh denied",
            // Okta, whose access policies are evaluated at each request. At a sign-in, it is the person's "no".
            Condition(status: believed, anyCode: ["access_denied"], sign: .refreshDenied),
            .refusedHere,
            "an access policy keeps the user out",
            remedy: .policyReview
        ),
        FailureRow(
            "grant ended",
            Condition(status: believed, anyCode: ["invalid_grant"]),
            .grantEnded,
            "the authorization server says that the grant has ended"
        ),
        FailureRow(
            "provider's word for invalid_grant",
            // GitHub and HubSpot; GitHub for a code; Zoho; Slack; Twitch, in "message".
            Condition(
                status: believed,
                anyCode: [
                    "bad_refresh_token", "bad_verification_code", "invalid_code", "invalid_refresh_token",
                    "invalid refresh token",
                    // Yahoo, which also uses invalid_refresh_token.
                    "token_expired", "account_not_authorized",
                    // Slack. Cloud Foundry's UAA, with 401 (InvalidTokenException.java); a refresh sends no other token.
                    "token_revoked", "account_inactive", "invalid_token",
                ]
            ),
            .grantEnded,
            "the authorization server says that the grant has ended"
        ),
        FailureRow(
            "refresh token called dead",
            // idpyoidc, Laravel Passport, Kong.
            Condition(status: believed, error: ["invalid_request"], sign: .refreshTokenCalledDead),
            .grantEnded,
            "the authorization server says that the grant has ended"
        ),
        // Keycloak's answer to a wrong secret. The status says that the client was not authenticated (RFC 6749 §5.2).
        FailureRow(
            "client not authenticated",
            Condition(status: [401...401], error: ["unauthorized_client"]),
            .misconfigured,
            "the server does not accept this client's credentials",
            .tryOtherCredentials
        ),
        // Some servers send this for a dead refresh token (Atlassian: 403 unauthorized_client). The daemon believes it
        // after the second such answer, but only if the same form of request brought tokens before.
        FailureRow(
            "request refused that worked before",
            Condition(
                status: believed,
                error: ["invalid_request", "unauthorized_client"],
                sign: .workedBefore
            ),
            .rejected,
            "the authorization server refuses a request that it accepted before",
            .tryOtherSecretForm
        ),
        FailureRow(
            "client refused",
            // GitHub; Slack; Yahoo.
            Condition(
                status: believed,
                anyCode: [
                    "invalid_client", "incorrect_client_credentials", "bad_client_secret", "invalid_client_id",
                    "invalid_client_secret",
                    // Google, with 401: the client was deleted or disabled in its console.
                    "deleted_client", "disabled_client",
                ]
            ),
            .misconfigured,
            "the server does not accept this client's credentials",
            .tryOtherCredentials
        ),
        FailureRow(
            "client may not",
            Condition(status: believed, error: ["unauthorized_client"]),
            .misconfigured,
            "the server does not let this client refresh",
            .tryOtherCredentials
        ),
        // The request was already repeated once with the server's nonce, so the server keeps changing the nonce, or its
        // machines do not agree on one. It did nothing with the request (RFC 9449 §8), and the next request may reach a
        // machine that accepts the nonce.
        FailureRow(
            "nonce wanted again",
            Condition(status: believed, error: ["use_dpop_nonce"], sign: .showedProof),
            .unavailable,
            "the server asks for another DPoP nonce each time"
        ),
        FailureRow(
            "request refused",
            Condition(
                status: believed,
                error: [
                    "invalid_request", "invalid_scope", "unsupported_grant_type", "invalid_target", "invalid_resource",
                    "use_dpop_nonce", "invalid_dpop_proof",
                    // GitHub and Google; GitHub.
                    "redirect_uri_mismatch", "device_flow_disabled",
                ]
            ),
            .misconfigured,
            "the server rejects the request as invalid"
        ),
    ]
}
