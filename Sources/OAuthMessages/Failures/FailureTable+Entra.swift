internal import RefreshCore

/// What Microsoft Entra ID's codes mean: the one place where they stand. With each row its class says the rest:
///
/// | class | state | exit status | tried again | who can help |
/// |---|---|---|---|---|
/// | `misconfigured` | `misconfigured` | 78 | as after any misconfiguration | whoever owns the client |
/// | `unavailable` | `retrying` | 75 | soon | nobody is needed |
/// | `userRequired` | `interaction-required` | 3 | no | the person, by a sign-in |
/// | `refusedHere` | `interaction-required` | 3 | at a change of the network, and hourly | `Remedy` |
/// | `grantEnded` | `interaction-required` | 3 | only if a caller needs a token | the person, by a sign-in |
///
/// Source: "Microsoft Entra authentication and authorization error codes",
/// https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes. It does not have 50142, 53009, 70044,
/// 500121, 500133, 530003, 530033 (device codes), 700003, 700081, 9002326, 9002327 and the codes of federated credentials
/// (70021, 700211 to 700213): these are from Microsoft's other pages and libraries, from people's reports, and from
/// https://login.microsoftonline.com/error.
extension FailureTable {
    /// The codes that say nothing about the grant itself. They are compared before everything else.
    static let entraRows = [
        row(
            "provider is busy",
            [
                40010, 50087, 50166, 50196, 70012, 80001, 90006, 90012, 90024, 90033, 90055, 90090,
            ],
            .unavailable,
            "the server says that it is temporarily unavailable"
        ),
        row(
            "secret of a public client",
            [700025, 90023],
            .misconfigured,
            "this client is public, and the server does not accept a secret or key from it",
            .noCredential
        ),
        row(
            "no public client",
            [7000218],
            .misconfigured,
            "the app does not allow public client flows, so the server wants a secret or a key",
            .publicClientFlows
        ),
        row(
            "disabled app",
            [70001, 7000112, 1000031],
            .misconfigured,
            "the app is disabled, or cannot be used in this organization",
            .enabledApp
        ),
        row(
            "single-page app",
            [9002327],
            .misconfigured,
            "the app is registered as a single-page app, and the server wants the header Origin from it",
            .originHeader
        ),
        row(
            "no single-page app",
            [9002326],
            .misconfigured,
            "the app is not registered as a single-page app, and the server refuses the header Origin",
            .noOriginHeader
        ),
        row(
            "unknown app",
            [700011, 700016],
            .misconfigured,
            "the organization has no app with this client id",
            .clientOrTenant
        ),
        row(
            "other tenant",
            [50020, 50194, 90002, 90038, 90072, 90124, 90130, 9001023, 9002332],
            .misconfigured,
            "the app, or the person, does not belong to this tenant",
            .tenant
        ),
        row(
            "permissions of the app",
            [65005, 650052, 650056, 650057],
            .misconfigured,
            "the app is not registered for the API that the scopes are for",
            .permissions
        ),
        row(
            "client's own credential",
            [70021, 500133, 700027, 700030, 700211, 700212, 700213, 700229, 7000215, 7000222],
            .misconfigured,
            "the server does not accept this client's credentials",
            .credential
        ),
        row(
            "another factor",
            [50072, 50074, 50076, 50078, 50079, 50158, 500121],
            .userRequired,
            "the server asks the user for another factor"
        ),
        row("consent", [65001, 65004], .userRequired, "the server asks for the user's consent"),
        row(
            "administrator's consent",
            [90094, 90095],
            .refusedHere,
            "an administrator of the organization has to approve the app",
            .administratorsConsent
        ),
        row(
            "locked user",
            [50053],
            .refusedHere,
            "the user is locked: too many wrong passwords, or an address that the server does not trust",
            .unlocking
        ),
        row("disabled user", [50057], .refusedHere, "the user is disabled in the organization", .enabledUser),
        row("user not assigned", [50105], .refusedHere, "the user is not assigned to the app", .assignment),
        row(
            "risk",
            [50131, 53004, 53011, 530034],
            .refusedHere,
            "a policy against risks keeps the user out",
            .riskReview
        ),
        row(
            "device",
            [
                50005, 50097, 50127, 50129, 50155, 50187, 53000, 53001, 135011, 530003, 700003,
            ],
            .refusedHere,
            "an access policy does not accept this device",
            .acceptedDevice
        ),
        row(
            "device codes",
            [530033],
            .refusedHere,
            "an access policy forbids sign-ins with device codes",
            .browserFlow
        ),
        // Restrictions of tenants, by a proxy or an agreement between organizations; working hours; and the codes of
        // Conditional Access, which begin with 53.
        row(
            "access policy",
            Set([50002, 80012, 500021, 500022, 500212, 500213]).union(53000...53099).union(530_000...530_099),
            .refusedHere,
            "an access policy keeps the user out",
            .policyReview
        ),
        row(
            "password to change",
            [50055, 50125, 50135, 50142, 50144],
            .userRequired,
            "the server asks for a new password"
        ),
    ]

    /// The codes that end the grant, unless the same answer has a claims challenge.
    static let entraEndRows = [
        row("sign-in frequency", [70043, 70044], .grantEnded, "a policy requires a new sign-in"),
        row("grant too old", [50089, 70008, 700081, 700082, 700084], .grantEnded, "the grant has expired"),
        row(
            "password changed",
            [50132, 50133, 50173],
            .grantEnded,
            "the grant was withdrawn, as after a change of password"
        ),
    ]

    private static func row(
        _ name: String,
        _ codes: Set<Int>,
        _ failureClass: FailureClass,
        _ summary: String,
        _ remedy: Remedy? = nil
    ) -> FailureRow {
        let condition = Condition(status: believed, anyCode: Set(codes.map { "aadsts\($0)" }))
        return FailureRow("Entra: \(name)", condition, failureClass, summary, remedy: remedy)
    }
}

/// Who can help after a refusal, and by what. The daemon has a hint for each.
package enum Remedy: Hashable, Sendable, CaseIterable {
    // What the owner of the client corrects, here or at the server.
    case noCredential, publicClientFlows, enabledApp, originHeader, noOriginHeader, clientOrTenant, tenant, permissions
    case credential
    // What an administrator of the organization does, or the person at another place.
    case administratorsConsent, unlocking, enabledUser, assignment, riskReview, acceptedDevice, policyReview
    /// A sign-in without device codes.
    case browserFlow
}
