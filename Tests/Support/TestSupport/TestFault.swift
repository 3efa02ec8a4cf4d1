/// Why a test could not be set up, or waited in vain.
package enum TestFault: Error {
    case system(String, errno: Int32)
    /// The awaited event did not come within the limit.
    case timedOut(waitingFor: String)
    /// The awaited event cannot come any more.
    case ended(waitingFor: String)
    /// A program that should have succeeded failed.
    case failed(program: String, errors: String)
    /// The daemon answered a call with an error.
    case refused(name: String, parameters: String)
    /// The test cannot read the daemon's answer.
    case unreadable(String)
}
