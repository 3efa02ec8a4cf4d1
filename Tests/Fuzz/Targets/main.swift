internal import CFuzzer
internal import Glibc

// authfuzz TARGET [libFuzzer's own arguments]. Without arguments, it prints the names of all targets.
//
// For some of its work, libFuzzer starts this program again with its own arguments only. So the target is also passed
// in the environment.
let variable = "AUTHREFRESH_FUZZ_TARGET"
var arguments = CommandLine.arguments
if arguments.count > 1, let target = FuzzTarget(rawValue: arguments[1]) {
    unsafe setenv(variable, target.rawValue, 1)
    arguments.remove(at: 1)
}
guard let name = unsafe getenv(variable), let target = unsafe FuzzTarget(rawValue: String(cString: name)) else {
    for target in FuzzTarget.allCases { print(target.rawValue) }
    exit(arguments.count > 1 ? 64 : 0)
}
FuzzTarget.chosen = target

var count = Int32(arguments.count)
var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
let status = unsafe pointers.withUnsafeMutableBufferPointer { list in
    var first = list.baseAddress
    return unsafe LLVMFuzzerRunDriver(&count, &first) { data, size in
        FuzzTarget.chosen.run(unsafe Array(UnsafeBufferPointer(start: data, count: size)))
        return 0
    }
}
exit(status)
