/// Why a test could not be set up.
enum TestFault: Error {
    case system(String, errno: Int32)
    case timedOut(String)
    case command(String, status: Int32)
}
