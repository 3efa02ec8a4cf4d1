internal import AuthRefreshInterface
internal import DemoIssuer
internal import Foundation
internal import Synchronization
internal import TestSupport

/// A daemon with a fresh account, and the surroundings that a fault needs.
final class SurroundingStage: Sendable {
    let stage: DaemonStage
    let issuer: DemoIssuer
    let url: String
    /// The calls that fail, in the rows that use them.
    let files: FaultyFiles
    private let state = Mutex(State())

    private struct State {
        var prefix = ""
        var environment: [String: String] = [:]
        var program: Program?
        var bus: Program?
        var hungServer: Program?
        var stalling: StallingFileSystem?
        var hungCaller: Program?
        var crowd: [RawConnection] = []
        var isMounted = false
    }

    init() async throws {
        stage = try DaemonStage()
        files = FaultyFiles(in: stage.folder)
        issuer = DemoIssuer(configuration: IssuerConfiguration(clients: [DemoClient(id: "app")]))
        url = try await issuer.start()
    }

    deinit {
        state.withLock { state in
            for program in [state.program, state.bus, state.hungServer, state.hungCaller].compactMap(\.self)
            where program.isRunning {
                program.signal(SIGKILL)
            }
            if state.isMounted { Self.unmount(stage.stateDirectory) }
            state.stalling?.abandon()
            if state.hungServer != nil { Self.unmount(hungFolder) }
        }
    }

    var stateFolder: String { stage.stateDirectory }
    var credentials: String { stage.folder.path + "/credentials" }
    /// A folder in which every access waits until `removeHungAccount()`.
    var hungFolder: String { stage.folder.path + "/hung" }
    /// A file with a file system in it.
    var image: String { stage.folder.path + "/image" }

    /// Sets shell commands that run before the daemon, in its process.
    func setPrefix(_ prefix: String) {
        state.withLock { $0.prefix = prefix }
    }

    func setVariable(_ name: String, _ value: String) {
        state.withLock { $0.environment[name] = value }
    }

    func setVariables(_ variables: [String: String]) {
        for (name, value) in variables { setVariable(name, value) }
    }

    /// Starts a daemon, and waits until it is ready.
    func start() async throws {
        let seen = stage.notify.messages.count
        let program = try state.withLock { state in
            let command = "\(state.prefix) exec '\(Program.products)/authrefreshd'"
            let environment = stage.environment.merging(state.environment) { $1 }
            let program = try Program("/bin/sh", ["-c", command], environment: environment)
            state.program = program
            return program
        }
        do {
            try await stage.notify.messages.first("READY=1", from: seen) { $0.contains("READY=1") }
        } catch {
            throw TestFault.failed(program: "authrefreshd", errors: program.errorText)
        }
    }

    /// - Throws: `unreadable` before the first start.
    var daemon: Program {
        get throws {
            guard let program = state.withLock({ $0.program }) else { throw TestFault.unreadable("no daemon yet") }
            return program
        }
    }

    @discardableResult func endDaemon() async throws -> ProgramEnd {
        let program = try daemon
        program.signal(SIGTERM)
        return try await program.ended()
    }

    /// Ends the daemon, and removes its surroundings.
    func end() async throws -> ProgramEnd {
        let end = try await endDaemon()
        await issuer.shutdown()
        return end
    }

