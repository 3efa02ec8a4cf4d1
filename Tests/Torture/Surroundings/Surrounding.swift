internal import Glibc
internal import TestSupport

/// A part of the daemon's surroundings that fails, and what must be said about it.
struct Surrounding: Sendable {
    /// What must be reported, as pieces of text; nil if nothing is required.
    struct Told: Sendable {
        /// In the daemon's log, when it has noticed the fault.
        var log: String?
        /// In the status line for `systemctl status`.
        var manager: String?
        /// In the output of `authctl status`.
        var status: String?
        /// In the output of `authctl doctor`.
        var doctor: String?
        /// In the log, when everything works again.
        var recovery: String?
    }

    let name: String
    var needsRoot = false
    /// Why the fault cannot be made on this machine; nil if it can.
    var obstacle: @Sendable () async -> String? = { nil }
    /// Whether the daemon must end for the repair.
    var endsDaemon = false
    /// Whether the report stays until the daemon is restarted, although another way works as well.
    var isSaidForGood = false
    /// The exit statuses that `authctl refresh` may have during the fault.
    var refresh: Set<Int32> = [75]
    let told: Told
    /// Prepares the stage before the daemon is started.
    var prepare: @Sendable (SurroundingStage) async throws -> Void = { _ in }
    let breakDown: @Sendable (SurroundingStage) async throws -> Void
    let mend: @Sendable (SurroundingStage) async throws -> Void
}

extension Surrounding {
    static let all: [Surrounding] = [
        stateFolder, runtimeFolder, fullDisk, quota, readOnlyForAWhile, readOnlyForGood, descriptors, systemBus,
        credentials, hungFileSystem, hungExecutable, journal, standardError,
    ]

    static let stateFolder = Surrounding(
        name: "state folder removed",
        told: Told(
            log: "the store cannot be used",
            manager: "trouble: ",
            status: "was removed or replaced while it was open",
            doctor: "was removed or replaced while it was open",
            recovery: "the store can be used again"
        ),
        breakDown: { try await $0.shell("mv '\($0.stateFolder)' '\($0.stateFolder).away'") },
        mend: { try await $0.shell("mv '\($0.stateFolder).away' '\($0.stateFolder)'") }
    )

    static let runtimeFolder = Surrounding(
        name: "runtime folder removed",
        refresh: [0],
        told: Told(log: "the socket was removed, and is back"),
        // Callers come when the folder is back.
        breakDown: {
            // The daemon may have made it again before the removal is complete.
            try await $0.shell("rm -rf '\($0.stage.folder.path)/run/authrefreshd' 2> /dev/null; true")
            try await $0.daemon.errors.first("the socket") { $0.contains("was removed, and is back") }
        },
        mend: { _ in }
    )

    static let fullDisk = Surrounding(
        name: "disk full",
        needsRoot: true,
        told: Told(
            log: "the store cannot be used",
            manager: "no space is left for the store",
            status: "no space is left for the store",
            doctor: "no space is left for the store",
            recovery: "the store can be used again"
        ),
        prepare: { try await $0.mountState("-t tmpfs -o size=2m,mode=0700 tmpfs") },
        breakDown: {
            try await $0.shell("cat /dev/zero > '\($0.stateFolder)/filler' 2> /dev/null; true")
        },
        mend: { try await $0.shell("rm '\($0.stateFolder)/filler'") }
    )

    static let quota = Surrounding(
        name: "the user's quota used up",
        told: fullDisk.told,
        prepare: { $0.setVariables($0.files.environment(for: $0.stateFolder)) },
        breakDown: { try $0.files.give(.refuse(EDQUOT)) },
        mend: { try $0.files.withdraw() }
    )

    /// The reports about a store that is read-only.
    private static let readOnly = Told(
        log: "the store cannot be used",
        manager: "accounts.sqlite' cannot be written to",
        status: "accounts.sqlite' cannot be written to",
        doctor: "accounts.sqlite' cannot be written to"
    )

    /// As with a network file system, or one on a device that becomes read-only.
    static let readOnlyForAWhile = Surrounding(
        name: "writes refused as by a read-only file system",
        told: {
            var told = readOnly
            told.recovery = "the store can be used again"
            return told
        }(),
        prepare: { $0.setVariables($0.files.environment(for: $0.stateFolder)) },
        breakDown: { try $0.files.give(.refuse(EROFS)) },
        mend: { try $0.files.withdraw() }
    )

