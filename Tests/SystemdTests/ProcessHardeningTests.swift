import CSystemd
import Glibc
import Systemd
import Testing

@Suite struct ProcessHardeningTests {
    @Test func `a hardened process is not dumpable and writes no core`() async {
        // In a child: what is given up here does not come back.
        await #expect(processExitsWith: .success) {
            #expect(authrefresh_get_dumpable() != 0)
            try ProcessHardening.apply()
            #expect(authrefresh_get_dumpable() == 0)
            var limit = rlimit()
            #expect(unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
        }
    }
}