    func shell(_ command: String) async throws {
        let program = try Program("/bin/sh", ["-c", command], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"])
        guard try await program.ended() == .exited(0) else {
            throw TestFault.failed(program: command, errors: program.errorText)
        }
    }

    func reload() async throws {
        let seen = stage.notify.messages.count
        try daemon.signal(SIGHUP)
        try await stage.notify.messages.first("the end of the reload", from: seen) { $0.contains("READY=1") }
    }

    // MARK: The means of faults

    /// Puts the state folder on a file system of its own.
    func mountState(_ options: String) async throws {
        try await shell("mkdir -p '\(stateFolder)' && mount \(options) '\(stateFolder)'")
        state.withLock { $0.isMounted = true }
    }

    private static func unmount(_ folder: String) {
        _ = unsafe umount2(folder, Int32(MNT_DETACH))
    }

    /// Mounts a file system whose server reads no request, not even the kernel's first, for which all others wait.
    func mountHung() async throws {
        try await shell("mkdir '\(hungFolder)'")
        let script = """
            import ctypes, os, signal, sys
            device = os.open("/dev/fuse", os.O_RDWR)
            options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
            libc = ctypes.CDLL(None, use_errno=True)
            if libc.mount(b"hung", sys.argv[1].encode(), b"fuse", 0, options) != 0:
                sys.exit(os.strerror(ctypes.get_errno()))
            print("mounted", flush=True)
            signal.pause()
            """
        let server = try Program("/usr/bin/python3", ["-c", script, hungFolder], environment: [:])
        state.withLock { $0.hungServer = server }
        try await server.output.first("the mount") { $0 == "mounted" }
    }

    /// Adds an account that needs a file there, and waits until one of its callers has got the error.
    func addHungAccount() async throws {
        var settings = AccountSettings(name: "hung", issuer: url, clientId: "app")
        settings.providerSettings = ["ca_file": hungFolder + "/ca.pem"]
        let grant = try await issuer.issueGrant(clientID: "app").refreshToken
        let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant)
        _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
        let token = try await stage.authctl("token", "hung")
        guard token.end == .exited(75), token.errors.contains("does not answer") else {
            throw TestFault.failed(program: "authctl token hung", errors: token.errors)
        }
    }

    func removeHungAccount() async throws {
        guard let server = state.withLock({ $0.hungServer }) else { return }
        server.signal(SIGKILL)
        try await server.ended()
        let removed = try await stage.authctl("account", "remove", "hung", "--yes")
        guard removed.end == .exited(0) else { throw TestFault.failed(program: "authctl", errors: removed.errors) }
    }

    /// Mounts a file system with a program that anybody may run, until it stalls.
    func mountStalling() async throws {
        try await shell("mkdir '\(hungFolder)'")
        let stalling = try await StallingFileSystem(at: hungFolder)
        state.withLock { $0.stalling = stalling }
    }

    /// Makes that program ask for a token that only listed programs may have, after its own file cannot be examined any
    /// more.
    func callFromHungExecutable() async throws {
        guard let stalling = state.withLock({ $0.stalling }) else { return }
        var settings = AccountSettings(name: "listed", issuer: url, clientId: "app")
        settings.allowedExecutables = [Program.products + "/authctl"]
        let grant = try await issuer.issueGrant(clientID: "app").refreshToken
        let parameters = AddAccount.Parameters(settings: settings, refreshToken: grant, withoutCaller: true)
        _ = try await stage.ask(.addAccount, parameters, for: AddAccount.Reply.self)
        let script = """
            import os, socket, sys, time
            open(sys.argv[1], "rb").read()
            daemon = socket.socket(socket.AF_UNIX)
            daemon.connect(sys.argv[2])
            print("ready", flush=True)
            while not os.path.exists(sys.argv[3]):
                time.sleep(0.02)
            daemon.sendall(b'{"method":"io.authrefresh.AcquireToken","parameters":{"account":"listed"}}\\0')
            print("asked", flush=True)
            print(daemon.recv(65536).decode(), flush=True)
            """
        let go = stage.folder.path + "/go"
        let arguments = ["-c", script, stalling.program, stage.socket, go]
        let caller = try Program(stalling.program, arguments, environment: ["PYTHONHOME": "/usr"])
        state.withLock { $0.hungCaller = caller }
        try await caller.output.first("the caller") { $0 == "ready" }
        try await stalling.stall()
        try stage.folder.write("", to: "go")
        try await caller.output.first("the call") { $0 == "asked" }
    }

