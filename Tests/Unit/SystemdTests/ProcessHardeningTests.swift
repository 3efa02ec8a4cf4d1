import CProcess
import Glibc
import Systemd
import Testing

@Suite struct ProcessHardeningTests {
    @Test func `a hardened process is not dumpable, writes no core, and a core would hold no memory`() async {
        // In a child, because the privileges that are given up here do not come back.
        await #expect(processExitsWith: .success) {
            #expect(authrefresh_get_dumpable() != 0)
            // Opened now, because afterwards the file belongs to root.
            let filter = unsafe open("/proc/self/coredump_filter", O_RDONLY)
            try OwnProcess.hideMemory()
            #expect(authrefresh_get_dumpable() == 0)
            var bytes = [UInt8](repeating: 0, count: 16)
            let count = unsafe read(filter, &bytes, bytes.count)
            #expect(String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self) == "00000000\n")
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }
}
