internal import Logging
internal import Systemd

/// All events that the daemon writes to the journal: ID, level and constant text. Variable parts are in fields.
///
/// The catalog (`systemd/authrefreshd.catalog`) has an entry for each ID. A test compares the two.
enum JournalEvent: CaseIterable {
    case daemonStarted
    case daemonCrashed
    case daemonStopping
    case accountAdded
    case accountUpdated
    case accountRemoved
    case grantImported
    case signInStarted
    case signInFailed
    case signedIn
    case signedInWithoutRefreshToken
    case accountParked
    case accountUnparked
    case storeFromOtherMachine
    case tokenRefreshed
    case targetRefreshed
    case targetFailed
    case refreshFailed
    case idTokenRefused
    case outcomeUnknown
    case interactionRequired
    case misconfigured
    case refreshTokenExpiring
    case signOutNear
    case signedOut
    case clientSecretRenewed
    case clientSecretEnding
    case clockStepped
    case resumed
    case networkUp
    case networkDown
    case configurationReloaded
    case configurationRejected
    case storeUnwritable
    case accountDamaged
    case decisionRefused
    case staleAnswerDropped
    case peerRefused
    case storeRekeyed
    case rekeyStopped
    case oldKeyKept
    case storeLocked
    case storeAwaited
    case storeRecovered
    case storeLogLost
    case socketLost
    case socketRestored
    case socketReturned
    case descriptorsLimited
    case descriptorsExhausted
    case descriptorsReturned
    case keyGone
    case keyReturned
    case machineUnwatched
    case logDropped
    case issuerBehind
    case issuerCaughtUp
    case tokenFilesFailed
    case tokenFilesWritten
    case changeCommandFailed

    /// The field with the ID.
    static let messageIDKey = "MESSAGE_ID"

