// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is held to the same language rules. `Tests/run` fails on a warning; the build of somebody with a later compiler,
/// which warns of more, does not.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .strictMemorySafety(),
]

/// The daemon carries the Swift runtime with it; libsystemd and libsqlite3 stay the system's, and so get its updates.
let staticRuntime: (swift: [SwiftSetting], linker: [LinkerSetting]) = (
    [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))],
    [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
)

/// The daemon is to touch few pages: what it runs through stands side by side (`symbols.order`, `unnamed.ld`), its 140,000
/// relocations take 27 KiB instead of 3 MiB (which glibc reads since 2.36), and it exports no symbols. Only lld can do that.
/// The page "The daemon keeps little memory at rest" has the figures.
let smallFootprint: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--no-export-dynamic",
            "-Xlinker", "--no-warn-symbol-ordering", "-Xlinker",
            "--symbol-ordering-file=\(Context.packageDirectory)/Sources/authrefreshd/Linking/symbols.order",
            "-Xlinker", "-T", "-Xlinker", "\(Context.packageDirectory)/Sources/authrefreshd/Linking/unnamed.ld",
        ],
        .when(configuration: .release)
    )
]

/// `authctl` is started thousands of times a day: a fully static executable starts four times as fast as a dynamic one, and
/// faster still if what `authctl token` touches stands side by side (`symbols.order`). Only lld can do that. Calls of the wrapped
/// functions reach ours (`Backtracer.swift`, `CStartup`).
let staticExecutable: (swift: [SwiftSetting], linker: [LinkerSetting]) = (
    [.unsafeFlags(["-static-executable"], .when(configuration: .release))],
    [
        .unsafeFlags(
            [
                "-static-executable", "-use-ld=lld", "-Xlinker", "--no-warn-symbol-ordering", "-Xlinker",
                "--symbol-ordering-file=\(Context.packageDirectory)/Sources/authctl/HotPath/symbols.order",
                "-Xlinker", "--wrap=swift_copyAuxiliaryExecutablePath", "-Xlinker", "--wrap=sysconf",
            ],
            .when(configuration: .release)
        )
    ]
)

/// For the modules of `authctl token` and of the daemon: each function is a section of its own, which the linker can move.
let hotPath: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release))
]

