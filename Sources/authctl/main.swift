internal import Basics
internal import Glibc

fillStandardDescriptors()
// If the daemon goes away, there must be an error message and not a silent end. StandardOutput gives a closed pipe its
// usual end.
_ = signal(SIGPIPE, SIG_IGN)
// A file that may not grow any more is an error like a full disk.
_ = signal(SIGXFSZ, SIG_IGN)
if let command = ProgramArguments.toolCommand { exit(Authctl.run([command] + ProgramArguments.all).rawValue) }
exit(Authctl.run(ProgramArguments.all).rawValue)