    var id: MessageID {
        switch self {
        case .daemonStarted: MessageID(0xd83f_969f_38e3_482b, 0x8e7b_49e9_1c46_8b65)
        case .daemonCrashed: MessageID(0x1e84_b5d7_3a60_4f92, 0x8bc1_06f5_d92e_7a43)
        case .daemonStopping: MessageID(0xbf8e_8b26_41ce_4510, 0xbf25_4aef_aad3_a992)
        case .accountAdded: MessageID(0xd9d4_0b86_491d_4b74, 0x9bda_5e04_8514_2281)
        case .accountUpdated: MessageID(0x8eec_1e11_959f_4493, 0x9eef_ac8c_c9a9_53ad)
        case .accountRemoved: MessageID(0xb5dc_ddac_783b_43db, 0xad60_b4d6_e202_8c2e)
        case .grantImported: MessageID(0x421b_26d8_2675_4bc8, 0x8f28_f6db_bc08_dcf1)
        case .signInStarted: MessageID(0x8194_1112_f838_4085, 0xb8de_2410_9411_0933)
        case .signInFailed: MessageID(0x4b3f_2357_32c1_4e82, 0xb5a5_da8f_ca8c_5707)
        case .signedIn: MessageID(0x8ad2_94b4_1cdd_4d0a, 0xad67_6dc4_ec90_a464)
        case .signedInWithoutRefreshToken: MessageID(0x5d3b_9e21_c7f4_4a0e, 0x8b6a_42d1_09e7_f35c)
        case .accountParked: MessageID(0x91c4_2f8e_6b0d_4d37, 0xa57e_18c3_f264_9b0a)
        case .accountUnparked: MessageID(0xe07a_53c6_1d9f_4b82, 0x9c3d_7f40_a8b5_e216)
        case .storeFromOtherMachine: MessageID(0x3d0e_9a75_c1f2_4b68, 0x8a47_e52b_06dc_f193)
        case .tokenRefreshed: MessageID(0xcee0_2e56_4487_4186, 0x8e4a_14d0_8b21_f5d0)
        case .targetRefreshed: MessageID(0x6b9c_7855_ebe4_4f3e, 0x9d46_ee7b_f977_a820)
        case .targetFailed: MessageID(0xa72f_3648_b8d8_4294, 0x9d95_8bd5_57eb_0073)
        case .refreshFailed: MessageID(0x4bba_12dc_5dc4_4f5d, 0xad5b_dd72_a123_0b31)
        case .idTokenRefused: MessageID(0x3f1c_9d0e_7a52_4b86, 0x9e04_6c1d_b3f8_2a57)
        case .outcomeUnknown: MessageID(0x0d16_2827_80aa_480b, 0xa1fc_44d3_f3d3_ff45)
        case .interactionRequired: MessageID(0x1d3a_b0a9_1359_47a1, 0x9bd3_1705_c1a0_d0ea)
        case .misconfigured: MessageID(0x3c63_0741_3070_4a75, 0xbb9a_2f24_3019_82c0)
        case .refreshTokenExpiring: MessageID(0xec02_aac2_acc0_45c6, 0x82c1_7ad1_d0b9_7881)
        case .signOutNear: MessageID(0x7d31_94e8_2c5a_4f07, 0xb6a2_58d1_0e93_c74f)
        case .signedOut: MessageID(0xa87c_e631_2258_4da7, 0x93ec_98f9_f296_fa64)
        case .clientSecretRenewed: MessageID(0x6f0b_52c4_9d1e_4a73, 0xb8a5_17e3_60fd_924c)
        case .clientSecretEnding: MessageID(0x2e97_c8d1_045b_4f6a, 0x91d7_3bce_58a2_06f4)
        case .clockStepped: MessageID(0xf244_f69c_7f16_4394, 0xb919_8519_36b9_a401)
        case .resumed: MessageID(0x08c9_6f4b_3559_449a, 0x9905_c778_9b17_4c33)
        case .networkUp: MessageID(0x9f89_0971_7f14_4a0c, 0xa2b7_bb45_2cf5_6e8e)
        case .networkDown: MessageID(0x30ee_ef87_0b6b_44b6, 0x8ca6_b3ce_8b8d_da62)
        case .configurationReloaded: MessageID(0xe8eb_b52a_6458_4a9e, 0xa8fc_e0b9_5ade_140c)
        case .configurationRejected: MessageID(0xb7da_f6d5_6579_47fe, 0xb51f_d150_babe_a238)
        case .storeUnwritable: MessageID(0xbfe8_5d95_4897_4edf, 0xa235_7f51_a232_facf)
        case .accountDamaged: MessageID(0x5e0f_29d7_7a0b_4b0c, 0x9c3b_1f6a_84d2_6e17)
        case .decisionRefused: MessageID(0xc1a4_7b52_0d8e_4f39, 0xa6e2_53f0_97bc_418d)
        case .staleAnswerDropped: MessageID(0x8203_5930_317c_405c, 0x953d_29fc_a300_89f1)
        case .peerRefused: MessageID(0x7599_a9da_26dc_4440, 0x92c6_0719_3a1d_1946)
        case .storeRekeyed: MessageID(0xd949_b0ae_0eea_460c, 0xbf82_f2d9_3017_9d3a)
        case .rekeyStopped: MessageID(0x62a8_41f5_9c0d_4e7b, 0x9d37_c1b5_e608_2af4)
        case .oldKeyKept: MessageID(0x10fd_21fb_85eb_4447, 0xab1a_d765_f535_9352)
        case .storeLocked: MessageID(0xb6bf_e97b_0cce_4b17, 0xa085_e899_a857_79c8)
        case .storeAwaited: MessageID(0x7e1d_43b6_92fa_4c08, 0x8d57_60a3_e4b9_1f2c)
        case .storeRecovered: MessageID(0x8905_ab86_bf43_43b0, 0xa323_7008_036f_68d8)
        case .storeLogLost: MessageID(0x5d27_0c9e_b41f_4e68, 0x8a93_f6d1_27c0_4b5e)
        case .socketLost: MessageID(0xcc62_50b2_b8bc_4a95, 0xbce1_9320_ae5c_a778)
        case .socketRestored: MessageID(0xdea6_ecec_f009_4931, 0xba28_73f5_aaf1_80ec)
        case .socketReturned: MessageID(0x4c75_dde2_4858_437f, 0xb53f_43f8_6a09_4d9c)
        case .descriptorsLimited: MessageID(0x8d41_6b0f_2ce7_4a95, 0xb3d8_07f1_5a69_ce24)
        case .descriptorsExhausted: MessageID(0xec37_1a6c_dfc5_47b8, 0xa8b2_beb9_bc15_4b51)
        case .descriptorsReturned: MessageID(0x5bce_f685_9e85_4511, 0x8a2a_a6ad_5cdc_f9b4)
        case .keyGone: MessageID(0xdfe5_de4c_e47e_41ec, 0x8faa_a5c6_4ee8_d469)
        case .keyReturned: MessageID(0xfa7d_9f19_3615_4713, 0x92cb_024a_d170_80f8)
        case .machineUnwatched: MessageID(0xd701_3c20_d253_488b, 0x9187_2c90_32f3_6024)
        case .logDropped: MessageID(0x7d2e_51c8_06fb_4a93, 0xb61f_c47a_0e95_d238)
        case .issuerBehind: MessageID(0x2b94_e06a_f1d7_4c58, 0x93ae_70cb_5d18_e264)
        case .issuerCaughtUp: MessageID(0xc5f0_183d_9e6b_47a2, 0xa84d_2671_b3fc_095e)
        case .tokenFilesFailed: MessageID(0x47d0_b95e_2c18_4f6a, 0x9b3f_e650_18ad_72c4)
        case .changeCommandFailed: MessageID(0x6e21_c3d8_90fa_4b57, 0x8d64_2be9_a715_f03c)
        case .tokenFilesWritten: MessageID(0x93ae_06f1_d47c_4b25, 0xa1d8_5c3b_f207_6e9d)
        }
    }