let package = Package(
    name: "authrefreshd",
    products: [
        .executable(name: "authrefreshd", targets: ["authrefreshd"]),
        .executable(name: "authctl", targets: ["authctl"]),
        .executable(name: "authagent", targets: ["authagent"]),
        .executable(name: "authimport", targets: ["authimport"]),
        .executable(name: "authdemo", targets: ["authdemo"]),
        .executable(name: "authbench", targets: ["authbench"]),
        // For LD_PRELOAD, by `authtorture`.
        .library(name: "FaultyFiles", type: .dynamic, targets: ["CFaultyFiles"]),
        .library(name: "ShiftedClock", type: .dynamic, targets: ["CShiftedClock"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/vapor/jwt-kit", exact: "5.7.1"),
    ],
    targets: [
        // The pure core: decides, and does nothing else.
        .target(name: "RefreshCore", dependencies: ["TextEncodings"], swiftSettings: strict + hotPath),

        // How bytes, forms, dates, addresses and JSON are written as text. JSON has one grammar, which shows repeated members and
        // stops at limits.
        .target(name: "TextEncodings", swiftSettings: strict + hotPath),

        // What our programs need and no library has: how they end, and how their texts name things; what a terminal can show; the owner of
        // a loopback connection; files on mounts that may not answer.
        .target(name: "Basics", dependencies: ["CLinux", "TextEncodings"], swiftSettings: strict + hotPath),

        // What servers publish and answer, read; what they are asked, written; the profiles of providers. Signs and validates, and knows
        // no network and no clock.
        .target(
            name: "OAuthMessages",
            dependencies: [
                "RefreshCore", "TextEncodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict + hotPath
        ),

        // The edges of the machine, each on its own.
        // libcurl and zlib.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev", "zlib1g-dev"])]),
        .target(
            name: "OAuthClient",
            dependencies: ["Basics", "CCurl", "CLinux", "OAuthMessages", "RefreshCore", "TextEncodings"],
            swiftSettings: strict + hotPath
        ),
        .target(
            name: "AccountStorage",
            dependencies: [
                "AuthRefreshInterface", "Basics", "RefreshCore",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict + hotPath
        ),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .target(name: "Systemd", dependencies: ["CLinux", "CSystemd", "RefreshCore"], swiftSettings: strict + hotPath),
        // The wire.
        .systemLibrary(name: "CLinux"),
        .target(
            name: "Varlink",
            dependencies: ["CLinux", "TextEncodings"],
            swiftSettings: strict + hotPath
        ),
        .target(
            name: "AuthRefreshInterface",
            dependencies: ["Basics", "TextEncodings"],
            exclude: ["generate"],
            resources: [.embedInCode("io.authrefresh.varlink")],
            swiftSettings: strict + hotPath
        ),
        // The loopback authorization server of the quickstart, the tests and the benchmarks.
        .target(
            name: "DemoIssuer",
            dependencies: [
                "TextEncodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),

        .target(
            name: "CSwiftRuntime",
            cSettings: [.define("AUTHREFRESH_NO_ICU_DATA", .when(configuration: .release))]
        ),
        .executableTarget(
            name: "authrefreshd",
            dependencies: [
                "AccountStorage", "AuthRefreshInterface", "Basics", "CSwiftRuntime", "OAuthClient", "OAuthMessages",
                "RefreshCore", "Systemd", "TextEncodings", "Varlink",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Linking"],
            swiftSettings: strict + hotPath + staticRuntime.swift,
            linkerSettings: staticRuntime.linker + smallFootprint
        ),
        // Makes what runs before `authctl`'s `main` cheaper.
        .target(name: "CStartup", cSettings: [.define("AUTHREFRESH_STATIC", .when(configuration: .release))]),
        .executableTarget(
            name: "authctl",
            dependencies: [
                "AuthRefreshInterface", "Basics", "CLinux", "CStartup", "TextEncodings", "Varlink",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["HotPath/order-symbols", "HotPath/symbols.order"],
            swiftSettings: strict + hotPath + staticExecutable.swift,
            linkerSettings: staticExecutable.linker
        ),
        // Notifies on the desktop. `authctl`, which is static, cannot link libsystemd; `authctl agent` becomes this program.
        .executableTarget(
            name: "authagent",
            dependencies: ["AuthRefreshInterface", "Basics", "CSystemd", "Systemd", "TextEncodings"],
            swiftSettings: strict + staticRuntime.swift,
            linkerSettings: staticRuntime.linker
        ),
        // Takes over the accounts of other programs; `authctl import` becomes this program.
        .executableTarget(
            name: "authimport",
            dependencies: [
                "AuthRefreshInterface", "Basics", "CSwiftRuntime", "RefreshCore", "TextEncodings",
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict + staticRuntime.swift,
            linkerSettings: staticRuntime.linker
        ),

        // Starts the two programs, so its build makes them: three builds, one after the other, would each plan again.
        .executableTarget(
            name: "authdemo",
            dependencies: [
                "AuthRefreshInterface", "Basics", "DemoIssuer", "TextEncodings", "authctl", "authrefreshd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict + staticRuntime.swift,
            linkerSettings: staticRuntime.linker
        ),

        .executableTarget(
            name: "authbench",
            dependencies: [
                "AccountStorage", "AuthRefreshInterface", "CCurl", "DemoIssuer", "RefreshCore", "Systemd",
                "TestSupport", "TextEncodings",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            resources: [
                .embedInCode("Floor/batch_server.c"), .embedInCode("Floor/client.c"), .embedInCode("Floor/load.c"),
                .embedInCode("Floor/runner.c"), .embedInCode("Floor/server.c"),
            ],
            swiftSettings: strict
        ),

        // What several suites need: real daemons, subscribers, issuers, and waits for events.
        .target(name: "CSpawn", path: "Tests/Support/CSpawn"),
        .target(
            name: "TestSupport",
            dependencies: [
                "AuthRefreshInterface", "CSpawn", "DemoIssuer", "TextEncodings",
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/Support/TestSupport",
            swiftSettings: strict
        ),
        // Clocks that a test moves under a daemon; never linked, only preloaded. Checks from outside of this project compile it at this place.
        .target(name: "CShiftedClock", path: "Tests/CShiftedClock"),
        // A disk that refuses, and a kill at the right moment; never linked, only preloaded.
        .target(name: "CFaultyFiles", path: "Tests/Support/CFaultyFiles"),
        // Asks before every operation of SQLite on its files.
        .target(
            name: "CRecordingVFS",
            path: "Tests/Support/CRecordingVFS",
            linkerSettings: [.linkedLibrary("sqlite3")]
        ),
        // Every fault that a server, a network or a machine can have, on a real daemon: what `Tests/torture` runs.
        .executableTarget(
            name: "authtorture",
            dependencies: [
                "AccountStorage", "AuthRefreshInterface", "CRecordingVFS", "DemoIssuer", "RefreshCore", "Systemd",
                "TestSupport", "TextEncodings",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/Torture",
            exclude: ["Parts", "Sanitizers", "in-own-network"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "authrefreshdTests",
            dependencies: [
                "AccountStorage", "AuthRefreshInterface", "Basics", "DemoIssuer", "OAuthClient", "OAuthMessages",
                "RefreshCore", "Systemd", "TestSupport", "Varlink", "authctl", "authimport", "authrefreshd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Unit/authrefreshdTests",
            swiftSettings: strict
        ),
        // Minutes, not seconds: real daemons, killed, starved and flooded. `Tests/run unit` leaves it out by its name.
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "AuthRefreshInterface", "DemoIssuer", "TestSupport", "authctl", "authimport", "authrefreshd",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Tests/EndToEnd",
            exclude: ["varlink_client.py"],
            swiftSettings: strict
        ),

        .testTarget(
            name: "SecretServiceTests",
            dependencies: ["Systemd"],
            path: "Tests/Unit/SecretServiceTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SignInTests",
            dependencies: ["RefreshCore", "TestSupport", "authrefreshd"],
            path: "Tests/Unit/SignInTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "RedirectListenerTests",
            dependencies: [
                "Basics", "TestSupport", "authrefreshd",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Unit/RedirectListenerTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "RefreshCoreTests",
            dependencies: ["RefreshCore", "TestSupport"],
            path: "Tests/Unit/RefreshCoreTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "AccountStorageTests",
            dependencies: [
                "AccountStorage", "Basics", "RefreshCore", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/Unit/AccountStorageTests",
            resources: [.copy("Fixtures")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AuthRefreshInterfaceTests",
            dependencies: ["AuthRefreshInterface"],
            path: "Tests/Unit/AuthRefreshInterfaceTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "authctlTests",
            dependencies: [
                "AuthRefreshInterface", "Basics", "CLinux", "RefreshCore", "TestSupport", "TextEncodings", "authctl",
                "authimport", "authrefreshd",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Unit/authctlTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "authagentTests",
            dependencies: ["AuthRefreshInterface", "Basics", "authagent"],
            path: "Tests/Unit/authagentTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "OAuthClientTests",
            dependencies: [
                "OAuthClient", "OAuthMessages", "RefreshCore", "TestSupport", "TextEncodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Yams", package: "Yams"),
            ],
            path: "Tests/Unit/OAuthClientTests",
            resources: [.copy("Fixtures")],
            swiftSettings: strict
        ),
        // JWTKit is the other implementation that ours has to agree with.
        .testTarget(
            name: "JOSETests",
            dependencies: [
                "OAuthMessages", "RefreshCore", "TextEncodings",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            path: "Tests/Unit/JOSETests",
            resources: [.copy("Fixtures")],
            swiftSettings: strict
        ),
        .testTarget(
            name: "VarlinkTests",
            dependencies: ["AuthRefreshInterface", "TestSupport", "TextEncodings", "Varlink"],
            path: "Tests/Unit/VarlinkTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "TextEncodingsTests",
            dependencies: ["TestSupport", "TextEncodings"],
            path: "Tests/Unit/TextEncodingsTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "MovingInTests",
            dependencies: ["AuthRefreshInterface", "Basics", "RefreshCore", "TestSupport", "authimport"],
            path: "Tests/Unit/MovingInTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "QRCodeTests",
            dependencies: ["Basics"],
            path: "Tests/Unit/QRCodeTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "StrictJSONTests",
            dependencies: ["TestSupport", "TextEncodings"],
            path: "Tests/Unit/StrictJSONTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "VarlinkClientTests",
            dependencies: ["AuthRefreshInterface", "TextEncodings"],
            path: "Tests/Unit/VarlinkClientTests",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SystemdProbe",
            dependencies: ["Systemd"],
            path: "Tests/Unit/SystemdTests/Probe",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SystemdTests",
            dependencies: ["CLinux", "CSystemd", "Systemd", "SystemdProbe"],
            path: "Tests/Unit/SystemdTests",
            exclude: ["Probe"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DemoIssuerTests",
            dependencies: [
                "DemoIssuer",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Unit/DemoIssuerTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "authbenchTests",
            dependencies: ["TestSupport", "authbench", "authctl", "authrefreshd"],
            path: "Tests/Unit/authbenchTests",
            swiftSettings: strict
        ),
        .testTarget(
            name: "authdemoTests",
            dependencies: ["authctl", "authdemo", "authrefreshd"],
            path: "Tests/Unit/authdemoTests",
            swiftSettings: strict
        ),
    ]
)

// The fuzzers of what comes from outside (`Tests/torture fuzz`) are here only for those who ask: our modules then have counters at
// every branch, which lead libFuzzer, and checks that a release leaves out. They link what they fuzz, and so build in minutes: of three
// targets only the readers, without networks, command lines and SQLite.
if Context.environment["AUTHREFRESH_FUZZ"] == "1" {
    let readers: [Target] = [
        .target(
            name: "AccountStorage",
            dependencies: [
                "AuthRefreshInterface", "Basics", "RefreshCore",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            sources: [
                "Keys/Sealer.swift", "Keys/StoreKey.swift", "Keys/StoreKeyError.swift", "Rows/Record.swift",
                "Rows/StoredSettings.swift", "StoreError.swift", "StoreHolder.swift",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "authctl",
            dependencies: ["AuthRefreshInterface", "Basics", "TextEncodings"],
            sources: ["Files/ImportedDocument.swift", "Report.swift"],
            swiftSettings: strict
        ),
        .target(
            name: "authimport",
            dependencies: [
                "AuthRefreshInterface", "Basics", "RefreshCore", "TextEncodings",
                .product(name: "Yams", package: "Yams"),
            ],
            sources: ["ForeignFiles"],
            swiftSettings: strict
        ),
        .target(
            name: "authrefreshd",
            dependencies: [
                "AccountStorage", "AuthRefreshInterface", "Basics", "OAuthMessages", "RefreshCore", "TextEncodings",
                "Varlink",
                .product(name: "Yams", package: "Yams"),
            ],
            sources: [
                "Accounts/MissingSetting.swift", "ChangeCommand/ChangeCommand.swift",
                "Configuration/ConfigurationFile.swift", "Configuration/PlainFlowText.swift",
                "Configuration/ProviderProfiles.swift",
                "Service/CallerLimits.swift", "Service/Complaint.swift", "Service/PlainAcquireToken.swift",
                "Service/SettingsReader.swift", "Service/SettingsReader+Client.swift",
                "Service/SettingsReader+Delivery.swift", "Service/SettingsReader+Grant.swift",
                "Service/SettingsReader+Provider.swift",
                "SignIn/Attempt/AuthorizationResponse.swift",
                "SignIn/Attempt/DevicePolling.swift",
                "SignIn/Attempt/RequestHead.swift",
                "SignIn/Attempt/SignInAttempt.swift",
                "SignIn/Attempt/SignInEnd.swift",
                "SignIn/Attempt/SignInPlan.swift",
                "SignIn/RedirectChoice.swift",
            ],
            swiftSettings: strict
        ),
    ]
    let isRead = { (target: Target) in readers.contains { $0.name == target.name } }
    package.targets = package.targets.filter { [.regular, .system].contains($0.type) && !isRead($0) } + readers
    for target in package.targets where target.swiftSettings != nil {
        target.swiftSettings?.append(.unsafeFlags(["-sanitize=fuzzer", "-enable-testing", "-assert-config", "Debug"]))
    }
    let fuzzed: [Target.Dependency] = [
        "AccountStorage", "AuthRefreshInterface", "Basics", "OAuthMessages", "RefreshCore", "TextEncodings", "Varlink",
        "authctl", "authimport", "authrefreshd",
    ]
    package.targets += [
        .systemLibrary(name: "CFuzzer", path: "Tests/Fuzz/CFuzzer"),
        .executableTarget(
            name: "authfuzz",
            dependencies: [
                "CFuzzer",
                .product(name: "Crypto", package: "swift-crypto"),
            ] + fuzzed,
            path: "Tests/Fuzz/Targets",
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
        ),
    ]
    package.products = [.executable(name: "authfuzz", targets: ["authfuzz"])]
}
