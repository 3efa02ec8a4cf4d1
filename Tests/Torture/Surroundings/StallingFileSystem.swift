internal import Glibc
internal import TestSupport

/// A FUSE file system with one file, `program`, which is Python. It serves requests until it is stalled, and then reads
/// none.
struct StallingFileSystem: Sendable {
    let folder: String
    private let server: Program

    var program: String { folder + "/program" }

    /// - Parameter folder: an empty folder.
    init(at folder: String) async throws {
        self.folder = folder
        let arguments = ["-c", Self.script, folder, "/usr/bin/python3"]
        server = try Program("/usr/bin/python3", arguments, environment: [:])
        try await server.output.first("the mount") { $0 == "mounted" }
    }

    /// Stalls the file system. Every access to the file waits from now on, but the kernel can still run the bytes that
    /// it has.
    func stall() async throws {
        server.signal(SIGUSR1)
        try await server.output.first("the stall") { $0 == "stalled" }
    }

    func end() async throws {
        abandon()
        try await server.ended()
    }

    /// Ends it without waiting.
    func abandon() {
        if server.isRunning { server.signal(SIGKILL) }
        _ = unsafe umount2(folder, Int32(MNT_DETACH))
    }

    /// The protocol of linux/fuse.h, version 7.19. Names and attributes are not cached, so that each access asks again.
    private static let script = """
        import ctypes, os, signal, struct, sys
        content = open(os.path.realpath(sys.argv[2]), "rb").read()
        device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"stalling", sys.argv[1].encode(), b"fuse", 0, options) != 0:
            sys.exit(os.strerror(ctypes.get_errno()))

        def stall(number, frame):
            print("stalled", flush=True)
            while True:
                signal.pause()

        def attributes(node):
            mode, size = (0o40755, 0) if node == 1 else (0o100755, len(content))
            return struct.pack("<6Q10I", node, size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

        def answer(operation, node, body):
            if operation == 26:  # INIT
                return struct.pack("<4I2HI", 7, 19, 65536, 0, 0, 0, 65536)
            if operation == 1:  # LOOKUP
                if body != b"program\\0":
                    return 2
                return struct.pack("<4Q2I", 2, 0, 0, 0, 0, 0) + attributes(2)
            if operation == 3:  # GETATTR
                return struct.pack("<Q2I", 0, 0, 0) + attributes(node)
            if operation in (14, 27):  # OPEN, OPENDIR, with FOPEN_KEEP_CACHE
                return struct.pack("<Q2I", 0, 2, 0)
            if operation == 15:  # READ
                _, offset, size = struct.unpack_from("<2QI", body)
                return content[offset:offset + size]
            if operation in (18, 25, 29, 34):  # RELEASE, FLUSH, RELEASEDIR, ACCESS
                return b""
            return 38

        signal.signal(signal.SIGUSR1, stall)
        print("mounted", flush=True)
        while True:
            request = os.read(device, 135168)
            _, operation, unique, node = struct.unpack_from("<2I2Q", request)
            if operation in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET
                continue
            given = answer(operation, node, request[40:])
            error, body = (-given, b"") if isinstance(given, int) else (0, given)
            os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
        """
}