    /// What the kernel does to a file system after it has found an error in it, and the repair.
    static let readOnlyForGood = Surrounding(
        name: "file system turned read-only by the kernel after an error",
        needsRoot: true,
        obstacle: {
            let device = try? await SecretsStage.output("command -v /sbin/mkfs.ext4 && /sbin/losetup -f")
            guard device != nil else { return "there is no ext4, or no loop device, here" }
            // In many containers /sys is read-only, and a kernel may lack the file. Any ext4 file system shows it.
            let trigger = "for file in /sys/fs/ext4/*/trigger_fs_error; do test -w $file && exit 0; done; exit 1"
            guard (try? await SecretsStage.output(trigger)) != nil else {
                return "no ext4 here can be given an error (/sys/fs/ext4/*/trigger_fs_error)"
            }
            return nil
        },
        endsDaemon: true,
        told: readOnly,
        prepare: { stage in
            let image = "'\(stage.image)'"
            try await stage.shell("truncate -s 16M \(image) && mkfs.ext4 -q -F \(image)")
            try await stage.mountState("-o loop,errors=remount-ro \(image)")
        },
        breakDown: { stage in
            let device = "$(basename $(findmnt -no SOURCE '\(stage.stateFolder)'))"
            try await stage.shell("echo torture > /sys/fs/ext4/\(device)/trigger_fs_error")
        },
        mend: { stage in
            try await stage.endDaemon()
            try await stage.shell("umount '\(stage.stateFolder)'")
            // Status 1 means that errors were corrected.
            try await stage.shell("e2fsck -fp '\(stage.image)' || test $? = 1")
            try await stage.mountState("-o loop,errors=remount-ro '\(stage.image)'")
            try await stage.start()
        }
    )

    static let descriptors = Surrounding(
        name: "file descriptors used up",
        // The server can be asked only if a connection to it was kept.
        refresh: [0, 75],
        told: Told(
            log: "no file descriptor is left for callers",
            manager: "no file descriptor is left",
            status: "no file descriptor is left",
            doctor: "no file descriptor is left",
            recovery: "there are file descriptors for callers again"
        ),
        breakDown: { try await $0.useUpDescriptors() },
        mend: { try await $0.giveBackDescriptors() }
    )

    static let systemBus = Surrounding(
        name: "system bus gone (sleep is told by it)",
        // A system bus returns only with the system. Until then, the clocks show that the machine slept.
        isSaidForGood: true,
        refresh: [0],
        told: Told(doctor: "no system bus reports sleep"),
        prepare: { try await $0.startBus() },
        breakDown: { try await $0.endBus() },
        mend: { try await $0.startBus() }
    )

    static let credentials = Surrounding(
        name: "credentials gone at a reload",
        refresh: [0],
        told: Told(
            manager: "the store's key is gone",
            status: "the store's key is gone",
            doctor: "this daemon still works, but could not open the store after a restart",
            recovery: "the store's key is back"
        ),
        prepare: {
            $0.setVariable("CREDENTIALS_DIRECTORY", $0.credentials)
            try $0.stage.folder.write(String(repeating: "1", count: 64), to: "credentials/store-key")
        },
        breakDown: {
            try await $0.shell("mv '\($0.credentials)' '\($0.credentials).away'")
            try await $0.reload()
        },
        mend: {
            try await $0.shell("mv '\($0.credentials).away' '\($0.credentials)'")
            try await $0.reload()
        }
    )

    static let hungFileSystem = Surrounding(
        name: "file system of another account's ca_file hangs",
        needsRoot: true,
        obstacle: { unsafe access("/dev/fuse", R_OK | W_OK) == 0 ? nil : "there is no /dev/fuse here" },
        refresh: [0],
        told: Told(),
        prepare: { try await $0.mountHung() },
        breakDown: { try await $0.addHungAccount() },
        mend: { try await $0.removeHungAccount() }
    )

    static let hungExecutable = Surrounding(
        name: "file system of a caller's executable hangs",
        needsRoot: true,
        obstacle: { unsafe access("/dev/fuse", R_OK | W_OK) == 0 ? nil : "there is no /dev/fuse here" },
        refresh: [0],
        told: Told(),
        prepare: { try await $0.mountStalling() },
        breakDown: { try await $0.callFromHungExecutable() },
        mend: { try await $0.endHungCaller() }
    )

    static let journal = Surrounding(
        name: "journal gone",
        refresh: [0],
        told: Told(),
        prepare: { stage in
            // Standard error is the journal's stream, and nobody reads what is sent to its socket.
            let stream = "'\(stage.stage.folder.path)/stream'"
            stage.setPrefix("exec 2> \(stream); export JOURNAL_STREAM=$(stat -c %d:%i \(stream));")
        },
        breakDown: { _ in },
        mend: { _ in }
    )

    static let standardError = Surrounding(
        name: "standard error has no reader",
        refresh: [0],
        told: Told(),
        prepare: { stage in
            let pipe = "'\(stage.stage.folder.path)/pipe'"
            stage.setPrefix("mkfifo \(pipe); head -n 1 < \(pipe) > /dev/null & exec 2> \(pipe);")
        },
        breakDown: { _ in },
        mend: { _ in }
    )
}