    /// Ends the caller after it got its error. When its file can be examined again, nothing of it is left.
    func endHungCaller() async throws {
        let (stalling, caller) = state.withLock { ($0.stalling, $0.hungCaller) }
        guard let stalling, let caller else { return }
        try await caller.output.first("the answer") { $0.contains("does not answer") }
        try await stalling.end()
        let removed = try await stage.authctl("account", "remove", "listed", "--yes")
        guard removed.end == .exited(0) else { throw TestFault.failed(program: "authctl", errors: removed.errors) }
    }

    /// Leaves the daemon no number for another descriptor. A crowd of callers fills the gaps below the highest.
    func useUpDescriptors() async throws {
        let pid = try daemon.pid
        try await connectionsEnded(of: pid)
        let used = try await lastingDescriptors(of: pid)
        try await shell("prlimit --pid \(pid) --nofile=\((used.max() ?? 0) + 1):4096")
        let gaps = (used.max() ?? 0) + 1 - used.count
        let crowd = try await onOwnThread { [socket = stage.socket] in try RawConnection.open(gaps, to: socket) }
        state.withLock { $0.crowd = crowd }
    }

    /// The daemon's descriptors, once they are the same for longer than a connection to a server is kept (1 s). One that
    /// begins meanwhile would be counted, and then leave its place free. No event tells of that.
    private func lastingDescriptors(of pid: Int32) async throws -> [Int] {
        let end = ContinuousClock.now + .patience
        var (last, since): ([Int], ContinuousClock.Instant) = ([], .now)
        while since.duration(to: .now) < .seconds(2) {
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "lasting descriptors") }
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd")
            let now = names.compactMap { Int($0) }.sorted()
            if now != last { (last, since) = (now, .now) }
            try await Task.sleep(for: .milliseconds(10))
        }
        return last
    }

    /// Waits until the daemon has no connection to the server, which it keeps for a while after its use. No event tells
    /// of their end, so the kernel's tables are read again and again.
    private func connectionsEnded(of pid: Int32) async throws {
        let end = ContinuousClock.now + .patience
        let port = String(format: ":%04X", Int(url.split(separator: ":").last ?? "") ?? 0)
        while true {
            // proc(5): the address of the other end is the third field, the inode the tenth.
            let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n")
            let sockets = Set(
                table.map { $0.split(separator: " ") }.filter { $0.count > 9 && $0[2].hasSuffix(port) }.map {
                    "socket:[\($0[9])]"
                }
            )
            let folder = "/proc/\(pid)/fd"
            let isConnected = try FileManager.default.contentsOfDirectory(atPath: folder).contains { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: folder + "/" + name)).map(sockets.contains)
                    ?? false
            }
            if !isConnected { return }
            guard ContinuousClock.now < end else { throw TestFault.timedOut(waitingFor: "the end of a connection") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func giveBackDescriptors() async throws {
        try await shell("prlimit --pid \(daemon.pid) --nofile=1024:4096")
        state.withLock { $0.crowd = [] }
    }

    /// Starts a system bus for the test, at the place where the daemon looks for it.
    func startBus() async throws {
        let address = "unix:path=\(stage.folder.path)/system-bus"
        let file = try stage.folder.write(
            """
            <busconfig><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
            """,
            to: "bus.conf"
        )
        setVariable("DBUS_SYSTEM_BUS_ADDRESS", address)
        let words = ["--config-file=\(file)", "--nofork", "--nopidfile", "--print-address=1"]
        let bus = try Program("/usr/bin/dbus-daemon", words, environment: [:])
        try await bus.output.first("the bus") { $0.hasPrefix("unix:") }
        state.withLock { $0.bus = bus }
    }

    func endBus() async throws {
        guard let bus = state.withLock({ $0.bus }) else { return }
        bus.signal(SIGKILL)
        try await bus.ended()
    }
}
