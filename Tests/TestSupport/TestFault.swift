/// Why a test could not be set up, or waited in vain.
package enum TestFault: Error {
    case system(String, errno: Int32)
    /// What was waited for did not come within the limit.
    case timedOut(waitingFor: String)
    /// What is waited for cannot come any more.
    case ended(waitingFor: String)
    /// A program that should have ended well did not.
    case failed(program: String, errors: String)
    /// The daemon answered a call with an error.
    case refused(name: String, parameters: String)
    /// The daemon answered something that the test cannot read.
    case unreadable(String)
}