    /// Changes are notices, survived failures are warnings, and what stops the daemon's work is an error.
    var level: Logger.Level {
        switch self {
        case .daemonStarted, .daemonStopping, .accountAdded, .accountUpdated, .accountRemoved, .grantImported,
            .signInStarted, .signedIn, .signedInWithoutRefreshToken, .accountParked, .accountUnparked, .tokenRefreshed,
            .targetRefreshed, .signedOut, .clientSecretRenewed, .resumed, .networkUp, .configurationReloaded,
            .storeRekeyed, .storeRecovered, .socketRestored, .socketReturned, .descriptorsReturned, .keyReturned,
            .issuerCaughtUp, .tokenFilesWritten:
            .notice
        case .refreshFailed, .idTokenRefused, .targetFailed, .outcomeUnknown, .interactionRequired, .misconfigured,
            .signInFailed, .refreshTokenExpiring, .signOutNear, .clientSecretEnding, .clockStepped, .networkDown,
            .staleAnswerDropped,
            .decisionRefused, .peerRefused, .oldKeyKept, .storeLocked, .storeAwaited, .storeLogLost, .machineUnwatched,
            .descriptorsLimited, .logDropped, .issuerBehind, .tokenFilesFailed, .storeFromOtherMachine,
            .changeCommandFailed:
            .warning
        case .daemonCrashed, .configurationRejected, .storeUnwritable, .accountDamaged, .rekeyStopped, .socketLost,
            .descriptorsExhausted, .keyGone:
            .error
        }
    }
}

/// Our own journal fields.
enum JournalKey {
    static let account = "AUTHREFRESH_ACCOUNT"
    static let issuer = "AUTHREFRESH_ISSUER"
    static let event = "AUTHREFRESH_EVENT"
    static let error = "AUTHREFRESH_ERROR"
    static let correlationID = "AUTHREFRESH_CORRELATION_ID"
    static let generation = "AUTHREFRESH_GENERATION"
    /// The identifier of the store's key: 16 hexadecimal digits that reveal nothing about it.
    static let key = "AUTHREFRESH_KEY"
    /// When the daemon tries again, µs since 1970.
    static let retryAt = "AUTHREFRESH_RETRY_AT_USEC"
    /// When the affected token expires, in µs since 1970.
    static let expiresAt = "AUTHREFRESH_EXPIRES_AT_USEC"
    /// Scopes, resources and audience of the affected token set, separated by semicolons.
    static let tokenSet = "AUTHREFRESH_TOKEN_SET"
    static let reason = "AUTHREFRESH_REASON"
    /// The server's details besides the error: description, sub-error, provider code, HTTP status.
    static let detail = "AUTHREFRESH_DETAIL"
    /// How many lines were omitted: refusals of the same origin (lists or socket) since the last written one, or any
    /// lines while the journal accepted none.
    static let leftOut = "AUTHREFRESH_LEFT_OUT"
}
