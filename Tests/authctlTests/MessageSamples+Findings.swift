import AuthRefreshInterface

@testable import authctl

// The samples of what `authctl doctor` finds by itself.
extension Samples {
    static let findings: [Finding] =
        session.map { $0.finding }
        + paths.map { $0.finding }
        + sockets.map { $0.finding(at: "/run/s") }
        + managers.map { $0.finding }
        + units.map { $0.finding(of: "authrefreshd.service") }

    /// How many cases have a sample, and how many there are.
    static let findingKinds: [(sampled: Int, all: Int)] = [
        (Set(session.map(name)).count, 11),
        (Set(paths.map(name)).count, 9),
        (Set(sockets.map(name)).count, 8),
        (Set(managers.map(name)).count, 5),
        (Set(units.map(name)).count, 10),
    ]

    private static let session: [SessionFinding] = [
        .rootBySudo(user: "ada"), .runtimeFolder, .runtimeFolderGuessed("/run/user/1000"),
        .noRuntimeFolder("/run/user/1000"), .runtimeFolderMissing("/run/user/1000"),
        .runtimeFolderOfOther("/run/user/1000", owner: 7), .socketVariable(path: "/s"), .clockSynchronised,
        .clockNotSynchronised, .daemonAnswers(version: "1.0", started: "2 h ago"),
        .versionsDiffer(daemon: "0.9", authctl: "1.0"),
    ]

    private static let paths: [PathFinding] = [
        .found(by: .shell, "/usr/bin/authctl"), .notFound(folder: "/opt"),
        .otherProject(found: "/opt/authctl", own: "/a"),
        .otherInstallation(found: "/opt/authctl", own: "/usr/bin/authctl", folder: "/usr/bin"),
        .unitsFindNone(path: "/bin", own: "/opt/authctl", folder: "/opt"),
        .unitsFindOther(found: "/opt/authctl", own: "/usr/bin/authctl"), .noDaemonProgram(folder: "/opt"),
        .oneDaemonProgram(InstalledProgram(folder: "/usr/bin", name: "authrefreshd", version: "1.0")),
        .severalDaemonPrograms(
            ["/usr/bin", "/opt/bin"].map { InstalledProgram(folder: $0, name: "authrefreshd", version: "1.0") },
            started: "/opt/bin/authrefreshd"
        ),
    ]

    private static let sockets: [SocketFinding] = [
        .folderOfOther("/run", owner: 7), .folderOpen("/run", mode: "755"), .tooLong, .missing, .notASocket,
        .ofOther(owner: 7), .open(mode: "666"), .well,
    ]

    private static let managers: [ManagerFinding] = [
        .noSystemd, .notAnswering(reason: "no bus", isDaemonAnswering: true),
        .notAnswering(reason: "no bus", isDaemonAnswering: false), .lingers, .doesNotLinger(isServer: true),
        .doesNotLinger(isServer: false), .lingerUnknown,
    ]

    private static let units: [UnitFinding] = [
        .changedOnDisk, .notEnabled, .notInstalled(isDaemonAnswering: true), .notInstalled(isDaemonAnswering: false),
        .masked, .active(state: "active (running)", status: ": 2 accounts"),
        .restarted(state: "active (running)", status: "", count: 3), .failed(reason: "exit-code, status 1"),
        .waiting(state: "inactive (dead)"), .inactive(state: "inactive (dead)", isDaemonAnswering: true),
        .inactive(state: "inactive (dead)", isDaemonAnswering: false), .other(state: "activating (start)"),
    ]

    /// Does not compile if a finding has been added; add a sample above, then the case here.
    private static func name(_ finding: SessionFinding) -> String {
        switch finding {
        case .rootBySudo: "rootBySudo"
        case .runtimeFolder: "runtimeFolder"
        case .runtimeFolderGuessed: "runtimeFolderGuessed"
        case .noRuntimeFolder: "noRuntimeFolder"
        case .runtimeFolderMissing: "runtimeFolderMissing"
        case .runtimeFolderOfOther: "runtimeFolderOfOther"
        case .socketVariable: "socketVariable"
        case .clockSynchronised: "clockSynchronised"
        case .clockNotSynchronised: "clockNotSynchronised"
        case .daemonAnswers: "daemonAnswers"
        case .versionsDiffer: "versionsDiffer"
        }
    }

    /// Does not compile if a finding has been added; add a sample above, then the case here.
    private static func name(_ finding: PathFinding) -> String {
        switch finding {
        case .found: "found"
        case .notFound: "notFound"
        case .otherProject: "otherProject"
        case .otherInstallation: "otherInstallation"
        case .unitsFindNone: "unitsFindNone"
        case .unitsFindOther: "unitsFindOther"
        case .noDaemonProgram: "noDaemonProgram"
        case .oneDaemonProgram: "oneDaemonProgram"
        case .severalDaemonPrograms: "severalDaemonPrograms"
        }
    }

    /// Does not compile if a finding has been added; add a sample above, then the case here.
    private static func name(_ finding: SocketFinding) -> String {
        switch finding {
        case .folderOfOther: "folderOfOther"
        case .folderOpen: "folderOpen"
        case .tooLong: "tooLong"
        case .missing: "missing"
        case .notASocket: "notASocket"
        case .ofOther: "ofOther"
        case .open: "open"
        case .well: "well"
        }
    }

    /// Does not compile if a finding has been added; add a sample above, then the case here.
    private static func name(_ finding: ManagerFinding) -> String {
        switch finding {
        case .noSystemd: "noSystemd"
        case .notAnswering: "notAnswering"
        case .lingers: "lingers"
        case .doesNotLinger: "doesNotLinger"
        case .lingerUnknown: "lingerUnknown"
        }
    }

    /// Does not compile if a finding has been added; add a sample above, then the case here.
    private static func name(_ finding: UnitFinding) -> String {
        switch finding {
        case .changedOnDisk: "changedOnDisk"
        case .notEnabled: "notEnabled"
        case .notInstalled: "notInstalled"
        case .masked: "masked"
        case .active: "active"
        case .restarted: "restarted"
        case .failed: "failed"
        case .waiting: "waiting"
        case .inactive: "inactive"
        case .other: "other"
        }
    }
}
